//! Standard output and error, which are the log.
//!
//! `println!` and its like end in the C library's `write` and `writev`. Defined here, they keep the C library's own out of
//! the component, and with them its table of files, its streams and its terminals: eleven interfaces that every instance
//! would have to be linked with, for nothing.

use std::ffi::{c_int, c_void};

use crate::bindings::ringfence::tool::log::{Level, log};

/// What the C library calls `struct iovec` (POSIX, `<sys/uio.h>`).
#[repr(C)]
struct Piece {
    start: *const c_void,
    length: usize,
}

#[expect(unsafe_code, reason = "the linker finds the function by its name")]
#[unsafe(no_mangle)]
extern "C" fn write(file: c_int, start: *const c_void, length: usize) -> isize {
    record(file, &[Piece { start, length }])
}

#[expect(unsafe_code, reason = "the linker finds the function by its name")]
#[unsafe(no_mangle)]
extern "C" fn writev(file: c_int, pieces: *const Piece, count: c_int) -> isize {
    let Ok(count @ 1..) = usize::try_from(count) else { return 0 };
    #[expect(unsafe_code, reason = "C's way to hand over an array")]
    // SAFETY: POSIX has the caller hand over an array of `count` pieces.
    record(file, unsafe { std::slice::from_raw_parts(pieces, count) })
}

/// Writes the pieces as one record and says that all of them were written.
fn record(file: c_int, pieces: &[Piece]) -> isize {
    let mut text = Vec::new();
    for piece in pieces.iter().filter(|piece| piece.length > 0) {
        #[expect(unsafe_code, reason = "C's way to hand over bytes")]
        // SAFETY: POSIX has the caller hand over `length` bytes at `start`.
        text.extend_from_slice(unsafe { std::slice::from_raw_parts(piece.start.cast::<u8>(), piece.length) });
    }
    let level = if file == 2 { Level::Error } else { Level::Info };
    let shown = String::from_utf8_lossy(&text);
    if !shown.trim().is_empty() {
        log(level, shown.trim_end());
    }
    // A slice has at most `isize::MAX` bytes.
    isize::try_from(text.len()).unwrap_or(isize::MAX)
}
