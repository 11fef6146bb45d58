//! The search for credentials that their own form gives away, wherever they stand.
//!
//! - [`forms`]: which there are;
//! - [`shapes`], [`private_key`], [`url_password`]: those that are more than a prefix and a run of characters.

mod forms;
mod private_key;
mod shapes;
mod url_password;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, Input, MatchKind};
use memchr::memmem::{self, Finder};

pub(super) use self::forms::is_kind;
use self::forms::{SHAPES, Shape, TOKENS, Token, URL_PASSWORD};
use self::private_key::{BEGIN, is_open_key};
use self::url_password::{is_authority, url_passwords};
use super::chars::breaks;
use super::spans::{Label, Span};

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

/// What may have to be looked at before an anchor, and the longest beginning of one.
pub(super) const BEFORE: usize = 16;

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
    anchored.chain(passwords(text))
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
    found.extend(passwords(text));
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

/// Where the last break is: only a private key goes on behind one.
fn tail(text: &[u8]) -> usize {
    text.iter().rposition(|byte| breaks(*byte)).map_or(0, |last| last + 1)
}

/// Whether `text` has something in it that could be part of a credential of a known form.
pub(super) fn may_be_in(text: &str) -> bool {
    anchors(text.as_bytes()).next().is_some() || url_passwords(text.as_bytes()).next().is_some()
}

/// The passwords in URLs, which have no anchor.
fn passwords(text: &[u8]) -> impl Iterator<Item = Found> {
    url_passwords(text).map(|range| Found { range, kind: URL_PASSWORD, more: is_authority })
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
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let after_another_word = format!("DISK {twilio}");
        let found = found(after_another_word.as_bytes()).map(|found| found.range);
        assert!(found.eq(std::iter::once(5..after_another_word.len())));
    }

    /// More of them, or shorter ones, make the search many times slower.
    #[test]
    fn anchors_are_few_and_not_too_short() {
        assert!(SEARCH.detectors.len() <= 32, "{}", SEARCH.detectors.len());
        assert!(SEARCH.automaton.min_pattern_len() >= MIN_ANCHOR);
    }
}
