//! Credentials of a form of their own, each recognised around its anchor.

use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use serde_json::{Map, Value};

use crate::finish::scrub::chars::{follows_escape, is_base64, is_token68, is_url_safe, run, starts_word};

/// A longer JWT header is not decoded but believed.
const MAX_JWT_HEADER: usize = 8 << 10;

/// How schemes of `Authorization` go on that are written `Bearer` or `bearer`.
pub(super) const EARER: &str = "earer ";
pub(super) const ASIC: &str = "asic ";

/// A shorter word behind `Bearer` may be any.
const MIN_BEARER: usize = 20;

/// `eyJ`, the beginning of a JWT: base64url of `{"`. The header has to decode to one.
pub(super) fn jwt(text: &[u8], start: usize) -> Option<Range<usize>> {
    // Only the first `eyJ` of a run is looked at: else a text of nothing else would take quadratic time.
    let inside_run = text[..start].last().is_some_and(|byte| is_url_safe(*byte));
    if inside_run && !follows_escape(text, start) {
        return None;
    }
    let header = run(text, start, is_url_safe);
    if !is_jwt_header(&text[start..header]) {
        return None;
    }
    let mut end = header;
    // Two more parts when signed, four more when encrypted.
    for _ in 0..4 {
        if text.get(end) != Some(&b'.') {
            break;
        }
        end = run(text, end + 1, is_url_safe);
    }
    (end > header + 1).then_some(start..end)
}

pub(super) fn is_jwt(byte: u8) -> bool {
    is_url_safe(byte) || byte == b'.'
}

fn is_jwt_header(part: &[u8]) -> bool {
    let decoded = || URL_SAFE_NO_PAD.decode(part).ok();
    part.len() > MAX_JWT_HEADER
        || decoded()
            .and_then(|bytes| serde_json::from_slice::<Map<String, Value>>(&bytes).ok())
            .is_some_and(|header| header.contains_key("alg"))
}

/// `SG.`, the beginning of a SendGrid key: two parts follow.
pub(super) fn sendgrid(text: &[u8], start: usize) -> Option<Range<usize>> {
    let first = start + "SG.".len();
    let dot = run(text, first, is_url_safe);
    let fits = starts_word(text, start) && dot - first >= 16;
    let end = text[dot..].starts_with(b".").then(|| run(text, dot + 1, is_url_safe))?;
    (fits && end - dot > 16).then_some(start..end)
}

/// `:AA`, the middle of a Telegram bot token: the bot's number stands before it.
pub(super) fn telegram(text: &[u8], colon: usize) -> Option<Range<usize>> {
    let digits = text[..colon].iter().rev().take(11).take_while(|byte| byte.is_ascii_digit()).count();
    let start = colon - digits;
    let end = run(text, colon + 1, is_url_safe);
    let fits = (8..=10).contains(&digits) && end - colon > 33;
    // In a URL of the Bot API the number follows the word `bot`.
    (fits && (starts_word(text, start) || text[..start].ends_with(b"bot"))).then_some(start..end)
}

/// `earer `, of a bearer token (RFC 6750). A word has no digit.
pub(super) fn bearer(text: &[u8], start: usize) -> Option<Range<usize>> {
    let token = behind_scheme(text, start, EARER)?;
    (token.len() >= MIN_BEARER && text[token.clone()].iter().any(u8::is_ascii_digit)).then_some(token)
}

/// `asic `, of a user and a password (RFC 7617), which have a colon between them. Without a password it is no credential:
/// so is what stands before the mark of one that was taken out.
pub(super) fn basic(text: &[u8], start: usize) -> Option<Range<usize>> {
    let pair = behind_scheme(text, start, ASIC)?;
    let padding = run(text, pair.start, |byte| is_base64(byte) && byte != b'=');
    let decoded = STANDARD_NO_PAD.decode(&text[pair.start..padding]).ok()?;
    let (_, password) = std::str::from_utf8(&decoded).ok()?.split_once(':')?;
    let readable = !decoded.iter().any(u8::is_ascii_control);
    (readable && !password.is_empty()).then_some(pair)
}

/// What stands behind the scheme of which `rest` begins at `start`.
fn behind_scheme(text: &[u8], start: usize, rest: &str) -> Option<Range<usize>> {
    let first = start.checked_sub(1)?;
    let credential = start + rest.len();
    let named = text[first].is_ascii_alphabetic() && starts_word(text, first);
    named.then(|| credential..run(text, credential, is_token68))
}
