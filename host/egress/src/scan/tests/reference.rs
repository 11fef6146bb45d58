//! What the scanner has to do, done in the simplest way there is and with nothing of the scanner's own.

/// Whether `secret` is to be read anywhere in `bytes`, when they are decoded in every way.
pub(super) fn holds(bytes: &[u8], secret: &str) -> bool {
    let unescaped = unescaped(bytes);
    let views = [bytes.to_vec(), percent_decoded(bytes, false), percent_decoded(bytes, true)];
    let within = |view: &[u8]| contains(view, secret.as_bytes());
    let dense = |view: &[u8]| hex_decoded(view).iter().chain(&base64_decoded(view)).any(|decoded| within(decoded));
    views.iter().any(|view| within(view)) || within(&unescaped) || dense(bytes) || dense(&unescaped)
}

/// `text` with one mark for all values that overlap or touch, named after the longest of them.
pub(super) fn redacted(text: &str, secrets: &[(&str, &str)]) -> String {
    let mut covered = vec![false; text.len()];
    for (_, value) in secrets {
        for start in (0..text.len()).filter(|start| text.as_bytes()[*start..].starts_with(value.as_bytes())) {
            covered[start..start + value.len()].fill(true);
        }
    }
    let mut clean = String::new();
    let mut at = 0;
    while at < text.len() {
        let length = covered[at..].iter().take_while(|covered| **covered).count();
        let one = text[at..].chars().next().map_or(0, char::len_utf8);
        let inside = &text[at..at + if length > 0 { length } else { one }];
        let found = secrets.iter().filter(|(_, value)| inside.contains(value)).max_by_key(|(_, value)| value.len());
        match found {
            Some((name, _)) => clean.push_str(&format!("[REDACTED:{name}]")),
            None => clean.push_str(inside),
        }
        at += inside.len();
    }
    clean
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

fn percent_decoded(bytes: &[u8], plus: bool) -> Vec<u8> {
    let mut decoded = Vec::new();
    let mut rest = bytes;
    while let [first, after @ ..] = rest {
        let escape = (*first == b'%').then(|| number(after.get(..2))).flatten();
        rest = if escape.is_some() { &after[2..] } else { after };
        decoded.push(match escape {
            Some(byte) => byte as u8,
            None if plus && *first == b'+' => b' ',
            None => *first,
        });
    }
    decoded
}

/// JSON escapes undone, wherever they stand.
fn unescaped(bytes: &[u8]) -> Vec<u8> {
    let (mut units, mut decoded) = (Vec::new(), Vec::new());
    let mut rest = bytes;
    while let [first, after @ ..] = rest {
        let unit = (*first == b'\\' && after.first() == Some(&b'u')).then(|| number(after.get(1..5))).flatten();
        if let Some(unit) = unit {
            units.push(unit);
            rest = &after[5..];
            continue;
        }
        decoded.extend(String::from_utf16_lossy(&std::mem::take(&mut units)).bytes());
        let escaped = after.first().filter(|_| *first == b'\\');
        rest = if escaped.is_some() { &after[1..] } else { after };
        decoded.push(match escaped {
            Some(b'n') => b'\n',
            Some(b't') => b'\t',
            Some(b'r') => b'\r',
            Some(other) => *other,
            None => *first,
        });
    }
    decoded.extend(String::from_utf16_lossy(&units).bytes());
    decoded
}

fn number(digits: Option<&[u8]>) -> Option<u16> {
    let digits = digits.filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// Every run of digits, read from its first and from its second.
fn hex_decoded(bytes: &[u8]) -> Vec<Vec<u8>> {
    let pairs = |run: &[u8]| run.chunks_exact(2).filter_map(|pair| number(Some(pair))).map(|n| n as u8).collect();
    let runs = bytes.split(|byte| !byte.is_ascii_hexdigit()).filter(|run| run.len() > 1);
    runs.flat_map(|run| [pairs(run), pairs(&run[1..])]).collect()
}

/// Every run of characters of either alphabet, read from its first, second, third and fourth.
fn base64_decoded(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut decoded = Vec::new();
    for last in [b"+/", b"-_"] {
        let digit = |byte: &u8| match byte {
            b'A'..=b'Z' => Some(u32::from(byte - b'A')),
            b'a'..=b'z' => Some(u32::from(byte - b'a') + 26),
            b'0'..=b'9' => Some(u32::from(byte - b'0') + 52),
            _ => last.iter().position(|l| l == byte).map(|i| i as u32 + 62),
        };
        for run in bytes.split(|byte| digit(byte).is_none()) {
            decoded.extend((0..run.len().min(4)).map(|skipped| {
                let (mut bits, mut held, mut bytes) = (0u32, 0, Vec::new());
                for digit in run[skipped..].iter().filter_map(digit) {
                    (bits, held) = ((bits << 6 | digit) & 0xffff, held + 6);
                    if held >= 8 {
                        held -= 8;
                        bytes.push((bits >> held) as u8);
                    }
                }
                bytes
            }));
        }
    }
    decoded
}

#[test]
fn the_reference_sees_every_encoding() {
    let secret = "rf_live_9f+Zq/7Kp ä";
    for text in [
        "a rf_live_9f+Zq/7Kp ä b",
        "rf%5flive_9f%2BZq%2f7Kp%20%c3%a4",
        "rf_live_9f%2BZq%2f7Kp+%c3%a4",
        "x\\u0072f_live_9f+Zq\\/7Kp \\u00e4",
        "f72665f6c6976655f39662b5a712f374b7020C3A4",
        "cmZfbGl2ZV85ZitacS83S3Agw6Q=",
        "xxeHJmX2xpdmVfOWYrWnEvN0twIMOk",
        "cmZfbGl2ZV85ZitacS83S3Agw6Q",
    ] {
        assert!(holds(text.as_bytes(), secret), "{text}");
        assert!(!holds(&text.as_bytes()[..text.len() * 2 / 3], secret), "{text}");
    }
}
