//! Two texts side by side, line by line.

use std::fmt::Write;

use similar::algorithms::{Capture, Compact, Replace, myers};
use similar::udiff::UnifiedHunkHeader;
use similar::{Change, ChangeTag, DiffOp, group_diff_ops};

use crate::diff::Changes;
use crate::effort::{self, TooDifferent};

/// The lines of two texts, and the steps from the one to the other.
pub(crate) struct Comparison<'a> {
    old: Vec<&'a str>,
    new: Vec<&'a str>,
    steps: Vec<DiffOp>,
}

impl<'a> Comparison<'a> {
    /// Compares two texts by Myers' algorithm, which gives up on the smallest difference where finding it takes long.
    ///
    /// It is called directly, because the crate's `TextDiff` is compiled with five algorithms for all kinds of text: half
    /// a megabyte.
    ///
    /// # Errors
    ///
    /// The texts are so different that it would take too long.
    pub(crate) fn new(old: &'a str, new: &'a str) -> Result<Self, TooDifferent> {
        let old: Vec<_> = old.split_inclusive('\n').collect();
        let new: Vec<_> = new.split_inclusive('\n').collect();
        effort::check(&old, &new)?;
        let mut steps = Compact::new(Replace::new(Capture::new()), old.as_slice(), new.as_slice());
        let Ok(()) = myers::diff(&mut steps, old.as_slice(), 0..old.len(), new.as_slice(), 0..new.len());
        let steps = steps.into_inner().into_inner().into_ops();
        Ok(Self { old, new, steps })
    }

    /// How many lines changed.
    pub(crate) fn changes(&self) -> Changes {
        let mut changes = Changes::default();
        for step in &self.steps {
            match *step {
                DiffOp::Equal { .. } => {}
                DiffOp::Insert { new_len, .. } => changes.added += new_len,
                DiffOp::Delete { old_len, .. } => changes.removed += old_len,
                DiffOp::Replace { old_len, new_len, .. } => {
                    changes.added += new_len;
                    changes.removed += old_len;
                }
            }
        }
        changes
    }

    /// The unified diff with `context` equal lines around each change; empty where the texts are equal.
    pub(crate) fn unified(&self, context: usize) -> String {
        let mut text = String::new();
        for hunk in group_diff_ops(self.steps.clone(), context) {
            if text.is_empty() {
                text.push_str("--- old\n+++ new\n");
            }
            // Writing to a `String` cannot fail.
            let _ = writeln!(text, "{}", UnifiedHunkHeader::new(&hunk));
            for change in hunk.iter().flat_map(|step| step.iter_changes(self.old.as_slice(), self.new.as_slice())) {
                push_line(&mut text, change);
            }
        }
        text
    }
}

fn push_line(text: &mut String, change: Change<&str>) {
    text.push(match change.tag() {
        ChangeTag::Equal => ' ',
        ChangeTag::Delete => '-',
        ChangeTag::Insert => '+',
    });
    text.push_str(change.value());
    if !change.value().ends_with('\n') {
        text.push_str("\n\\ No newline at end of file\n");
    }
}
