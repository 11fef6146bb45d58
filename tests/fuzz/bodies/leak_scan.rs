//! The leak scan: however a secret is spelled and a body is cut, nothing is left of it, and the rest stays as it was.

use std::convert::Infallible;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use bytes::Bytes;
use futures::executor::block_on;
use futures::{TryStreamExt as _, stream};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use ringfence_core::Secret;
use ringfence_core::finish::scrub::known_form;
use ringfence_egress::{MIN_CREDENTIAL, Scanner};

#[path = "../../../host/egress/src/scan/tests/reference.rs"]
mod reference;

/// RFC 3986's unreserved characters.
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The first two bytes of `input` say how the body is cut, and which spelling of the secret stands where in it. What
/// follows up to a line break is the secret, the rest the body.
pub fn run(input: &[u8]) {
    let [cut, which, rest @ ..] = input else { return };
    let Ok(text) = std::str::from_utf8(rest) else { return };
    let (secret, body) = text.split_once('\n').unwrap_or(("rf_live_9f+Zq/7Kp~2x=Vd_", text));
    let known = [("key".to_owned(), Secret::new(secret.to_owned()))];
    let Ok(scanner) = Scanner::new(&known) else { return };
    the_cut_makes_no_difference(&scanner, body, *cut);
    let value = secret.trim();
    // A mark is in brackets, so nothing else can overlap one.
    if value.len() < MIN_CREDENTIAL || value.contains(['[', ']']) {
        return;
    }
    what_is_none_stays(&scanner, body, secret);
    let spellings = spellings(value);
    let planted = &spellings[usize::from(which % 16) % spellings.len()];
    let place = body.char_indices().map(|(at, _)| at).nth(usize::from(which / 16) * 3).unwrap_or(body.len());
    let body = format!("{}{planted}{}", &body[..place], &body[place..]);
    let clean = the_cut_makes_no_difference(&scanner, &body, *cut);
    let bare = without_marks(&clean);
    for spelling in &spellings {
        assert!(!bare.contains(spelling), "`{spelling}` is left in {clean:?}");
    }
}

/// `text` with nothing inside its marks: what they say of a kind or a name may be anybody's secret.
fn without_marks(text: &str) -> String {
    let mut parts = text.split("[REDACTED:");
    let first = parts.next().unwrap_or_default().to_owned();
    let is_label =
        |label: &str| label.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"_#".contains(&b));
    parts.fold(first, |bare, part| match part.split_once(']') {
        Some((label, rest)) if is_label(label) => bare + "[]" + rest,
        _ => bare + "[REDACTED:" + part,
    })
}

/// Where the secret stands as it is and in no other spelling, it is replaced, and nothing else is.
fn what_is_none_stays(scanner: &Scanner, body: &str, secret: &str) {
    let value = secret.trim();
    let clean = reference::redacted(body, &[("key", secret), ("key", value)]);
    // What base64 may leave of it when it is cut out; where it is written so that it decodes to something else, nobody
    // can tell.
    let mut inner = value.chars();
    inner.next().and(inner.next_back());
    let ambiguous = secret.contains(|c: char| c == '%' || c.is_control()) || body.contains("[REDACTED:");
    if !ambiguous && known_form(clean.as_bytes()).is_none() && !reference::holds(clean.as_bytes(), inner.as_str()) {
        assert_eq!(scanner.text(body), clean, "nothing else is altered");
    }
}

/// What is left of `body`, whole and in pieces of `cut` bytes.
fn the_cut_makes_no_difference(scanner: &Scanner, body: &str, cut: u8) -> String {
    let whole = scanner.text(body);
    let pieces = body.as_bytes().chunks(usize::from(cut).max(1));
    let pieces: Vec<_> = pieces.map(|piece| Ok::<_, Infallible>(Bytes::copy_from_slice(piece))).collect();
    let append = async |mut all: Vec<u8>, piece: Bytes| {
        all.extend_from_slice(&piece);
        Ok(all)
    };
    let Ok(clean) = block_on(scanner.stream(stream::iter(pieces)).try_fold(Vec::new(), append));
    assert_eq!(String::from_utf8_lossy(&clean), whole, "the cut makes no difference");
    whole.into_owned()
}

/// The spellings that are promised, by other means than the scanner's. Of base64 those characters that are the same
/// whatever stands around.
fn spellings(value: &str) -> Vec<String> {
    let json = serde_json::to_string(value).expect("a text is JSON");
    let hex: String = value.bytes().map(|byte| format!("{byte:02x}")).collect();
    let percent = utf8_percent_encode(value, UNRESERVED).to_string();
    let everything = value.bytes().map(percent_encoding::percent_encode_byte).collect();
    let escaped = json[1..json.len() - 1].to_owned();
    let mut all = vec![value.to_owned(), hex.to_uppercase(), hex, percent, everything, escaped];
    for before in ["", "a", "ab"] {
        for engine in [STANDARD_NO_PAD, URL_SAFE_NO_PAD] {
            let encoded = engine.encode(format!("{before}{value}"));
            let bits = (before.len() + value.len()) * 8;
            all.push(encoded[(before.len() * 8).div_ceil(6)..bits / 6].to_owned());
        }
    }
    all
}
