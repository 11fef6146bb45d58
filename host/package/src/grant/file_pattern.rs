//! Paths below the workspace, exact or with wildcards, as manifests and grants list them.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::plain_text::hides;

/// The longest pattern, in bytes.
const MAX_PATTERN: usize = 1024;

/// Paths below the workspace, by segments: `docs/notes.md`, `docs/*.md` is none, `docs/*` is what lies in a folder,
/// `docs/**` is the folder and all that is below it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct FilePattern(Vec<Segment>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Segment {
    Exact(String),
    /// `*`: any one segment.
    One,
    /// `**`, at the end only: any number of segments, none included.
    Rest,
}

/// The text is no path below the workspace.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "{0:?} is no path below the workspace: write segments joined by `/`, none of them empty, `.` or `..`; `*` stands for \
     one whole segment, `**` at the end for the rest"
)]
pub struct FilePatternError(String);

impl FilePattern {
    /// Whether the path of these segments is meant. The caller has resolved `.` and `..` or refused them.
    pub fn matches(&self, segments: &[&str]) -> bool {
        let mut rest = segments;
        for wanted in &self.0 {
            match (wanted, rest) {
                (Segment::Rest, _) => return true,
                (Segment::Exact(wanted), [first, others @ ..]) if wanted == first => rest = others,
                (Segment::One, [_, others @ ..]) => rest = others,
                _ => return false,
            }
        }
        rest.is_empty()
    }

    /// Whether any path is meant by this and by `other`.
    pub fn meets(&self, other: &Self) -> bool {
        let (own, others) = (&self.0[..], &other.0[..]);
        let both = |(one, other): (&Segment, &Segment)| match (one, other) {
            (Segment::Exact(one), Segment::Exact(other)) => one == other,
            _ => true,
        };
        // `**` stands at the end and takes any rest of the other, none included.
        let open = [own, others].into_iter().filter(|list| list.last() == Some(&Segment::Rest));
        let fixed = open.map(|list| list.len() - 1).min();
        match fixed {
            Some(fixed) if own.len().min(others.len()) >= fixed => own.iter().zip(others).take(fixed).all(both),
            Some(_) => false,
            None => own.len() == others.len() && own.iter().zip(others).all(both),
        }
    }
}

impl TryFrom<String> for FilePattern {
    type Error = FilePatternError;

    fn try_from(text: String) -> Result<Self, FilePatternError> {
        let wrong = || FilePatternError(text.chars().take(MAX_PATTERN).collect());
        if text.len() > MAX_PATTERN || text.chars().any(|c| c.is_control() || hides(c) || c == '\\') {
            return Err(wrong());
        }
        let count = text.split('/').count();
        let segment = |(i, part): (usize, &str)| match part {
            "" | "." | ".." => None,
            "*" => Some(Segment::One),
            "**" => (i + 1 == count).then_some(Segment::Rest),
            _ if part.contains('*') => None,
            _ => Some(Segment::Exact(part.to_owned())),
        };
        text.split('/').enumerate().map(segment).collect::<Option<_>>().map(Self).ok_or_else(wrong)
    }
}

impl From<FilePattern> for String {
    fn from(pattern: FilePattern) -> Self {
        pattern.to_string()
    }
}

impl fmt::Display for FilePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, segment) in self.0.iter().enumerate() {
            let text = match segment {
                Segment::Exact(text) => text,
                Segment::One => "*",
                Segment::Rest => "**",
            };
            write!(f, "{}{text}", if i == 0 { "" } else { "/" })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn path(pattern: &str, path: &str) -> bool {
        let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
        FilePattern::try_from(pattern.to_owned()).unwrap().matches(&segments)
    }

    #[test]
    fn paths_match_by_segments() {
        assert!(path("docs/**", "docs") && path("docs/**", "docs/a/b") && !path("docs/**", "docs2/a"));
        assert!(path("docs/*", "docs/a") && !path("docs/*", "docs") && !path("docs/*", "docs/a/b"));
        assert!(path("**", "") && path("**", "a") && path("a", "a") && !path("a", "a/b"));
        for wrong in ["", "/a", "a/", "a//b", "../a", "a/./b", "**/a", "*.md", "a\\b", "a\nb"] {
            assert!(FilePattern::try_from(wrong.to_owned()).is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_reads_back(pattern in "[a-z*/.]{0,12}") {
            if let Ok(read) = FilePattern::try_from(pattern.clone()) {
                prop_assert_eq!(read.to_string(), pattern);
            }
        }

        #[test]
        fn a_pattern_without_wildcards_means_itself_only(a in "[a-z]{1,3}(/[a-z]{1,3}){0,3}", b in "[a-z]{1,3}(/[a-z]{1,3}){0,3}") {
            prop_assert_eq!(path(&a, &b), a == b);
        }
    }
}
