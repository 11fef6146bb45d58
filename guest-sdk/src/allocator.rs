//! The allocator of a component.

use crate::arena::Arena;

/// 1 MiB: enough for ordinary calls, and untouched pages cost nothing.
#[global_allocator]
static ALLOCATOR: Arena<{ 1 << 20 }> = Arena::new();
