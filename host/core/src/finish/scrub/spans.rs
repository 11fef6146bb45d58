//! What is to be replaced in a text, and the marks that stand there afterwards.

use std::collections::HashMap;
use std::ops::Range;

use super::{keys, tokens};

/// How every mark begins.
pub(super) const OPENING: &str = "[REDACTED:";

/// The longest inside of a mark that is looked at.
const MAX_INSIDE: usize = 96;

/// Counting ends here, so that the digits of a mark are too few to be anybody's secret.
const MAX_NUMBER: usize = 99_999;

/// What stands for a value that was taken out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Label<'a> {
    /// A known value: the name of the secret.
    Secret(&'a str),
    /// A value of a known form: its kind, numbered by distinct value.
    Kind(&'static str),
}

/// A part of a text that must not be seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span<'a> {
    pub(super) range: Range<usize>,
    pub(super) label: Label<'a>,
}

impl Span<'_> {
    /// The label of overlapping spans is that of the known value, else of the longest, else of the last found.
    fn rank(&self) -> (bool, usize) {
        (matches!(self.label, Label::Secret(_)), self.range.len())
    }
}

/// Joins spans that overlap and brings them into order.
pub(super) fn merge(mut spans: Vec<Span<'_>>) -> Vec<Span<'_>> {
    spans.sort_by_key(|span| span.range.start);
    let mut merged: Vec<Span<'_>> = Vec::with_capacity(spans.len());
    for span in spans {
        match merged.last_mut() {
            Some(last) if span.range.start < last.range.end => {
                if span.rank() >= last.rank() {
                    last.label = span.label;
                }
                last.range.end = last.range.end.max(span.range.end);
            }
            _ => merged.push(span),
        }
    }
    merged
}

/// Writes marks, and numbers those of one output.
#[derive(Debug, Default)]
pub(super) struct Marks {
    numbers: HashMap<&'static str, HashMap<Vec<u8>, usize>>,
}

impl Marks {
    /// The mark that stands for `value`.
    pub(super) fn mark(&mut self, label: Label<'_>, value: impl AsRef<[u8]>) -> String {
        match label {
            Label::Secret(name) => format!("{OPENING}{name}]"),
            Label::Kind(kind) => format!("{OPENING}{kind}#{}]", self.number(kind, value.as_ref())),
        }
    }

    /// `text` with a mark in the place of every span. The spans are in order and do not overlap.
    pub(super) fn replace(&mut self, text: &str, spans: &[Span<'_>]) -> String {
        let mut clean = String::with_capacity(text.len());
        let mut copied = 0;
        for Span { range, label } in spans {
            clean.push_str(&text[copied..range.start]);
            clean.push_str(&self.mark(*label, &text[range.clone()]));
            copied = range.end;
        }
        clean.push_str(&text[copied..]);
        clean
    }

    fn number(&mut self, kind: &'static str, value: &[u8]) -> usize {
        let values = self.numbers.entry(kind).or_default();
        if let Some(number) = values.get(value) {
            return *number;
        }
        let number = values.len().saturating_add(1).min(MAX_NUMBER);
        values.insert(value.to_owned(), number);
        number
    }
}

/// The marks that `text` holds already. `is_secret` tells the names of secrets; kinds are those of the scrubber's own.
pub(super) fn marks_in(text: &str, is_secret: impl Fn(&str) -> bool) -> Vec<Range<usize>> {
    text.match_indices(OPENING)
        .filter_map(|(start, _)| {
            let inside = start + OPENING.len();
            let length = text.as_bytes()[inside..].iter().take(MAX_INSIDE).position(|byte| *byte == b']')?;
            let name = &text[inside..inside + length];
            (is_secret(name) || is_numbered_kind(name)).then_some(start..inside + length + 1)
        })
        .collect()
}

fn is_numbered_kind(name: &str) -> bool {
    name.split_once('#').is_some_and(|(kind, number)| {
        let digits = (1..=5).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit());
        digits && (tokens::is_kind(kind) || keys::is_kind(kind))
    })
}
