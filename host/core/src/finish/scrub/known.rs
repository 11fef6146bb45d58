//! The values that this host knows to be secret, found in texts.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, AhoCorasickKind, BuildError, Input, Match, MatchKind};

use super::spans::{Label, OPENING, Span};
use super::spellings::spellings;
use super::stems::{Pattern, longest, patterns};
use crate::secret::Secret;

/// The longest part of a secret's name that a mark shows.
const MAX_NAME: usize = 64;

/// As many forms as a vectorised search can look for at once.
const FORMS_AT_ONCE: usize = 64;

/// With more forms than this, a single slower search is the faster one.
const MANY_FORMS: usize = 16 * FORMS_AT_ONCE;

/// Finds known values. Its `Debug` form shows their names only.
#[derive(Default)]
pub(super) struct KnownValues {
    searches: Vec<Arc<Search>>,
    names: BTreeSet<String>,
}

struct Search {
    automaton: AhoCorasick,
    patterns: Vec<Pattern>,
}

impl KnownValues {
    pub(super) fn new(secrets: Vec<(String, Secret)>) -> Result<Self, BuildError> {
        let mut forms = Vec::new();
        for (name, secret) in secrets {
            forms.extend(spellings(&secret).into_iter().map(|form| (form, shown(&name))));
        }
        let names = forms.iter().map(|(_, name)| name.clone()).collect();
        let mut patterns = patterns(forms);
        let searches = if patterns.len() > MANY_FORMS { 1 } else { patterns.len().div_ceil(FORMS_AT_ONCE).max(1) };
        // In equal parts: a search for very few forms takes shortcuts that ordinary text defeats.
        let at_once = patterns.len().div_ceil(searches).max(1);
        let parts = std::iter::from_fn(|| {
            let part: Vec<Pattern> = patterns.drain(..at_once.min(patterns.len())).collect();
            (!part.is_empty()).then_some(part)
        });
        let searches = parts.map(|part| Search::new(part).map(Arc::new)).collect::<Result<_, _>>()?;
        Ok(Self { searches, names })
    }

    /// These, and `more`; the searches for these are shared.
    pub(super) fn with(&self, more: Self) -> Self {
        let searches = self.searches.iter().cloned().chain(more.searches).collect();
        Self { searches, names: self.names.iter().cloned().chain(more.names).collect() }
    }

    /// Every place in `text` where a known value begins, overlapping ones too.
    pub(super) fn find<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Span<'a>> {
        self.searches.iter().flat_map(|search| search.find(text))
    }

    /// Whether there is a known value in `text`.
    pub(super) fn is_in(&self, text: &str) -> bool {
        self.find(text).next().is_some()
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
    fn new(patterns: Vec<Pattern>) -> Result<Self, BuildError> {
        let kind = Some(AhoCorasickKind::ContiguousNFA);
        let texts = patterns.iter().map(Pattern::text);
        let automaton = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).kind(kind).build(texts)?;
        Ok(Self { automaton, patterns })
    }

    fn find<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Span<'a>> {
        let mut from = 0;
        std::iter::from_fn(move || {
            loop {
                let found = self.automaton.find(Input::new(text).range(from..))?;
                from = found.start() + 1;
                if let Some(span) = self.longest(text, &found) {
                    return Some(span);
                }
            }
        })
    }

    /// The longest form that begins where the pattern `found` does, which is the longest pattern that does.
    fn longest<'a>(&'a self, text: &str, found: &Match) -> Option<Span<'a>> {
        let span = |length, owner| Span { range: found.start()..found.start() + length, label: Label::Secret(owner) };
        match &self.patterns[found.pattern().as_usize()] {
            Pattern::Form(form) => Some(span(found.len(), &form.owner)),
            Pattern::Stem(forms) => match longest(forms, &text.as_bytes()[found.start()..]) {
                Some(form) => Some(span(form.text.len(), &form.owner)),
                // Then, of the forms that are shorter than a stem.
                None => {
                    let shorter = Input::new(text).range(found.start()..found.end() - 1);
                    let shorter = self.automaton.find(shorter).filter(|shorter| shorter.start() == found.start())?;
                    self.longest(text, &shorter)
                }
            },
        }
    }
}

/// What stands in the place of the value of the secret `name`.
pub fn mark(name: &str) -> String {
    format!("{OPENING}{}]", shown(name))
}

/// A secret's name as a mark shows it: without what could end the mark or break the JSON around it.
fn shown(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "_.-/".contains(c) { c } else { '_' };
    name.chars().take(MAX_NAME).map(plain).collect()
}
