//! Scrubs the texts of one output. Equal values get equal marks throughout it.

use std::borrow::Cow;
use std::ops::Range;

use super::known::KnownValues;
use super::spans::{Label, Marks, Span, marks_in, merge};
use super::{MIN_SECRET, assignments, json, tokens};

/// Scrubs one output.
pub(super) struct Redactor<'a> {
    known: &'a KnownValues,
    marks: Marks,
}

impl<'a> Redactor<'a> {
    pub(super) fn new(known: &'a KnownValues) -> Self {
        Self { known, marks: Marks::default() }
    }

    /// Scrubs a text. It comes back owned only if it had to change.
    pub(super) fn text<'t>(&mut self, text: &'t str) -> Cow<'t, str> {
        let mut clean = Cow::Borrowed(text);
        if text.len() < MIN_SECRET {
            return clean;
        }
        // What is left of a text can be a match, or JSON, only now: so until nothing is found. Every round takes
        // something out, and the second seldom finds anything.
        while let Some(cleaner) = self.round(&clean) {
            clean = Cow::Owned(cleaner);
        }
        clean
    }

    /// Takes known values out of `text`, and nothing else; `None` where there are none.
    pub(super) fn known_only(&mut self, text: &str) -> Option<String> {
        self.replace(text, self.known.find(text).collect())
    }

    /// Whether there is a known value in `text`.
    pub(super) fn holds_known(&self, text: &str) -> bool {
        self.known.is_in(text)
    }

    /// The mark that stands for the whole of `text` if it holds a known value.
    pub(super) fn known_mark(&mut self, text: &str) -> Option<String> {
        let label = self.known.find(text).next()?.label;
        Some(self.marks.mark(label, text))
    }

    /// The mark that stands for the whole of `text`, whatever it is; `None` where it is one, or empty.
    pub(super) fn hide(&mut self, text: &str, kind: &'static str) -> Option<String> {
        if text.is_empty() || self.marks_in(text).first() == Some(&(0..text.len())) {
            return None;
        }
        self.known_mark(text).or_else(|| Some(self.marks.mark(Label::Kind(kind), text)))
    }

    fn round(&mut self, text: &str) -> Option<String> {
        if json::looks_like_json(text) {
            if !self.may_have_to_change(text) {
                return None;
            }
            if json::is_json(text) {
                // A known value can lie across several tokens. Then it goes, and the JSON with it.
                return self.document(text).or_else(|| self.known_only(text));
            }
        }
        let mut spans = Vec::new();
        assignments::find(text, &mut spans);
        tokens::find(text, &mut spans);
        spans.extend(self.known.find(text));
        self.replace(text, spans)
    }

    /// A quick look, since most JSON holds nothing. Behind a backslash there may be anything.
    fn may_have_to_change(&self, json: &str) -> bool {
        json.contains('\\') || assignments::may_be_in(json) || tokens::may_be_in(json) || self.known.is_in(json)
    }

    fn replace(&mut self, text: &str, spans: Vec<Span<'_>>) -> Option<String> {
        if spans.is_empty() {
            return None;
        }
        let marks = self.marks_in(text);
        let spans = merge(spans.into_iter().filter_map(|span| beside(span, &marks)).collect());
        (!spans.is_empty()).then(|| self.marks.replace(text, &spans))
    }

    fn marks_in(&self, text: &str) -> Vec<Range<usize>> {
        marks_in(text, |name| self.known.is_name(name))
    }
}

/// `span` as far as the marks that stand in the text already let it be. What looks like a credential with a mark in it
/// or beside it is none. A known value inside a mark is part of a name; one that only begins or ends there takes the
/// mark along.
fn beside<'a>(span: Span<'a>, marks: &[Range<usize>]) -> Option<Span<'a>> {
    let Range { start, end } = span.range;
    let first = marks.partition_point(|mark| mark.end < start);
    let touched = &marks[first..first + marks[first..].partition_point(|mark| mark.start <= end)];
    match span.label {
        Label::Kind(_) => touched.is_empty().then_some(span),
        Label::Secret(_) if touched.iter().any(|mark| mark.start <= start && end <= mark.end) => None,
        Label::Secret(_) => {
            let overlapping = || touched.iter().filter(|mark| mark.start < end && start < mark.end);
            let start = overlapping().map(|mark| mark.start).fold(start, usize::min);
            let end = overlapping().map(|mark| mark.end).fold(end, usize::max);
            Some(Span { range: start..end, ..span })
        }
    }
}
