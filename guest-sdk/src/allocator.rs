//! The allocator of a component.

use crate::arena::Arena;

/// 1 MiB: enough for ordinary calls, and untouched pages cost nothing.
#[global_allocator]
static ALLOCATOR: Arena<{ 1 << 20 }> = Arena::new();

/// Where the host puts what it hands over, on WASI: there are two heaps, and who frees it decides from which of them it has
/// to come.
///
/// All other definitions of `cabi_realloc` are weak, Rust's and the C library's, and take from one heap or the other as it
/// happens. The names are those that wit-component looks for.
#[cfg(target_os = "wasi")]
#[expect(unsafe_code, reason = "the host finds the functions by their names and hands over raw memory")]
mod handed_over {
    use std::alloc::{GlobalAlloc, Layout, System};

    /// For the parameters of a call. They are this program's.
    #[unsafe(no_mangle)]
    unsafe extern "C" fn cabi_export_realloc(old: *mut u8, old_size: usize, align: usize, size: usize) -> *mut u8 {
        // SAFETY: the caller's promises are the same.
        unsafe { resize(&super::ALLOCATOR, old, old_size, align, size) }
    }

    /// For what the host's functions give back. Some of it is for the C library, as the environment is, which frees it by
    /// its own `free`. The rest is this program's, whose allocator gives back there what does not lie in the arena.
    #[unsafe(no_mangle)]
    unsafe extern "C" fn cabi_realloc(old: *mut u8, old_size: usize, align: usize, size: usize) -> *mut u8 {
        // SAFETY: the caller's promises are the same.
        unsafe { resize(&System, old, old_size, align, size) }
    }

    /// What the canonical ABI wants of a `realloc`.
    ///
    /// # Safety
    /// A block that is resized came from `heap`, with this size and alignment.
    unsafe fn resize(heap: &impl GlobalAlloc, old: *mut u8, old_size: usize, align: usize, size: usize) -> *mut u8 {
        if size == 0 {
            // Nobody reads or frees it: all that counts is that it is aligned.
            return std::ptr::without_provenance_mut(align);
        }
        let new = old_size == 0;
        let block = match Layout::from_size_align(if new { size } else { old_size }, align) {
            // SAFETY: the size is not 0.
            Ok(layout) if new => unsafe { heap.alloc(layout) },
            // SAFETY: neither size is 0, and the rest is the caller's promise.
            Ok(layout) => unsafe { heap.realloc(old, layout, size) },
            Err(_) => std::ptr::null_mut(),
        };
        if block.is_null() {
            // The host knows which limit it was, and no function of it may be called from here.
            std::arch::wasm32::unreachable();
        }
        block
    }
}
