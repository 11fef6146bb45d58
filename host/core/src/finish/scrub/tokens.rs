//! Credentials that their own form gives away, wherever they stand.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, Input, MatchKind};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use memchr::memmem::{self, Finder};
use serde_json::{Map, Value};

use super::spans::{Label, Span};

/// A longer JWT header is not decoded but believed.
const MAX_JWT_HEADER: usize = 8 << 10;

/// A private key has at least this many bytes between its dashes; a mention of the dashes has fewer.
const MIN_PRIVATE_KEY: usize = 40;

/// A token that begins with letters of its issuer's choice.
struct Token {
    kind: &'static str,
    prefix: &'static str,
    body: fn(u8) -> bool,
    /// How long the body is; a longer run of its characters is something else.
    length: RangeInclusive<usize>,
}

/// A credential of a form of its own.
struct Shape {
    kind: &'static str,
    /// What the search looks for.
    anchor: &'static str,
    /// The credential around the anchor at this place.
    at: fn(&[u8], usize) -> Option<Range<usize>>,
    /// What it may go on with.
    more: fn(u8) -> bool,
}

/// A credential in a text.
pub(super) struct Found {
    pub(super) range: Range<usize>,
    pub(super) kind: &'static str,
    /// What it may go on with, where the text ends with it.
    pub(super) more: fn(u8) -> bool,
}

/// What there is in a text that may go on.
pub(super) struct Seen {
    pub(super) found: Vec<Found>,
    /// Where a credential has begun whose end is not there yet, or the end of the text.
    pub(super) begun: usize,
    /// The place before which nothing changes, whatever follows.
    pub(super) certain: usize,
    /// Whether the text ends inside of what may be a private key.
    pub(super) in_key: bool,
}

const ANY: usize = usize::MAX;

/// Of two prefixes that both fit, the longer one counts.
const TOKENS: [Token; 35] = [
    token("openai", "sk-", is_alnum, 20..=ANY),
    token("openai", "sk-proj-", is_url_safe, 20..=ANY),
    token("openai", "sk-svcacct-", is_url_safe, 20..=ANY),
    token("openai", "sk-admin-", is_url_safe, 20..=ANY),
    token("anthropic", "sk-ant-", is_url_safe, 16..=ANY),
    token("openrouter", "sk-or-", is_url_safe, 16..=ANY),
    token("groq", "gsk_", is_alnum, 20..=ANY),
    token("aws", "AKIA", is_upper, 16..=16),
    token("aws", "ASIA", is_upper, 16..=16),
    token("github", "ghp_", is_alnum, 16..=ANY),
    token("github", "gho_", is_alnum, 16..=ANY),
    token("github", "ghu_", is_alnum, 16..=ANY),
    token("github", "ghs_", is_alnum, 16..=ANY),
    token("github", "ghr_", is_alnum, 16..=ANY),
    token("github", "github_pat_", is_word, 22..=ANY),
    token("gitlab", "glpat-", is_url_safe, 16..=ANY),
    token("stripe", "sk_live_", is_alnum, 10..=ANY),
    token("stripe", "sk_test_", is_alnum, 10..=ANY),
    token("stripe", "rk_live_", is_alnum, 10..=ANY),
    token("stripe", "rk_test_", is_alnum, 10..=ANY),
    token("stripe", "whsec_", is_base64, 20..=ANY),
    token("google", "AIza", is_url_safe, 35..=ANY),
    token("slack", "xoxa-", is_url_safe, 10..=ANY),
    token("slack", "xoxb-", is_url_safe, 10..=ANY),
    token("slack", "xoxe-", is_url_safe, 10..=ANY),
    token("slack", "xoxo-", is_url_safe, 10..=ANY),
    token("slack", "xoxp-", is_url_safe, 10..=ANY),
    token("slack", "xoxr-", is_url_safe, 10..=ANY),
    token("slack", "xoxs-", is_url_safe, 10..=ANY),
    token("slack", "xapp-", is_url_safe, 10..=ANY),
    token("twilio", "SK", is_lower_hex, 32..=32),
    token("npm", "npm_", is_alnum, 30..=ANY),
    token("huggingface", "hf_", is_alnum, 30..=ANY),
    token("nearai", "sess_", is_alnum, 32..=ANY),
    token("ironclaw", "icsbx_", is_url_safe, 16..=ANY),
];

const fn token(kind: &'static str, prefix: &'static str, body: fn(u8) -> bool, length: RangeInclusive<usize>) -> Token {
    Token { kind, prefix, body, length }
}

const SHAPES: [Shape; 6] = [
    Shape { kind: "jwt", anchor: "eyJ", at: jwt, more: is_jwt },
    Shape { kind: "sendgrid", anchor: "SG.", at: sendgrid, more: is_url_safe },
    Shape { kind: "telegram", anchor: ":AA", at: telegram, more: is_url_safe },
    Shape { kind: "private_key", anchor: BEGIN, at: private_key, more: is_key_body },
    Shape { kind: "bearer", anchor: EARER, at: bearer, more: is_token68 },
    Shape { kind: "basic", anchor: ASIC, at: basic, more: is_token68 },
];

/// What may have to be looked at before an anchor, and the longest beginning of one.
pub(super) const BEFORE: usize = 16;

/// What is found without an anchor: `://` stands nearly everywhere, and seldom with a password behind it.
const URL_PASSWORD: &str = "url_password";

const BEGIN: &str = "-----BEGIN ";
const DASHES: &str = "-----";

/// How schemes of `Authorization` go on that are written `Bearer` or `bearer`.
const EARER: &str = "earer ";
const ASIC: &str = "asic ";

/// A shorter word behind `Bearer` may be any.
const MIN_BEARER: usize = 20;

/// The longest line that a private key begins with.
const MAX_KEY_LINE: usize = 80;

/// Searches for all anchors at once. With at most 32 of them, and none under three bytes, that is a vectorised search
/// that takes a fraction of a nanosecond a byte. For a shorter prefix, a search of its own takes less than it would there.
struct Search {
    automaton: AhoCorasick,
    /// What each anchor may be part of.
    detectors: Vec<Detector>,
    short: Vec<(Finder<'static>, &'static Token, Detector)>,
}

/// The fewest bytes of an anchor.
const MIN_ANCHOR: usize = 3;

enum Detector {
    /// The longest prefix first.
    Tokens(Vec<&'static Token>),
    Shape(&'static Shape),
}

static SEARCH: LazyLock<Search> = LazyLock::new(|| {
    let (short, long): (Vec<&Token>, Vec<_>) = TOKENS.iter().partition(|token| token.prefix.len() < MIN_ANCHOR);
    let mut tokens: BTreeMap<&str, Vec<&Token>> = BTreeMap::new();
    for token in long {
        tokens.entry(token.anchor()).or_default().push(token);
    }
    tokens.values_mut().for_each(|tokens| tokens.sort_by_key(|token| Reverse(token.prefix.len())));
    let tokens = tokens.into_iter().map(|(anchor, tokens)| (anchor, Detector::Tokens(tokens)));
    let shapes = SHAPES.iter().map(|shape| (shape.anchor, Detector::Shape(shape)));
    let (anchors, detectors): (Vec<&str>, Vec<Detector>) = tokens.chain(shapes).unzip();
    // Vector instructions search by this kind of match only.
    let automaton = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(anchors);
    let short = short.into_iter().map(|token| (Finder::new(token.prefix), token, Detector::Tokens(vec![token])));
    Search { automaton: automaton.expect("few and short anchors"), detectors, short: short.collect() }
});

/// Adds all credentials in `text` that are known by their form.
pub(super) fn find(text: &str, spans: &mut Vec<Span<'_>>) {
    let found = found(text.as_bytes());
    // Each begins and ends beside an ASCII character.
    spans.extend(found.map(|found| Span { range: found.range, label: Label::Kind(found.kind) }));
}

/// All credentials in `text` that are known by their form. One may lie in another.
pub(super) fn found(text: &[u8]) -> impl Iterator<Item = Found> {
    let mut covered = 0..0;
    let anchored = anchors(text).filter_map(move |(start, detector)| detector.at(text, start, &mut covered));
    anchored.chain(url_passwords(text))
}

/// What there is in `text`, which may go on.
pub(super) fn seen(text: &[u8]) -> Seen {
    let tail = tail(text);
    let (mut found, mut covered, mut begun, mut key) = (Vec::new(), 0..0, text.len(), None);
    for (start, detector) in anchors(text) {
        // What an anchor announces that ends with the last break begins behind it.
        if start + detector.announces() >= tail {
            begun = begun.min(start.max(tail));
        }
        if text[start..].starts_with(BEGIN.as_bytes()) {
            key = Some(start);
        }
        found.extend(detector.at(text, start, &mut covered));
    }
    found.extend(url_passwords(text));
    let key = key.filter(|start| is_open_key(text, *start));
    let url = memmem::find(&text[tail..], b"://").map(|slashes| tail + slashes);
    begun = [key, url].into_iter().flatten().fold(begun, usize::min);
    // Of an anchor, a part may be there; and what belongs to a credential may stand before it.
    let certain = begun.saturating_sub(BEFORE).max(tail).min(begun);
    Seen { found, begun, certain, in_key: key.is_some() }
}

/// All anchors in `text`, also those that overlap; behind them the short prefixes that something may follow.
fn anchors(text: &[u8]) -> impl Iterator<Item = (usize, &'static Detector)> {
    let mut from = 0;
    let long = std::iter::from_fn(move || {
        let anchor = SEARCH.automaton.find(Input::new(text).range(from..))?;
        from = anchor.start() + 1;
        Some((anchor.start(), &SEARCH.detectors[anchor.pattern().as_usize()]))
    });
    let short = SEARCH.short.iter().flat_map(move |(finder, token, detector)| {
        let goes_on = |at: &usize| text.get(at + token.prefix.len()).is_some_and(|byte| (token.body)(*byte));
        finder.find_iter(text).filter(goes_on).map(move |at| (at, detector))
    });
    long.chain(short)
}

/// Whether `byte` is in no credential but a private key.
pub(super) fn breaks(byte: u8) -> bool {
    byte.is_ascii_whitespace() || b"\"'`<>\\".contains(&byte)
}

/// Where the last break is: only a private key goes on behind one.
fn tail(text: &[u8]) -> usize {
    text.iter().rposition(|byte| breaks(*byte)).map_or(0, |last| last + 1)
}

/// Whether the end of the private key that begins at `start` is not there yet.
fn is_open_key(text: &[u8], start: usize) -> bool {
    let rest = &text[start + BEGIN.len()..];
    let Some(length) = dashes(rest) else { return rest.len() < MAX_KEY_LINE };
    let (label, body) = (&rest[..length], &rest[length + DASHES.len()..]);
    let footer = "-----END -----".len() + label.len();
    is_key_label(label) && dashes(body).is_none_or(|end| body.len() < end + footer)
}

/// Where the first dashes are.
fn dashes(text: &[u8]) -> Option<usize> {
    text.windows(DASHES.len()).position(|part| part == DASHES.as_bytes())
}

/// Whether `text` has something in it that could be part of a credential of a known form.
pub(super) fn may_be_in(text: &str) -> bool {
    anchors(text.as_bytes()).next().is_some() || url_passwords(text.as_bytes()).next().is_some()
}

/// Whether a mark can name `kind`.
pub(super) fn is_kind(kind: &str) -> bool {
    kind == URL_PASSWORD
        || TOKENS.iter().any(|token| token.kind == kind)
        || SHAPES.iter().any(|shape| shape.kind == kind)
}

impl Detector {
    /// How far behind the start of its anchor a credential may begin.
    fn announces(&self) -> usize {
        match self {
            Self::Tokens(_) => 0,
            Self::Shape(shape) => shape.anchor.len(),
        }
    }

    /// The credential of which the anchor at `start` is part. The last token that was found has `covered` so much.
    fn at(&self, text: &[u8], start: usize, covered: &mut Range<usize>) -> Option<Found> {
        match self {
            // A token's own characters can hold its prefix: they are not looked at twice.
            Self::Tokens(_) if covered.contains(&start) => None,
            Self::Tokens(tokens) => {
                let token = tokens.iter().find(|token| text[start..].starts_with(token.prefix.as_bytes()))?;
                let range = token.at(text, start)?;
                *covered = range.clone();
                Some(Found { range, kind: token.kind, more: token.body })
            }
            Self::Shape(shape) => Some(Found { range: (shape.at)(text, start)?, kind: shape.kind, more: shape.more }),
        }
    }
}

impl Token {
    /// What the search looks for: the prefix, or its beginning where others share that.
    fn anchor(&self) -> &'static str {
        let shared = |begin: &&str| TOKENS.iter().filter(|token| token.prefix.starts_with(*begin)).count() > 1;
        self.prefix.get(..MIN_ANCHOR).filter(shared).unwrap_or(self.prefix)
    }

    /// The token at `start`.
    fn at(&self, text: &[u8], start: usize) -> Option<Range<usize>> {
        let body = start + self.prefix.len();
        let end = starts_word(text, start).then(|| run(text, body, self.body))?;
        self.length.contains(&(end - body)).then_some(start..end)
    }
}

/// `eyJ`, the beginning of a JWT: base64url of `{"`. The header has to decode to one.
fn jwt(text: &[u8], start: usize) -> Option<Range<usize>> {
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

fn is_jwt_header(part: &[u8]) -> bool {
    let decoded = || URL_SAFE_NO_PAD.decode(part).ok();
    part.len() > MAX_JWT_HEADER
        || decoded()
            .and_then(|bytes| serde_json::from_slice::<Map<String, Value>>(&bytes).ok())
            .is_some_and(|header| header.contains_key("alg"))
}

/// `SG.`, the beginning of a SendGrid key: two parts follow.
fn sendgrid(text: &[u8], start: usize) -> Option<Range<usize>> {
    let first = start + "SG.".len();
    let dot = run(text, first, is_url_safe);
    let fits = starts_word(text, start) && dot - first >= 16;
    let end = text[dot..].starts_with(b".").then(|| run(text, dot + 1, is_url_safe))?;
    (fits && end - dot > 16).then_some(start..end)
}

/// `:AA`, the middle of a Telegram bot token: the bot's number stands before it.
fn telegram(text: &[u8], colon: usize) -> Option<Range<usize>> {
    let digits = text[..colon].iter().rev().take(11).take_while(|byte| byte.is_ascii_digit()).count();
    let start = colon - digits;
    let end = run(text, colon + 1, is_url_safe);
    let fits = (8..=10).contains(&digits) && end - colon > 33;
    // In a URL of the Bot API the number follows the word `bot`.
    (fits && (starts_word(text, start) || text[..start].ends_with(b"bot"))).then_some(start..end)
}

/// `earer `, of a bearer token (RFC 6750). A word has no digit.
fn bearer(text: &[u8], start: usize) -> Option<Range<usize>> {
    let token = behind_scheme(text, start, EARER)?;
    (token.len() >= MIN_BEARER && text[token.clone()].iter().any(u8::is_ascii_digit)).then_some(token)
}

/// `asic `, of a user and a password (RFC 7617), which have a colon between them. Without a password it is no credential:
/// so is what stands before the mark of one that was taken out.
fn basic(text: &[u8], start: usize) -> Option<Range<usize>> {
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

/// `-----BEGIN `: a private key block up to its end, or what is left of one that was cut off.
fn private_key(text: &[u8], start: usize) -> Option<Range<usize>> {
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

fn is_key_label(label: &[u8]) -> bool {
    label.ends_with(b"PRIVATE KEY") || label.ends_with(b"PRIVATE KEY BLOCK")
}

/// The passwords in front of the host, in URLs.
fn url_passwords(text: &[u8]) -> impl Iterator<Item = Found> {
    let password = |at| Some(Found { range: url_password(text, at)?, kind: URL_PASSWORD, more: is_authority });
    memchr::memchr_iter(b'@', text).filter_map(password)
}

/// The password in the authority of which the first `@` stands here.
fn url_password(text: &[u8], at: usize) -> Option<Range<usize>> {
    let start = text[..at].iter().rposition(|byte| *byte == b'@' || !is_authority(*byte))? + 1;
    if !text[..start].ends_with(b"://") {
        return None;
    }
    // A password can hold an `@`, and a user no `:`.
    let authority = &text[start..run(text, at, is_authority)];
    let userinfo = &authority[..memchr::memrchr(b'@', authority)?];
    let password = &userinfo[memchr::memchr(b':', userinfo)? + 1..];
    let placeholders = ["{", "$", "[", "*", "%s", "%("];
    let filled_in = !password.is_empty() && !placeholders.iter().any(|p| password.starts_with(p.as_bytes()));
    let end = start + userinfo.len();
    filled_in.then_some(end - password.len()..end)
}

/// Whether a word begins at `at`.
fn starts_word(text: &[u8], at: usize) -> bool {
    let before = text[..at].last();
    !before.is_some_and(|byte| is_alnum(*byte)) || follows_escape(text, at)
}

/// Whether what stands before `at` is no letter but an escape: `\n`, `%3D`.
fn follows_escape(text: &[u8], at: usize) -> bool {
    match &text[..at] {
        [.., b'%', high, low] => high.is_ascii_hexdigit() && low.is_ascii_hexdigit(),
        [.., b'\\', letter] => b"nrt".contains(letter),
        _ => false,
    }
}

/// Where the run of `body` that begins at `start` ends.
pub(super) fn run(text: impl AsRef<[u8]>, start: usize, body: impl Fn(u8) -> bool) -> usize {
    let rest = &text.as_ref()[start..];
    start + rest.iter().position(|byte| !body(*byte)).unwrap_or(rest.len())
}

fn is_alnum(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn is_word(byte: u8) -> bool {
    is_alnum(byte) || byte == b'_'
}

fn is_url_safe(byte: u8) -> bool {
    is_word(byte) || byte == b'-'
}

fn is_jwt(byte: u8) -> bool {
    is_url_safe(byte) || byte == b'.'
}

fn is_key_body(byte: u8) -> bool {
    is_base64(byte) || byte.is_ascii_whitespace() || byte == b'\\'
}

fn is_authority(byte: u8) -> bool {
    !breaks(byte) && !b"/?#".contains(&byte)
}

fn is_base64(byte: u8) -> bool {
    is_alnum(byte) || b"+/=".contains(&byte)
}

/// As RFC 9110, 11.2, has it.
fn is_token68(byte: u8) -> bool {
    is_base64(byte) || b"-._~".contains(&byte)
}

fn is_upper(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

fn is_lower_hex(byte: u8) -> bool {
    byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What is found in `text`, without what stands around it.
    #[track_caller]
    fn check(text: &str, expected: Option<(&str, &str)>) {
        let mut spans = Vec::new();
        find(text, &mut spans);
        let found = spans.first().map(|span| (span.label, &text[span.range.clone()]));
        assert_eq!(found, expected.map(|(kind, value)| (Label::Kind(tokens_kind(kind)), value)), "{text}");
    }

    fn tokens_kind(kind: &str) -> &'static str {
        let kinds = TOKENS.iter().map(|token| token.kind).chain(SHAPES.iter().map(|shape| shape.kind));
        kinds.chain([URL_PASSWORD]).find(|known| *known == kind).unwrap()
    }

    #[test]
    fn tokens_are_known_by_their_form() {
        let letters = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0fGhIj1k2l3";
        for (kind, token) in [
            ("openai", format!("sk-{}", &letters[..20])),
            ("openai", "sk-abcdefghijklmnopqrstuvwxyz".into()),
            ("openai", format!("sk-proj-{}-{}_x", &letters[..20], &letters[..9])),
            ("openai", format!("sk-svcacct-{letters}")),
            ("openai", format!("sk-admin-{letters}")),
            ("anthropic", format!("sk-ant-api03-{}-AA", &letters[..24])),
            ("anthropic", format!("sk-ant-oat01-{letters}")),
            ("openrouter", format!("sk-or-v1-{letters}")),
            ("groq", format!("gsk_{letters}")),
            ("aws", "AKIAIOSFODNN7EXAMPLE".into()),
            ("aws", "ASIAIOSFODNN7EXAMPLE".into()),
            ("github", format!("ghp_{}", &letters[..36])),
            ("github", format!("gho_{}", &letters[..36])),
            ("github", format!("ghu_{}", &letters[..36])),
            ("github", format!("ghs_{}", &letters[..36])),
            ("github", format!("ghr_{}", &letters[..36])),
            ("github", format!("github_pat_{}_{letters}", &letters[..22])),
            ("gitlab", format!("glpat-{}", &letters[..20])),
            ("stripe", format!("sk_live_{}", &letters[..24])),
            ("stripe", format!("rk_test_{}", &letters[..24])),
            ("stripe", format!("whsec_{}", &letters[..32])),
            ("google", format!("AIza{}", &letters[..35])),
            ("slack", format!("xoxb-1234567890-{}", &letters[..24])),
            ("slack", format!("xapp-1-A0123-{}", &letters[..24])),
            ("twilio", "SK0123456789abcdef0123456789abcdef".into()),
            ("sendgrid", format!("SG.{}.{letters}", &letters[..22])),
            ("npm", format!("npm_{}", &letters[..36])),
            ("huggingface", format!("hf_{}", &letters[..34])),
            ("nearai", format!("sess_{}", &letters[..32])),
            ("ironclaw", format!("icsbx_{}-_", &letters[..20])),
            ("telegram", format!("123456789:AA{}", &letters[..33])),
            ("jwt", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl".into()),
            ("jwt", "eyJhbGciOiJkaXIiLCJlbmMiOiJBMTI4R0NNIn0..aXY.Y2lwaGVy.dGFn".into()),
        ] {
            for (before, after) in [("", ""), ("x='", "'"), ("(", ")"), ("\\n", "\\n"), ("%3D", "&"), ("ä", "ä")] {
                check(&format!("{before}{token}{after}"), Some((kind, &token)));
            }
        }
    }

    #[test]
    fn a_token_is_found_beside_any_other() {
        let (twilio, github) = ("SK0123456789abcdef0123456789abcdef", "ghp_aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0fGhIj1");
        for text in [format!("{twilio} {github} {twilio}"), format!("{github},{twilio},{github}")] {
            let mut found: Vec<_> = found(text.as_bytes()).map(|found| found.range).collect();
            found.sort_by_key(|range| range.start);
            assert_eq!(
                found.into_iter().map(|range| &text[range]).collect::<Vec<_>>(),
                text.split([' ', ',']).collect::<Vec<_>>()
            );
        }
        check(&format!("DISK {twilio}"), Some(("twilio", twilio)));
    }

    #[test]
    fn what_an_authorization_holds_is_known_by_its_scheme() {
        let token = "aB3dE6gH9j.K2mN5p~Q8sT1v/W4yZ7bC==";
        for before in ["Authorization: Bearer ", "{\"authorization\": \"bearer ", "Bearer ", "\\nBearer ", "%22bearer "]
        {
            check(&format!("{before}{token}\""), Some(("bearer", token)));
        }
        for pair in ["QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "dXNlcjpwYXNzd29yZA", "Onh5eg=="] {
            check(&format!("Proxy-Authorization: Basic {pair}\r\n"), Some(("basic", pair)));
            check(&format!("-H 'authorization: basic {pair}'"), Some(("basic", pair)));
        }
        for text in [
            "Bearer authentication_scheme_parameters",
            "Bearer abc123",
            "Bearer {token_of_the_service_1}",
            "forbearer aB3dE6gH9jK2mN5pQ8sT1vW4yZ7b",
            "earer aB3dE6gH9jK2mN5pQ8sT1vW4yZ7b",
            "Basic authentication",
            "Basic aB3dE6gH9jK2mN5pQ8sT1vW4yZ7b",
            "basic QWxhZGRpbg==",
            "Basic YWdlbnQ6",
            "Basic ",
            "asic dXNlcjpwYXNzd29yZA",
        ] {
            check(text, None);
        }
    }

    #[test]
    fn passwords_in_urls_and_private_keys_are_known_by_their_form() {
        for (text, password) in [
            ("https://user:pass@host/path", "pass"),
            ("mongodb+srv://app:p%40ss@cluster0.example.net/db", "p%40ss"),
            ("postgres://app:p@ss:word@localhost:5432/db", "p@ss:word"),
            ("redis://:hunter2@10.0.0.1", "hunter2"),
            ("https://user:pässwörd@host", "pässwörd"),
            ("see https://example.com/@x and a@b.c, then ftp://u:pa@ss@host/@", "pa@ss"),
        ] {
            check(text, Some(("url_password", password)));
        }
        for label in ["RSA PRIVATE KEY", "PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK"] {
            let body = "MIIEpAIBAAKCAQEA1c7+9z5Pad7OejecsQ0bu3aumQ";
            let block = format!("-----BEGIN {label}-----\nVersion: x\n{body}\n-----END {label}-----");
            check(&format!("key: {block}\nrest"), Some(("private_key", &block)));
            let cut = format!("-----BEGIN {label}-----\\n{body}");
            check(&format!("{cut}\" rest"), Some(("private_key", &cut)));
        }
        let block =
            "-----BEGIN PRIVATE KEY-----\nMIIEpAIBAAKCAQEA1c7+9z5Pad7OejecsQ0bu3aumQ\n-----END PRIVATE KEY-----";
        check(&format!("sk{block}"), Some(("private_key", block)));
    }

    #[test]
    fn what_only_looks_alike_stays() {
        for text in [
            "task-abcdefghijklmnopqrstuvwxyz",
            "sk-short",
            "sk-fading-circle-container-element",
            "AKIAIOSFODNN7EXAMPLEANDMORE",
            "xAKIAIOSFODNN7EXAMPLE",
            "SK0123456789abcdef0123456789abcdef0",
            "SK",
            "SKSKSK",
            "DISK0123456789abcdef0123456789abcdef",
            "ghp_short",
            "pk_live_aB3dE6gH9jK2mN5pQ8sT1vW4",
            "sess_aB3dE6gH9jK2mN5pQ8sT1vW4",
            "sess_id_of_the_connection_that_is_open_now",
            "icsbx_short",
            "xoxz-1234567890-abcdef and xox",
            "hf_hub_download and npm_config_registry",
            "SG.Controllers.Something.Else.That.Is.Very.Long",
            "12:30:AA",
            "eyJub3QiOiJhIGp3dCJ9.eyJzdWIiOiIxIn0.x",
            "eyJhbGciOiJIUzI1NiJ9",
            "https://example.com/a@b:c and ssh://git@github.com",
            "https://user:{password}@host, https://user:$PASS@host, https://user:<pass>@host, https://u:@host",
            "//u:p@host /u:p@host :u:p@host u:p@host @ @@ ://@ x://u@host:80/p:q@r",
            "-----BEGIN CERTIFICATE-----\nMIIEpAIBAAKCAQEA1c7+9z5Pad7OejecsQ0bu3aumQ\n-----END CERTIFICATE-----",
            "begin = \"-----BEGIN PRIVATE KEY-----\"\nend = \"-----END PRIVATE KEY-----\"",
        ] {
            check(text, None);
        }
    }

    proptest! {
        #[test]
        fn passwords_are_found_by_the_at_as_by_the_slashes(text in "[ab:/@?\\{ \"\u{e4}]{0,40}", url in "(://a?:?b?@?[ab]?){0,3}") {
            let text = text + &url;
            let authorities = text.match_indices("://").map(|(slashes, _)| {
                let rest = &text[slashes + 3..];
                (slashes + 3, rest.split(|c: char| "/?# \"".contains(c)).next().unwrap())
            });
            let passwords = authorities.filter_map(|(start, authority)| {
                let (userinfo, _) = authority.rsplit_once('@')?;
                let (user, password) = userinfo.split_once(':')?;
                let start = start + user.len() + 1;
                (!password.is_empty() && !password.starts_with('{')).then_some(start..start + password.len())
            });
            let found = url_passwords(text.as_bytes()).map(|found| found.range);
            prop_assert_eq!(found.collect::<Vec<_>>(), passwords.collect::<Vec<_>>());
        }
    }

    /// More of them, or shorter ones, make the search many times slower.
    #[test]
    fn anchors_are_few_and_not_too_short() {
        assert!(SEARCH.detectors.len() <= 32, "{}", SEARCH.detectors.len());
        assert!(SEARCH.automaton.min_pattern_len() >= MIN_ANCHOR);
    }
}
