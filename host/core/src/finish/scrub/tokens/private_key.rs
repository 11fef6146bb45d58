//! Private keys in PEM (RFC 7468) and PGP's armour.

use std::ops::Range;

use crate::finish::scrub::chars::{is_base64, run};

/// A private key has at least this many bytes between its dashes; a mention of the dashes has fewer.
const MIN_PRIVATE_KEY: usize = 40;

/// The longest line that a private key begins with.
const MAX_KEY_LINE: usize = 80;

/// What a private key begins with, among others.
pub(super) const BEGIN: &str = "-----BEGIN ";
const DASHES: &str = "-----";

/// `-----BEGIN `: a private key block up to its end, or what is left of one that was cut off.
pub(super) fn private_key(text: &[u8], start: usize) -> Option<Range<usize>> {
    let line = &text[start + BEGIN.len()..text.len().min(start + MAX_KEY_LINE)];
    let label = &line[..dashes(line)?];
    let body = start + BEGIN.len() + label.len() + DASHES.len();
    if !is_key_label(label) {
        return None;
    }
    let footer = [b"-----END ", label, DASHES.as_bytes()].concat();
    let end = match dashes(&text[body..]) {
        Some(length) if text[body + length..].starts_with(&footer) => body + length,
        _ => run(text, body, is_key_body),
    };
    let whole = end + if text[end..].starts_with(&footer) { footer.len() } else { 0 };
    (end - body >= MIN_PRIVATE_KEY).then_some(start..whole)
}

/// Whether the end of the private key that begins at `start` is not there yet.
pub(super) fn is_open_key(text: &[u8], start: usize) -> bool {
    let rest = &text[start + BEGIN.len()..];
    let Some(length) = dashes(rest) else { return rest.len() < MAX_KEY_LINE };
    let (label, body) = (&rest[..length], &rest[length + DASHES.len()..]);
    let footer = "-----END -----".len() + label.len();
    is_key_label(label) && dashes(body).is_none_or(|end| body.len() < end + footer)
}

pub(super) fn is_key_body(byte: u8) -> bool {
    is_base64(byte) || byte.is_ascii_whitespace() || byte == b'\\'
}

fn is_key_label(label: &[u8]) -> bool {
    label.ends_with(b"PRIVATE KEY") || label.ends_with(b"PRIVATE KEY BLOCK")
}

/// Where the first dashes are.
fn dashes(text: &[u8]) -> Option<usize> {
    text.windows(DASHES.len()).position(|part| part == DASHES.as_bytes())
}
