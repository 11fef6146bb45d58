//! What a secret may be, and how one is read without leaving copies of it behind.

use std::io::{self, Read};

use ringfence_core::Secret;
use thiserror::Error;
use zeroize::Zeroizing;

/// The longest value, in bytes.
pub const MAX_VALUE: usize = 64 << 10;

/// Why a value is refused. It never repeats the value.
#[derive(Debug, Error)]
pub enum ValueError {
    /// Nothing at all.
    #[error("the value is empty: type it at the prompt, or give it on standard input")]
    Empty,
    /// More than [`MAX_VALUE`].
    #[error("the value is too long: a secret has at most {MAX_VALUE} bytes")]
    TooLong,
    /// A NUL, which ends a text early in every program written in C.
    #[error("the value has a NUL byte: store it encoded, for example in base64")]
    Nul,
    /// Not UTF-8.
    #[error("the value is not text in UTF-8: store it encoded, for example in base64")]
    NotText,
    /// It cannot be read.
    #[error("the value cannot be read: {0}")]
    Io(#[from] io::Error),
}

impl ValueError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Empty => "secret.value.empty",
            Self::TooLong => "secret.value.too_long",
            Self::Nul => "secret.value.nul",
            Self::NotText => "secret.value.not_text",
            Self::Io(_) => "secret.value.io",
        }
    }
}

/// Reads one value to the end of `reader`. One line break at the end is not part of it: `echo` and editors add one.
///
/// # Errors
/// When the value is refused or cannot be read.
pub fn read_value(reader: impl Read) -> Result<Secret, ValueError> {
    // Two bytes more for the line break.
    let bytes = read_bounded(reader, MAX_VALUE + 2)?.ok_or(ValueError::TooLong)?;
    let text = std::str::from_utf8(&bytes).map_err(|_| ValueError::NotText)?;
    let line = text.strip_suffix('\n').map_or(text, |line| line.strip_suffix('\r').unwrap_or(line));
    check_value(line)?;
    Ok(Secret::new(line.to_owned()))
}

/// Checks length and content of a value.
///
/// # Errors
/// When it is refused.
pub(crate) fn check_value(value: &str) -> Result<(), ValueError> {
    match value.len() {
        0 => Err(ValueError::Empty),
        1..=MAX_VALUE if value.contains('\0') => Err(ValueError::Nul),
        1..=MAX_VALUE => Ok(()),
        _ => Err(ValueError::TooLong),
    }
}

/// Reads to the end, `None` when that is more than `limit` bytes. The buffer has its full size from the start: one
/// that grows leaves its earlier copies in freed memory.
pub(crate) fn read_bounded(mut reader: impl Read, limit: usize) -> io::Result<Option<Zeroizing<Vec<u8>>>> {
    let mut buffer = Zeroizing::new(vec![0; limit + 1]);
    let mut filled = 0;
    while filled < buffer.len() {
        match reader.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    buffer.truncate(filled);
    Ok((filled <= limit).then_some(buffer))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_line_break_at_the_end_is_not_part_of_the_value() {
        for (text, value) in
            [("x", "x"), ("x\n", "x"), ("x\r\n", "x"), ("x\n\n", "x\n"), ("\n x ", "\n x "), ("x\r", "x\r")]
        {
            assert_eq!(read_value(text.as_bytes()).unwrap().expose(), value);
        }
    }

    #[test]
    fn both_sides_of_each_bound() {
        let read = |value: &[u8]| read_value(value);
        assert_eq!(read(&[b'x'; MAX_VALUE]).unwrap().expose().len(), MAX_VALUE);
        assert_eq!(read(&[&[b'x'; MAX_VALUE][..], b"\r\n"].concat()).unwrap().expose().len(), MAX_VALUE);
        for more in [1, 2, 3, MAX_VALUE] {
            assert!(matches!(read(&vec![b'x'; MAX_VALUE + more]), Err(ValueError::TooLong)), "{more}");
        }
        for empty in ["", "\n", "\r\n"] {
            assert!(matches!(read(empty.as_bytes()), Err(ValueError::Empty)));
        }
        assert!(matches!(read(b"a\0b"), Err(ValueError::Nul)));
        assert!(matches!(read(b"a\xffb"), Err(ValueError::NotText)));
    }

    proptest! {
        #[test]
        fn a_reader_in_pieces_gives_the_same(bytes in proptest::collection::vec(any::<u8>(), 0..40), cut in 0usize..40) {
            let (head, tail) = bytes.split_at(cut.min(bytes.len()));
            let whole = read_bounded(&bytes[..], 30).unwrap();
            let pieces = read_bounded(head.chain(tail), 30).unwrap();
            prop_assert_eq!(whole.is_some(), bytes.len() <= 30);
            prop_assert_eq!(whole.as_deref(), pieces.as_deref());
        }
    }
}
