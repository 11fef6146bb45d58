//! A JSON object of texts.
//!
//! The parser checks the whole text but hands out the values as they stand there; they are unescaped here, because its
//! own buffers are not wiped.

use std::fmt;

use serde::Deserializer as _;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;
use zeroize::Zeroizing;

use super::{BadLine, Found, LineFault};

pub(super) fn parse(text: &str) -> Vec<Result<Found, BadLine>> {
    let mut parser = serde_json::Deserializer::from_str(text);
    let entries = parser.deserialize_map(Entries).and_then(|entries| parser.end().map(|()| entries));
    match entries {
        Ok(entries) => entries.into_iter().map(|(name, value)| entry(text, name, value.get())).collect(),
        // The error's own text may repeat a value.
        Err(error) => vec![Err(BadLine { line: error.line().max(1), fault: LineFault::Json })],
    }
}

fn entry(text: &str, name: String, raw: &str) -> Result<Found, BadLine> {
    let line = line_of(text, raw);
    let inside = raw.strip_prefix('"').and_then(|raw| raw.strip_suffix('"'));
    let value = inside.ok_or(LineFault::NotString).and_then(unescaped).map_err(|fault| BadLine { line, fault })?;
    Ok((line, name, value))
}

/// The line, from 1, on which `part` begins. It is a part of `text`, whose lines before it are counted.
fn line_of(text: &str, part: &str) -> usize {
    let start = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    1 + text.bytes().take(start).filter(|byte| *byte == b'\n').count()
}

/// Resolves the escapes of RFC 8259, section 7. Half a surrogate pair is no text.
fn unescaped(raw: &str) -> Result<Zeroizing<String>, LineFault> {
    // Never longer than the escaped form, so it does not move while it grows.
    let mut value = Zeroizing::new(String::with_capacity(raw.len()));
    let mut rest = raw;
    while let Some((before, escape)) = rest.split_once('\\') {
        value.push_str(before);
        let mut chars = escape.chars();
        value.push(match chars.next().ok_or(LineFault::Json)? {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'u' => unicode(&mut chars).ok_or(LineFault::Json)?,
            c => c,
        });
        rest = chars.as_str();
    }
    value.push_str(rest);
    Ok(value)
}

/// The character behind `\u`: four hexadecimal digits, or two such numbers that are one character in UTF-16.
fn unicode(chars: &mut std::str::Chars<'_>) -> Option<char> {
    let high = unit(chars)?;
    let units = match char::from_u32(u32::from(high)) {
        Some(c) => return Some(c),
        None => [high, chars.next().zip(chars.next()).filter(|two| *two == ('\\', 'u')).and_then(|_| unit(chars))?],
    };
    char::decode_utf16(units).next()?.ok()
}

fn unit(chars: &mut std::str::Chars<'_>) -> Option<u16> {
    let (digits, rest) = chars.as_str().split_at_checked(4)?;
    *chars = rest.chars();
    u16::from_str_radix(digits, 16).ok()
}

/// The entries of an object, repeated ones included, with their values as they stand in the text.
struct Entries;

impl<'de> Visitor<'de> for Entries {
    type Value = Vec<(String, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of texts")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(entries)
    }
}
