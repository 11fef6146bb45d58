//! The values that this host knows to be secret, in every spelling in which they tend to come back.

use std::collections::BTreeSet;
use std::fmt;

use aho_corasick::{AhoCorasick, AhoCorasickKind, BuildError, Input, MatchKind};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use super::spans::{Label, Span};
use crate::secret::Secret;

/// The longest part of a secret's name that a mark shows.
const MAX_NAME: usize = 64;

/// As many forms as a vectorised search can look for at once.
const FORMS_AT_ONCE: usize = 64;

/// With more forms than this, a single slower search is the faster one.
const MANY_FORMS: usize = 16 * FORMS_AT_ONCE;

/// Finds known values. Its `Debug` form shows their names only.
pub(super) struct KnownValues {
    searches: Vec<Search>,
    names: BTreeSet<String>,
}

struct Search {
    forms: AhoCorasick,
    /// The name of the secret of each form.
    owners: Vec<String>,
}

impl KnownValues {
    pub(super) fn new(secrets: Vec<(String, Secret)>) -> Result<Self, BuildError> {
        let mut forms = Vec::new();
        for (name, secret) in secrets {
            forms.extend(spellings(secret.expose()).into_iter().map(|form| (form, shown(&name))));
        }
        let names = forms.iter().map(|(_, name)| name.clone()).collect();
        let searches = if forms.len() > MANY_FORMS { 1 } else { forms.len().div_ceil(FORMS_AT_ONCE).max(1) };
        // In equal parts: a search for very few forms takes shortcuts that ordinary text defeats.
        let at_once = forms.len().div_ceil(searches).max(1);
        let searches = forms.chunks(at_once).map(Search::new).collect::<Result<_, _>>()?;
        Ok(Self { searches, names })
    }

    /// Every place in `text` where a known value begins, overlapping ones too.
    pub(super) fn find<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Span<'a>> {
        self.searches.iter().flat_map(|search| search.find(text))
    }

    /// Whether there is a known value in `text`.
    pub(super) fn is_in(&self, text: &str) -> bool {
        self.searches.iter().any(|search| search.forms.is_match(text))
    }

    /// Whether a secret is shown as `name`.
    pub(super) fn is_name(&self, name: &str) -> bool {
        self.names.contains(name)
    }
}

impl fmt::Debug for KnownValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(&self.names).finish()
    }
}

impl Search {
    fn new(forms: &[(String, String)]) -> Result<Self, BuildError> {
        let (forms, owners): (Vec<&String>, Vec<String>) =
            forms.iter().map(|(form, name)| (form, name.clone())).unzip();
        let kind = Some(AhoCorasickKind::ContiguousNFA);
        let forms = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).kind(kind).build(forms)?;
        Ok(Self { forms, owners })
    }

    fn find<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Span<'a>> {
        let mut from = 0;
        std::iter::from_fn(move || {
            let found = self.forms.find(Input::new(text).range(from..))?;
            from = found.start() + 1;
            Some(Span { range: found.range(), label: Label::Secret(&self.owners[found.pattern().as_usize()]) })
        })
    }
}

/// A secret's name as a mark shows it: without what could end the mark or break the JSON around it.
fn shown(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "_.-/".contains(c) { c } else { '_' };
    name.chars().take(MAX_NAME).map(plain).collect()
}

fn spellings(value: &str) -> BTreeSet<String> {
    let mut forms = BTreeSet::from([value.to_owned()]);
    forms.extend(percent(value));
    forms.extend(base64(value.as_bytes()));
    forms.extend(hex(value.as_bytes()));
    forms.extend(json(value));
    forms
}

/// Percent-encoding with the three usual sets of characters that stay as they are: RFC 3986, JavaScript's
/// `encodeURIComponent`, and HTML forms, where a space is a `+`.
fn percent(value: &str) -> impl Iterator<Item = String> {
    let sets = ["-_.~", "-_.!~*'()", "-_.* "];
    sets.into_iter().flat_map(move |stays| [true, false].map(|upper| percent_with(value, stays, upper)))
}

fn percent_with(value: &str, stays: &str, upper: bool) -> String {
    let encode = |byte: u8| match char::from(byte) {
        ' ' if stays.contains(' ') => "+".to_owned(),
        c if c.is_ascii_alphanumeric() || stays.contains(c) => c.to_string(),
        _ if upper => format!("%{byte:02X}"),
        _ => format!("%{byte:02x}"),
    };
    value.bytes().map(encode).collect()
}

/// The characters that are the same whatever stands before and after the value, for each of the three ways in which
/// it can lie in groups of three bytes.
fn base64(value: &[u8]) -> impl Iterator<Item = String> {
    (0..3).flat_map(move |before| {
        let bytes = [&[0; 2][..before], value].concat();
        let first = (before * 8).div_ceil(6);
        let end = bytes.len() * 8 / 6;
        [STANDARD_NO_PAD, URL_SAFE_NO_PAD].map(|engine| engine.encode(&bytes)[first..end].to_owned())
    })
}

fn hex(value: &[u8]) -> [String; 2] {
    let lower: String = value.iter().map(|byte| format!("{byte:02x}")).collect();
    [lower.to_uppercase(), lower]
}

/// The inside of a JSON string as the common writers spell it: plain, with `/` escaped, ASCII only, safe in HTML.
fn json(value: &str) -> [String; 4] {
    let quoted = serde_json::Value::from(value).to_string();
    let plain = quoted[1..quoted.len() - 1].to_owned();
    let ascii = unicode_escaped(&plain, |c| !c.is_ascii());
    let html = unicode_escaped(&plain, |c| "<>&".contains(c));
    [plain.replace('/', "\\/"), plain, ascii, html]
}

fn unicode_escaped(text: &str, escapes: impl Fn(char) -> bool) -> String {
    text.chars().map(|c| if escapes(c) { unicode_escape(c) } else { c.into() }).collect()
}

fn unicode_escape(c: char) -> String {
    c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect()
}
