//! Values that a name announces: `key=value`, `"key": "value"`, `--key value`, header lines.
//!
//! The name alone does not make a secret: source code is full of `token=token`. So the value is looked at as well, and
//! what reads like code, like a word or like a count stays.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use regex::Regex;

use super::chars::run;
use super::keys::credential;
use super::spans::{Label, Span};

/// Parts of the words in [`keys`](super::keys). Without its first letter one spelling covers two.
const KEYWORDS: [&str; 18] = [
    "pass", "Pass", "PASS", "ecret", "ECRET", "redent", "REDENT", "uthoriz", "UTHORIZ", "earer", "EARER", "ookie",
    "OOKIE", "oken", "OKEN", "key", "Key", "KEY",
];

/// Names are cut to this many bytes on either side of the keyword, which bounds the work for a text of nothing else.
const MAX_NAME: usize = 48;

/// A value without quotes is judged by this many bytes of its beginning.
const MAX_JUDGED: usize = 256;

/// A quoted value that is not closed after this many bytes ends there.
const MAX_QUOTED: usize = 4096;

/// A shorter value of a password is a word or a number.
const MIN_PASSWORD: usize = 6;

/// In a value, a word at least this long that mixes letters and digits was made by a machine.
const MIN_MIXED: usize = 8;

/// Base64 of 24 random bytes.
const MIN_BASE64: usize = 32;

static AUTOMATON: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(KEYWORDS).expect("few and short keywords")
});
static SEPARATOR: LazyLock<Regex> = LazyLock::new(|| pattern(r#"^(?:\\*["'`])?\]?[ \t]{0,8}(?::=|=>|[:=])[ \t]{0,8}"#));
static BLANK: LazyLock<Regex> = LazyLock::new(|| pattern(r"^[ \t]{1,8}"));
static IS: LazyLock<Regex> = LazyLock::new(|| pattern(r"^ {1,8}is:? {1,8}"));
static QUOTE: LazyLock<Regex> = LazyLock::new(|| pattern(r#"^\\*["'`]"#));
static SCHEME: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(?i:bearer|basic|token|apikey)[ \t]{1,8}"));
static COOKIE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^[A-Za-z0-9_.-]{1,128}=[^= \t\r\n]"));
/// What is filled in later, a path, an option, a pointer or a row of asterisks, a call, an index, a URL.
static CODE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^(?:[\[<(/~*]|\.{1,2}/|--|%[s(]|\$[^0-9]|[A-Za-z_$](?:[A-Za-z0-9_$.:?!]|->)*[(\[])|\{|://")
});

fn pattern(regex: &str) -> Regex {
    Regex::new(regex).expect("a constant pattern")
}

/// Adds the values of all credentials that `text` assigns to a name.
pub(super) fn find(text: &str, spans: &mut Vec<Span<'_>>) {
    let mut covered = 0;
    for keyword in AUTOMATON.find_iter(text) {
        if keyword.start() < covered {
            continue;
        }
        if let Some((range, kind)) = assigned(text, keyword.range()) {
            covered = range.end;
            spans.push(Span { range, label: Label::Kind(kind) });
        }
    }
}

/// Whether `text` has a word in it that could announce a credential.
pub(super) fn may_be_in(text: &str) -> bool {
    AUTOMATON.is_match(text)
}

/// The value that the name around `keyword` announces.
fn assigned(text: &str, keyword: Range<usize>) -> Option<(Range<usize>, &'static str)> {
    let name = name_around(text, keyword);
    let kind = credential(&text[name.clone()])?;
    let at = value_start(text, name)?;
    let quote = QUOTE.find(&text[at..]).map_or("", |quote| quote.as_str());
    let at = at + quote.len();
    if kind == "cookie" && COOKIE.is_match(&text[at..]) {
        return Some((at..header_end(text, at), kind));
    }
    let scheme = SCHEME.find(&text[at..]).map_or("", |scheme| scheme.as_str());
    let value = value_at(text, at + scheme.len(), quote);
    is_secret(&text[value.clone()], kind, scheme, !quote.is_empty()).then(|| (whole(text, value, quote), kind))
}

fn name_around(text: &str, keyword: Range<usize>) -> Range<usize> {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-".contains(byte);
    let bytes = text.as_bytes();
    let before = |at: usize| at - bytes[..at].iter().rev().take(MAX_NAME).take_while(|byte| is_name(byte)).count();
    let end = keyword.end + bytes[keyword.end..].iter().take(MAX_NAME).take_while(|byte| is_name(byte)).count();
    let start = before(keyword.start);
    // "API key" is a name of two words.
    match &bytes[..start] {
        [.., b' '] if text[start..end].eq_ignore_ascii_case("key") => before(start - 1)..end,
        _ => start..end,
    }
}

/// Where the value after `name` begins: behind a separator, or behind blanks where those separate.
fn value_start(text: &str, name: Range<usize>) -> Option<usize> {
    let rest = &text[name.end..];
    if let Some(separator) = SEPARATOR.find(rest) {
        // Comparisons and paths assign nothing.
        let start = name.end + separator.end();
        return (!text[start..].starts_with(['=', '~', ':', '>'])).then_some(start);
    }
    let name_text = &text[name.clone()];
    let blank = if name_text.starts_with('-') || name_text.eq_ignore_ascii_case("bearer") { &BLANK } else { &IS };
    blank.find(rest).map(|blank| name.end + blank.end())
}

/// The value at `start`: up to its closing quote, or as far as it runs without quotes.
fn value_at(text: &str, start: usize, quote: &str) -> Range<usize> {
    if quote.is_empty() {
        let end = text.floor_char_boundary(start + MAX_JUDGED);
        return start..run(&text[..end], start, is_bare);
    }
    let end = text.floor_char_boundary(start + MAX_QUOTED);
    start..closing(&text[..end], start, quote)
}

/// The value beyond what it was judged by.
fn whole(text: &str, value: Range<usize>, quote: &str) -> Range<usize> {
    let end = if quote.is_empty() { run(text, value.start, is_bare) } else { value.end };
    value.start..end
}

/// Where the string that `quote` opens ends: at its line's end if nothing closes it. Inside a string that is itself
/// part of one, quotes have backslashes; those with more of them than the opening one belong to the value.
fn closing(text: &str, start: usize, quote: &str) -> usize {
    let bytes = text.as_bytes();
    let (mark, depth) = (quote.as_bytes()[quote.len() - 1], quote.len() - 1);
    for at in start..bytes.len() {
        if bytes[at] == b'\n' {
            return at;
        }
        if bytes[at] == mark {
            let escapes = bytes[start..at].iter().rev().take_while(|byte| **byte == b'\\').count();
            if escapes <= depth || (depth == 0 && escapes % 2 == 0) {
                return at - escapes.min(depth);
            }
        }
    }
    text.len()
}

fn header_end(text: &str, start: usize) -> usize {
    run(text, start, |byte| !matches!(byte, b'\r' | b'\n' | b'"' | b'\'' | b'`' | b'\\'))
}

fn is_bare(byte: u8) -> bool {
    let ends =
        matches!(byte, b'"' | b'\'' | b'`' | b',' | b';' | b'&' | b'<' | b'>' | b'|' | b')' | b']' | b'}' | b'\\');
    !ends && !byte.is_ascii_whitespace()
}

fn is_secret(value: &str, kind: &str, scheme: &str, quoted: bool) -> bool {
    if scheme.trim_end().eq_ignore_ascii_case("basic") {
        return is_user_and_password(value);
    }
    let word = value.trim_end_matches(['!', '?', '.', ':']);
    let is_typed = kind == "password" && (quoted || !is_path(word)) && is_password(word);
    let is_made = || is_base64(word) || word.split(|c: char| !c.is_ascii_alphanumeric()).any(is_mixed);
    (is_typed || is_made()) && !value.contains(char::is_whitespace) && !CODE.is_match(value)
}

fn is_user_and_password(value: &str) -> bool {
    STANDARD_NO_PAD.decode(value.trim_end_matches('=')).is_ok_and(|bytes| bytes.contains(&b':'))
}

/// Whether `value` can be an identifier or a path of several parts.
fn is_path(value: &str) -> bool {
    let joins = |byte: u8| b"_.:/>".contains(&byte);
    value.bytes().any(joins) && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || joins(byte) || byte == b'-')
}

fn is_password(value: &str) -> bool {
    let symbol = |byte: u8| byte.is_ascii_digit() || b"!@#$%^*+=?~".contains(&byte);
    value.len() >= MIN_PASSWORD && value.bytes().any(symbol) && value.bytes().any(|byte| byte.is_ascii_alphanumeric())
}

/// Whether `value` can be base64 of random bytes, whose words alone may hold too few digits.
fn is_base64(value: &str) -> bool {
    let joins = |byte: u8| matches!(byte, b'+' | b'/');
    let made_of = |byte: u8| byte.is_ascii_alphanumeric() || joins(byte) || byte == b'=';
    let has = |class: fn(&u8) -> bool| value.as_bytes().iter().any(class);
    value.len() >= MIN_BASE64
        && value.bytes().any(joins)
        && value.bytes().all(made_of)
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_lowercase)
}

fn is_mixed(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    word.len() >= MIN_MIXED && digits >= 2 && digits < word.len()
}
