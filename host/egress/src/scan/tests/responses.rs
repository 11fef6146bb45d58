//! Responses of every kind that hold a secret in every spelling, coded, cut into chunks, decoded and scanned.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use percent_encoding::percent_encode_byte;
use proptest::sample::{Index, select};

use super::*;
use crate::decode;
use crate::decode::tests::{CODINGS, encoded, headers};

/// How many of them have the same secret.
const PER_SECRET: u32 = 20;

/// How many responses there are. `tests/run --long` sets it to 100,000.
#[expect(clippy::disallowed_methods, reason = "a test can be told to try more")]
fn number() -> u32 {
    std::env::var("RINGFENCE_RESPONSES").map_or(4_000, |number| number.parse().unwrap())
}

const MARK: &str = "[REDACTED:svc]";

/// A spelling of a value, and what has to come of it.
type Written = (String, String);

/// The spellings of one secret.
struct Spellings {
    whole: Vec<Written>,
    trimmed: Vec<Written>,
    /// With nothing before it or after it.
    alone: Vec<Written>,
}

impl Spellings {
    /// Encoded together with so many bytes of something else, where that makes a difference.
    fn new(secret: &str, (before, after): (usize, usize)) -> Self {
        let (before, after) = (&"agent:"[..before], &"ABC"[..after]);
        Self {
            whole: spellings(secret, before, after),
            trimmed: spellings(secret.trim(), before, after),
            alone: spellings(secret.trim(), "", ""),
        }
    }
}

/// All spellings of `value`, written by other means than the scanner's.
fn spellings(value: &str, before: &str, after: &str) -> Vec<Written> {
    let form: String = url::form_urlencoded::byte_serialize(value.as_bytes()).collect();
    let (minimal, script, complete) = (percent(value, "-_.~"), percent(value, "-_.!~*'()"), percent_all(value));
    let hex: String = value.bytes().map(|byte| format!("{byte:02x}")).collect();
    let json = serde_json::to_string(value).unwrap()[1..].strip_suffix('"').unwrap().to_owned();
    let ascii: String = json.chars().map(|c| if c.is_ascii() { c.into() } else { units(c, false) }).collect();
    let html = json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026");
    let [lower, upper] = [false, true].map(|upper| value.chars().map(|c| units(c, upper)).collect());
    let percents =
        [lower_escapes(&minimal), lower_escapes(&complete), minimal, script, complete, form, in_query(value)];
    let jsons = [json.replace('/', "\\/"), ascii.replace('/', "\\/"), json, ascii, html, lower, upper];
    let others = [value.to_owned(), hex.to_uppercase(), hex];
    let whole = others.into_iter().chain(percents).chain(jsons).map(|spelling| (spelling, MARK.to_owned()));
    whole.chain(in_base64(value, before, after)).collect()
}

fn percent(value: &str, stays: &str) -> String {
    let stays = |byte: u8| byte.is_ascii_alphanumeric() || stays.as_bytes().contains(&byte);
    let one = |byte| if stays(byte) { char::from(byte).to_string() } else { percent_encode_byte(byte).into() };
    value.bytes().map(one).collect()
}

/// As the library writes what its caller calls a query. A `%` of the value would stand for itself there.
fn in_query(value: &str) -> String {
    let mut url = Url::parse("https://a.test/").unwrap();
    url.set_query(Some(value));
    let ambiguous = value.contains(['%', '\n']);
    if ambiguous { percent_all(value) } else { url.query().unwrap().to_owned() }
}

fn percent_all(value: &str) -> String {
    value.bytes().map(percent_encode_byte).collect()
}

fn lower_escapes(text: &str) -> String {
    let (first, rest) = text.split_once('%').unwrap_or((text, ""));
    let parts = rest.split('%').filter(|part| !part.is_empty());
    parts.fold(first.to_owned(), |all, part| all + "%" + &part[..2].to_lowercase() + &part[2..])
}

fn units(c: char, upper: bool) -> String {
    let one = |unit: &u16| if upper { format!("\\u{unit:04X}") } else { format!("\\u{unit:04x}") };
    c.encode_utf16(&mut [0; 2]).iter().map(one).collect()
}

/// Between `before` and `after`, as a password stands behind a user's name. Characters that hold bits of those too
/// stay.
fn in_base64(value: &str, before: &str, after: &str) -> Vec<Written> {
    let start = (before.len() * 8).div_ceil(6);
    let bits = (before.len() + value.len()) * 8;
    let end = if after.is_empty() { bits.div_ceil(6) } else { bits / 6 };
    let written = [STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD].map(|engine| {
        let whole = engine.encode(format!("{before}{value}{after}"));
        let clean = format!("{}{MARK}{}", &whole[..start], &whole[end..]);
        (whole, clean)
    });
    let in_json = written.clone().map(|(whole, clean)| (whole.replace('/', "\\/"), clean.replace('/', "\\/")));
    [written, in_json].concat()
}

fn secrets() -> impl Strategy<Value = String> {
    // A bar stands on both sides of each spelling, and in none of them.
    let value = prop_oneof!["[!-{}~äß€😀]{8,40}", "[A-Za-z0-9+/_.=-]{8,64}", "[!-{}~][ -{}~]{8,20}[!-{}~]"];
    ("[ \n]{0,1}", value, "[ \n]{0,2}").prop_map(|(before, value, after)| before + &value + &after)
}

#[derive(Clone, Debug)]
enum Filler {
    Bytes(Vec<u8>),
    Text(String),
    /// The beginning of a spelling, but not all of it.
    Cut(Index, Index),
}

#[derive(Clone, Debug)]
struct Response {
    /// What stands before each spelling, which spelling that is, and whether it is of the trimmed value.
    parts: Vec<(Filler, Index, bool)>,
    last: Filler,
    codings: Vec<&'static str>,
    chunk: usize,
}

fn responses() -> impl Strategy<Value = Response> {
    let filler = || {
        prop_oneof![
            proptest::collection::vec(any::<u8>(), 0..100).prop_map(Filler::Bytes),
            // Without `@`, so that nothing looks like the password in a URL.
            "[ -?A-{}~\n]{0,100}".prop_map(Filler::Text),
            (any::<Index>(), any::<Index>()).prop_map(|(spelling, length)| Filler::Cut(spelling, length)),
        ]
    };
    let parts = proptest::collection::vec((filler(), any::<Index>(), any::<bool>()), 1..4);
    let codings = proptest::collection::vec(select(&CODINGS[..]), 0..3);
    let chunk = prop_oneof![1usize..20, 1usize..400];
    (parts, filler(), codings, chunk).prop_map(|(parts, last, codings, chunk)| Response { parts, last, codings, chunk })
}

impl Response {
    /// The body and what has to come of it.
    fn written(&self, spellings: &Spellings) -> (Vec<u8>, Vec<u8>) {
        let (mut body, mut expected) = (Vec::new(), Vec::new());
        for (filler, spelling, trimmed) in &self.parts {
            let filler = filler.bytes(spellings);
            let (whole, clean) = spelling.get(if *trimmed { &spellings.trimmed } else { &spellings.whole });
            body.extend([&filler, b"|".as_slice(), whole.as_bytes(), b"|"].concat());
            expected.extend([&filler, b"|".as_slice(), clean.as_bytes(), b"|"].concat());
        }
        let last = self.last.bytes(spellings);
        body.extend(&last);
        expected.extend(&last);
        (body, expected)
    }
}

impl Filler {
    fn bytes(&self, spellings: &Spellings) -> Vec<u8> {
        match self {
            Self::Bytes(bytes) => bytes.clone(),
            Self::Text(text) => text.clone().into_bytes(),
            Self::Cut(spelling, length) => {
                let (whole, _) = spelling.get(&spellings.alone);
                // Without the last character at least, which may be `\u005c`: what is left of it could be read as it.
                whole.as_bytes()[..length.index(whole.len() - 6)].to_vec()
            }
        }
    }
}

fn received(scanner: &Scanner, response: &Response, body: &[u8]) -> Vec<u8> {
    let sent = response.codings.iter().fold(body.to_vec(), |body, coding| encoded(coding, &body));
    let decoded = decode(&mut headers(&response.codings), chunks(&sent, response.chunk)).unwrap();
    let all = scanner.stream(decoded).try_fold(Vec::new(), async |all, chunk| Ok([all, chunk.to_vec()].concat()));
    block_on(all).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(number() / PER_SECRET))]

    #[test]
    fn no_response_brings_a_secret_back(
        secret in secrets(),
        around in (0usize..7, 0usize..4),
        responses in proptest::collection::vec(responses(), PER_SECRET as usize),
    ) {
        let scanner = knowing(&[("svc", &secret), ("other", SECRET)]);
        let spellings = Spellings::new(&secret, around);
        for response in responses {
            let (body, expected) = response.written(&spellings);
            prop_assert!(reference::holds(&body, secret.trim()), "nothing to find: {}", String::from_utf8_lossy(&body));
            // A beginning that was cut off inside an escape may be read as the whole: `\u0` as `u0`.
            if reference::holds(&expected, secret.trim()) {
                continue;
            }
            let output = received(&scanner, &response, &body);
            prop_assert!(!reference::holds(&output, secret.trim()), "{}", String::from_utf8_lossy(&output));
            let texts = (String::from_utf8_lossy(&output), String::from_utf8_lossy(&expected));
            prop_assert!(output == expected, "{}\n{}", texts.0, texts.1);
        }
    }
}
