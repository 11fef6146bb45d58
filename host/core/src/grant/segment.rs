//! One segment of a path, and the spellings that another server could read as a different path.

use thiserror::Error;

/// How often a segment may be percent-encoded, one around the other. Nobody does it thrice in earnest.
const MAX_DEPTH: usize = 3;

/// Why a segment of a path is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SegmentError {
    /// A `%` without two hexadecimal digits.
    #[error("a `%` stands without two hexadecimal digits: write `%25` for the character itself")]
    Percent,
    /// Not UTF-8. Overlong forms of `/` and `.` are among these.
    #[error("its percent-encoded bytes are not UTF-8")]
    NotUtf8,
    /// A separator in disguise.
    #[error(
        "a `/` or `\\` is percent-encoded where servers disagree on what that means: a single `%2F` may stand between two \
         names, as in `group%2Fproject`"
    )]
    Separator,
    /// A dot segment in disguise.
    #[error("a `.` or `..` is disguised: servers disagree on what that means")]
    Dots,
    /// A control character.
    #[error("it contains a control character")]
    Control,
    /// Percent-encoded again and again.
    #[error("it is percent-encoded more than {MAX_DEPTH} times")]
    TooDeep,
}

/// Decodes one segment of a path. A `/` in what comes out was percent-encoded.
///
/// # Errors
/// Where [`check_segment`] has one.
pub fn decode_segment(segment: &str) -> Result<String, SegmentError> {
    check_segment(segment)?;
    percent_decode(segment)
}

/// Checks that every server reads `segment` as one segment, and not as `.` or `..`. A proxy that decodes once more
/// than the next server (`%252e%252e`) and a server that drops parameters (`..;x`) would otherwise be led elsewhere
/// than the rule that let the request pass.
///
/// The exception is `%2F` between two names, which is how many services write an identifier with a slash. Some servers
/// read that as two segments, so rules let it pass where both readings are granted; see [`PathPattern`].
///
/// # Errors
/// What stands in [`SegmentError`].
///
/// [`PathPattern`]: super::PathPattern
pub fn check_segment(segment: &str) -> Result<(), SegmentError> {
    if !segment.contains('%') {
        return check_plain(segment);
    }
    let names: Vec<&str> = segment.split("%2F").flat_map(|part| part.split("%2f")).collect();
    let is_name = |part: &&str| !percent_decode(part).is_ok_and(|text| without_parameters(&text).is_empty());
    if names.len() > 1 && !names.iter().all(is_name) {
        return Err(SegmentError::Separator);
    }
    names.into_iter().try_for_each(check_name)
}

/// Checks one name, in which no separator may be.
fn check_name(name: &str) -> Result<(), SegmentError> {
    check_plain(name)?;
    let mut text = percent_decode(name)?;
    for _ in 0..MAX_DEPTH {
        check_plain(&text)?;
        // What looks encoded now may be meant as it stands, like the `100%` in `100%25`.
        let decoded = lenient_decode(&text)?;
        if decoded == text {
            return Ok(());
        }
        text = decoded;
    }
    Err(SegmentError::TooDeep)
}

fn check_plain(text: &str) -> Result<(), SegmentError> {
    if text.contains(['/', '\\']) {
        return Err(SegmentError::Separator);
    }
    if text.chars().any(char::is_control) {
        return Err(SegmentError::Control);
    }
    match without_parameters(text) {
        "." | ".." => Err(SegmentError::Dots),
        _ => Ok(()),
    }
}

/// A segment without `;` and what follows: some servers take that away before they look.
pub(super) fn without_parameters(segment: &str) -> &str {
    segment.split_once(';').map_or(segment, |(name, _)| name)
}

/// Decodes once; every `%` has to begin an escape.
fn percent_decode(text: &str) -> Result<String, SegmentError> {
    if text.split('%').skip(1).all(|tail| escape(tail.as_bytes()).is_some()) {
        lenient_decode(text)
    } else {
        Err(SegmentError::Percent)
    }
}

/// Decodes once as careless servers do: a `%` that begins no escape stays.
pub(crate) fn lenient_decode(text: &str) -> Result<String, SegmentError> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let escaped = if *first == b'%' { escape(tail) } else { None };
        let (byte, tail) = escaped.unwrap_or((*first, tail));
        bytes.push(byte);
        rest = tail;
    }
    String::from_utf8(bytes).map_err(|_| SegmentError::NotUtf8)
}

/// The byte that the two hexadecimal digits at the beginning of `tail` stand for, and what follows them.
fn escape(tail: &[u8]) -> Option<(u8, &[u8])> {
    let [high, low, rest @ ..] = tail else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|value| u8::try_from(value).ok());
    Some((digit(*high)? << 4 | digit(*low)?, rest))
}

/// Writes a decoded segment so that decoding gives it back, `*` included, which is no wildcard then.
pub(super) fn encode_segment(segment: &str) -> String {
    let mut text = String::with_capacity(segment.len());
    for byte in segment.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~!$&'()+,;=:@".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn spellings() {
        use SegmentError::*;
        for (segment, expected) in [
            ("a%20b", Ok("a b")),
            ("%61dmin", Ok("admin")),
            ("a.b", Ok("a.b")),
            ("...", Ok("...")),
            ("100%25", Ok("100%")),
            ("caf%C3%A9", Ok("café")),
            ("", Ok("")),
            ("a;b=c", Ok("a;b=c")),
            ("%2e%2E", Err(Dots)),
            (".%2e", Err(Dots)),
            ("%2e", Err(Dots)),
            ("..;x", Err(Dots)),
            ("..%3Bx", Err(Dots)),
            ("%252e%252e", Err(Dots)),
            ("a%2Fb", Ok("a/b")),
            ("a%2fb%2Fc%20d", Ok("a/b/c d")),
            ("%2Fa", Err(Separator)),
            ("a%2F", Err(Separator)),
            ("a%2F%2Fb", Err(Separator)),
            ("a%2F;x%2Fb", Err(Separator)),
            ("a%2F%3Bx", Err(Separator)),
            ("a%2F..", Err(Dots)),
            ("a%2F%2e%2e%2Fb", Err(Dots)),
            ("..%2Fa", Err(Dots)),
            ("a%2F..;x%2Fb", Err(Dots)),
            ("a%5cb", Err(Separator)),
            ("a%252Fb", Err(Separator)),
            ("%c0%af", Err(NotUtf8)),
            ("%25c0%25ae", Err(NotUtf8)),
            ("a%00", Err(Control)),
            ("a%0d%0aX", Err(Control)),
            ("%", Err(Percent)),
            ("%zz", Err(Percent)),
            ("%2", Err(Percent)),
            ("%25252541", Err(TooDeep)),
            ("%252541", Ok("%2541")),
            ("%25zz%252Fa", Err(Separator)),
        ] {
            assert_eq!(decode_segment(segment).as_deref(), expected.as_ref().map(|text| *text), "{segment}");
        }
    }

    proptest! {
        #[test]
        fn what_was_written_reads_back(segment in "[^/\\\\%\\p{Cc}]{0,20}") {
            prop_assume!(check_segment(&segment).is_ok());
            prop_assert_eq!(decode_segment(&encode_segment(&segment)).unwrap(), segment);
        }

        #[test]
        fn nothing_decoded_is_a_separator_or_dots(segment in "(%(25){0,2}(2e|2f|5c|41|3b)|[.;a/]){0,6}") {
            if let Ok(decoded) = decode_segment(&segment) {
                // A server that reads `%2F` as a slash sees the same names, and none that leads elsewhere.
                let is_one = |name: &str| match without_parameters(name) {
                    "." | ".." => false,
                    "" => decoded == name,
                    _ => true,
                };
                prop_assert!(!decoded.contains('\\') && decoded.split('/').all(is_one), "{}", decoded);
                prop_assert!(!segment.contains('/'));
            }
        }
    }
}
