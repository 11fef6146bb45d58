//! The allocator of a component.

use crate::arena::Arena;

/// 1 MiB: enough for ordinary calls, and untouched pages cost nothing.
#[global_allocator]
static ALLOCATOR: Arena<{ 1 << 20 }> = Arena::new();

/// Where the host puts what it hands over, on WASI.
///
/// Some of it is for the C library, as the environment is, which frees it by its own `free`: it has to come from the C
/// library's heap. The rest is for this program, whose allocator gives back there what does not lie in the arena. All other
/// definitions of this function are weak, Rust's and the C library's, and take from one of the two heaps as it happens.
#[cfg(target_os = "wasi")]
#[expect(unsafe_code, reason = "the host finds the function by its name and hands over raw memory")]
#[unsafe(no_mangle)]
unsafe extern "C" fn cabi_realloc(old: *mut u8, old_size: usize, align: usize, size: usize) -> *mut u8 {
    use std::alloc::{GlobalAlloc as _, Layout, System};

    if size == 0 {
        // Nobody reads or frees it: all that counts is that it is aligned.
        return std::ptr::without_provenance_mut(align);
    }
    // SAFETY: the canonical ABI has the host ask for powers of two, and for less than 4 GiB.
    let layout = unsafe { Layout::from_size_align_unchecked(if old_size == 0 { size } else { old_size }, align) };
    // SAFETY: no size is 0, and a block that is resized came from here.
    let block = unsafe { if old_size == 0 { System.alloc(layout) } else { System.realloc(old, layout, size) } };
    if block.is_null() {
        // The host has noted which limit it is; nothing can be said from here.
        std::arch::wasm32::unreachable();
    }
    block
}
