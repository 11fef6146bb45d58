//! What became of each field.

use serde::Serialize;

use super::fields::Fields;

/// What became of one field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// Where it stands, such as `http.allowlist[0]`.
    pub field: String,
    /// What became of it.
    pub outcome: Outcome,
    /// Whether IronClaw enforces or uses it. What it only parses had no effect there.
    pub enforced_there: bool,
    /// What it is here, or why it is nothing.
    pub text: String,
}

/// What became of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It stands in the manifest.
    Mapped,
    /// It has no equivalent.
    NotSupported,
}

/// The entries so far.
#[derive(Default)]
pub(super) struct Report(Vec<Entry>);

impl Report {
    pub(super) fn mapped(&mut self, field: &str, enforced_there: bool, text: &str) {
        self.add(field, Outcome::Mapped, enforced_there, text);
    }

    pub(super) fn left_out(&mut self, field: &str, enforced_there: bool, text: &str) {
        self.add(field, Outcome::NotSupported, enforced_there, text);
    }

    /// What is left of `fields` is nobody's.
    pub(super) fn unknown(&mut self, fields: Fields) {
        for field in fields.rest() {
            self.left_out(&field, false, "IronClaw does not know it either");
        }
    }

    pub(super) fn entries(self) -> Vec<Entry> {
        self.0
    }

    fn add(&mut self, field: &str, outcome: Outcome, enforced_there: bool, text: &str) {
        self.0.push(Entry { field: field.to_owned(), outcome, enforced_there, text: text.to_owned() });
    }
}
