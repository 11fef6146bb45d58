//! Which characters credentials are made of, how far a run of them goes, and where a word begins.

/// Where the run of `body` that begins at `start` ends.
pub(super) fn run(text: impl AsRef<[u8]>, start: usize, body: impl Fn(u8) -> bool) -> usize {
    let rest = &text.as_ref()[start..];
    start + rest.iter().position(|byte| !body(*byte)).unwrap_or(rest.len())
}

/// Whether a word begins at `at`.
pub(super) fn starts_word(text: &[u8], at: usize) -> bool {
    let before = text[..at].last();
    !before.is_some_and(|byte| is_alnum(*byte)) || follows_escape(text, at)
}

/// Whether what stands before `at` is no letter but an escape: `\n`, `%3D`.
pub(super) fn follows_escape(text: &[u8], at: usize) -> bool {
    match &text[..at] {
        [.., b'%', high, low] => high.is_ascii_hexdigit() && low.is_ascii_hexdigit(),
        [.., b'\\', letter] => b"nrt".contains(letter),
        _ => false,
    }
}

/// Whether `byte` is in no credential but a private key.
pub(super) fn breaks(byte: u8) -> bool {
    byte.is_ascii_whitespace() || b"\"'`<>\\".contains(&byte)
}

pub(super) fn is_alnum(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

pub(super) fn is_word(byte: u8) -> bool {
    is_alnum(byte) || byte == b'_'
}

pub(super) fn is_url_safe(byte: u8) -> bool {
    is_word(byte) || byte == b'-'
}

pub(super) fn is_base64(byte: u8) -> bool {
    is_alnum(byte) || b"+/=".contains(&byte)
}

/// As RFC 9110, 11.2, has it.
pub(super) fn is_token68(byte: u8) -> bool {
    is_base64(byte) || b"-._~".contains(&byte)
}

pub(super) fn is_upper(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

pub(super) fn is_lower_hex(byte: u8) -> bool {
    byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte)
}
