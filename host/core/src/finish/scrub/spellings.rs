//! The spellings in which a value tends to come back.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use super::MIN_SECRET;
use crate::secret::Secret;

/// The spellings in which `secret` tends to come back, and those of its value without the white space around it.
///
/// They are the value itself, percent-encoded, in base64 and hexadecimal, and as JSON strings hold it. An encoding of
/// an encoding is none of them, except base64 in JSON. Of a value shorter than [`MIN_SECRET`] there are none.
pub fn spellings(secret: &Secret) -> BTreeSet<String> {
    let value = secret.expose();
    [value, value.trim()].into_iter().filter(|value| value.len() >= MIN_SECRET).flat_map(spellings_of).collect()
}

fn spellings_of(value: &str) -> BTreeSet<String> {
    let mut forms = BTreeSet::from([value.to_owned()]);
    forms.extend(percent(value));
    // Whatever follows, most of them are the same.
    let in_base64: BTreeSet<String> = base64(value.as_bytes()).collect();
    forms.extend(in_base64.iter().flat_map(|form| json(form)));
    forms.extend(hex(value.as_bytes()));
    forms.extend(json(value));
    forms.extend([false, true].map(|upper| {
        let mut spelt = String::new();
        value.chars().for_each(|c| unicode_escape(c, upper, &mut spelt));
        spelt
    }));
    forms
}

/// The characters that stay as they are beside letters and digits, encoder by encoder. With a space among them, a space
/// becomes a `+`.
const UNESCAPED: [&str; 10] = [
    "-_.~",                         // RFC 3986
    "-_.~/",                        // Python's quote
    "-_.~ ",                        // Python's quote_plus, Go's QueryEscape
    "-_. ",                         // PHP's urlencode
    "-_.* ",                        // HTML forms, Java's URLEncoder
    "-_.!~*'()",                    // JavaScript's encodeURIComponent
    "-_.!~*'();,/?:@&=+$#",         // JavaScript's encodeURI
    "-_.~$&+=:@",                   // Go's PathEscape
    "-_.~!$&'()*+,;=:@/|[]\\^%",    // the path of a URL, as the WHATWG writes it
    "-_.~!$&()*+,;=:@/?|[]\\^`{}%", // its query
];

/// Percent-encoding, from what escapes little to what escapes every character.
fn percent(value: &str) -> impl Iterator<Item = String> {
    let usual = UNESCAPED.into_iter().map(Some);
    usual.chain([None]).flat_map(move |stays| [true, false].map(|upper| percent_with(value, stays, upper)))
}

fn percent_with(value: &str, stays: Option<&str>, upper: bool) -> String {
    let stays = |c: char| stays.is_some_and(|stays| c.is_ascii_alphanumeric() || stays.contains(c));
    let mut spelt = String::with_capacity(value.len());
    for byte in value.bytes() {
        match char::from(byte) {
            ' ' if stays(' ') => spelt.push('+'),
            c if stays(c) => spelt.push(c),
            _ => spelt.extend(['%', digit(byte >> 4, upper), digit(byte, upper)]),
        }
    }
    spelt
}

/// The hexadecimal digit of the lower half of `byte`.
fn digit(byte: u8, upper: bool) -> char {
    let digits = if upper { b"0123456789ABCDEF" } else { b"0123456789abcdef" };
    char::from(digits[usize::from(byte & 15)])
}

/// The characters that are the same whatever stands before the value, for each of the three ways in which it can lie
/// in groups of three bytes: those that are the same whatever follows, and those when nothing follows.
fn base64(value: &[u8]) -> impl Iterator<Item = String> {
    (0..3).flat_map(move |before| {
        let bytes = [&[0; 2][..before], value].concat();
        let first = (before * 8).div_ceil(6);
        let end = bytes.len() * 8 / 6;
        [STANDARD_NO_PAD, URL_SAFE_NO_PAD].into_iter().flat_map(move |engine| {
            let encoded = engine.encode(&bytes);
            [encoded[first..end].to_owned(), encoded[first..].to_owned()]
        })
    })
}

fn hex(value: &[u8]) -> [String; 2] {
    let digits = |upper| move |byte: &u8| [digit(byte >> 4, upper), digit(*byte, upper)];
    [true, false].map(|upper| value.iter().flat_map(digits(upper)).collect())
}

/// How a JSON writer spells the inside of a string.
struct JsonWriter {
    /// ASCII characters that it writes as `\u00XX`.
    unicode: &'static str,
    /// Whether it does so with all others too.
    ascii_only: bool,
    /// Whether `/` gets a backslash.
    slash: bool,
    /// Whether its hexadecimal digits are capitals.
    upper: bool,
}

const JSON_WRITERS: [JsonWriter; 8] = [
    json_writer("", false, false, false),       // Rust, JavaScript
    json_writer("", false, true, false),        // PHP with JSON_UNESCAPED_UNICODE
    json_writer("", true, false, false),        // Python
    json_writer("", true, true, false),         // PHP
    json_writer("", true, false, true),         // Jackson, ASCII only
    json_writer("<>&", false, false, false),    // Go, Rails
    json_writer("<>&='", false, false, false),  // Gson
    json_writer("<>&'+`\"", true, false, true), // .NET
];

const fn json_writer(unicode: &'static str, ascii_only: bool, slash: bool, upper: bool) -> JsonWriter {
    JsonWriter { unicode, ascii_only, slash, upper }
}

/// The inside of a JSON string as the usual writers spell it.
fn json(value: &str) -> [String; 8] {
    JSON_WRITERS.each_ref().map(|writer| {
        let mut spelt = String::with_capacity(value.len());
        value.chars().for_each(|c| writer.spell(c, &mut spelt));
        spelt
    })
}

impl JsonWriter {
    fn spell(&self, c: char, spelt: &mut String) {
        let unicode = self.unicode.contains(c) || (self.ascii_only && !c.is_ascii());
        match c {
            _ if unicode => unicode_escape(c, self.upper, spelt),
            '/' if self.slash => spelt.push_str("\\/"),
            // As nearly all are, and the way below is a long one.
            ' '..='~' if c != '"' && c != '\\' => spelt.push(c),
            _ => {
                let quoted = serde_json::Value::from(c.to_string()).to_string();
                spelt.push_str(&quoted[1..quoted.len() - 1]);
            }
        }
    }
}

fn unicode_escape(c: char, upper: bool, spelt: &mut String) {
    for unit in c.encode_utf16(&mut [0; 2]) {
        spelt.push_str("\\u");
        spelt.extend(unit.to_be_bytes().iter().flat_map(|byte| [digit(byte >> 4, upper), digit(*byte, upper)]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(value: &str, spelling: &str) {
        let spellings = spellings(&Secret::new(value.into()));
        assert!(spellings.contains(spelling), "{spelling} is not in {spellings:?}");
    }

    #[test]
    fn encoders_differ_in_what_they_leave() {
        for spelling in [
            "k/+='\"<&> é",
            "k%2F%2B%3D%27%22%3C%26%3E%20%C3%A9",
            "k/%2b%3d%27%22%3c%26%3e%20%c3%a9",
            "k%2F%2B%3D'%22%3C%26%3E%20%C3%A9",
            "k%2F%2B%3D%27%22%3C%26%3E+%C3%A9",
            "k/+='%22%3C&%3E%20%C3%A9",
            "k%2F+=%27%22%3C&%3E%20%C3%A9",
            "%6B%2F%2B%3D%27%22%3C%26%3E%20%C3%A9",
            "k/+='\\\"<&> é",
            "k\\/+='\\\"<&> \\u00e9",
            "k/+='\\\"<&> \\u00E9",
            "k/+='\\\"\\u003c\\u0026\\u003e é",
            "k/+\\u003d\\u0027\\\"\\u003c\\u0026\\u003e é",
            "k/\\u002B=\\u0027\\u0022\\u003C\\u0026\\u003E \\u00E9",
            "\\u006b\\u002f\\u002b\\u003d\\u0027\\u0022\\u003c\\u0026\\u003e\\u0020\\u00e9",
        ] {
            check("k/+='\"<&> é", spelling);
        }
    }

    #[test]
    fn the_last_character_of_base64_is_taken_when_nothing_follows() {
        check("12345678", "MTIzNDU2Nz");
        check("12345678", "MTIzNDU2Nzg");
        check("???>>>???", "Pz8/Pj4+Pz8/");
        check("???>>>???", "Pz8_Pj4-Pz8_");
        check("???>>>???", "Pz8\\/Pj4+Pz8\\/");
        check("???>>>???", "Pz8/Pj4\\u002BPz8/");
    }

    #[test]
    fn white_space_around_a_value_may_be_missing_but_not_make_it_short() {
        check(" 123456\n", "123456");
        check(" 123456\n", " 123456\n");
        check(" 123456\n", "MTIzNDU2");
        assert!(!spellings(&Secret::new(" 12345\n".into())).contains("12345"));
        for short in ["", "1", "12345"] {
            assert!(spellings(&Secret::new(short.into())).is_empty());
        }
    }
}
