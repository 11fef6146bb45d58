//! Two texts side by side, line by line.

use std::fmt::Write;

use similar::algorithms::{Capture, Compact, Replace, myers};
use similar::udiff::UnifiedHunkHeader;
use similar::{DiffOp, group_diff_ops};

use crate::diff::Changes;
use crate::{anchors, effort};

/// The lines of two texts, and the steps from the one to the other.
pub(crate) struct Comparison<'a> {
    old: Vec<&'a str>,
    new: Vec<&'a str>,
    steps: Vec<DiffOp>,
}

impl<'a> Comparison<'a> {
    /// Compares two texts: by Myers' algorithm, which finds the smallest difference, where that takes little enough work.
    ///
    /// It is called directly, because the crate's `TextDiff` is compiled with five algorithms for all kinds of text: half
    /// a megabyte.
    pub(crate) fn new(old: &'a str, new: &'a str) -> Self {
        let old: Vec<_> = old.split_inclusive('\n').collect();
        let new: Vec<_> = new.split_inclusive('\n').collect();
        let steps = if effort::is_small(&old, &new) { shortest(&old, &new) } else { anchors::steps(&old, &new) };
        Self { old, new, steps }
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
            for step in hunk {
                let (old, new) = (&self.old[step.old_range()], &self.new[step.new_range()]);
                match step {
                    DiffOp::Equal { .. } => push_lines(&mut text, ' ', old),
                    DiffOp::Insert { .. } => push_lines(&mut text, '+', new),
                    DiffOp::Delete { .. } => push_lines(&mut text, '-', old),
                    DiffOp::Replace { .. } => {
                        push_lines(&mut text, '-', old);
                        push_lines(&mut text, '+', new);
                    }
                }
            }
        }
        text
    }
}

fn shortest(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    let mut steps = Compact::new(Replace::new(Capture::new()), old, new);
    let Ok(()) = myers::diff(&mut steps, old, 0..old.len(), new, 0..new.len());
    steps.into_inner().into_inner().into_ops()
}

fn push_lines(text: &mut String, sign: char, lines: &[&str]) {
    for line in lines {
        text.push(sign);
        text.push_str(line);
        if !line.ends_with('\n') {
            text.push_str("\n\\ No newline at end of file\n");
        }
    }
}
