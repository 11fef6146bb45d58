//! Names, exact or with a wildcard, as manifests and grants list them.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The longest pattern, in bytes.
const MAX_PATTERN: usize = 256;

/// A name, exact or with `*` at its end: `github_token`, `github_*`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(extend("pattern" = r"^[a-z0-9_.-]+\*?$"))]
pub struct NamePattern {
    start: String,
    open: bool,
}

/// The text is no pattern of names.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} names nothing: write a name of a-z, 0-9, `_`, `.` and `-`, exact or with `*` at its end")]
pub struct NamePatternError(String);

impl NamePattern {
    /// Whether `name` is meant.
    pub fn matches(&self, name: &str) -> bool {
        if self.open { name.starts_with(&self.start) } else { name == self.start }
    }

    /// The name, where only one is meant.
    pub fn exact(&self) -> Option<&str> {
        (!self.open).then_some(&self.start)
    }

    /// Whether any name is meant by this and by `other`.
    pub fn meets(&self, other: &Self) -> bool {
        // One that is open means its own start as well, and where both are, the longer start is meant by both.
        self.matches(&other.start) || other.matches(&self.start)
    }
}

impl TryFrom<String> for NamePattern {
    type Error = NamePatternError;

    fn try_from(text: String) -> Result<Self, NamePatternError> {
        let (start, open) = text.strip_suffix('*').map_or((text.as_str(), false), |start| (start, true));
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_.-".contains(&byte);
        // A lone `*` would mean every secret that there is or will be.
        if start.is_empty() || text.len() > MAX_PATTERN || !start.bytes().all(plain) {
            return Err(NamePatternError(text.chars().take(MAX_PATTERN).collect()));
        }
        Ok(Self { start: start.to_owned(), open })
    }
}

impl From<NamePattern> for String {
    fn from(pattern: NamePattern) -> Self {
        pattern.to_string()
    }
}

impl fmt::Display for NamePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.start, if self.open { "*" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_exact_or_begins_so() {
        let name = |pattern: &str, name| NamePattern::try_from(pattern.to_owned()).unwrap().matches(name);
        assert!(name("github_token", "github_token") && !name("github_token", "github_token2"));
        assert!(name("github_*", "github_token") && name("github_*", "github_") && !name("github_*", "gitlab_token"));
        let meet = |a: &str, b: &str| {
            let [a, b] = [a, b].map(|text| NamePattern::try_from(text.to_owned()).unwrap());
            assert_eq!(a.meets(&b), b.meets(&a));
            a.meets(&b)
        };
        assert!(meet("git_*", "git_token") && meet("git_*", "git_hub_*") && meet("a", "a") && !meet("a", "b"));
        assert!(!meet("git_*", "gitlab_*") && !meet("git_", "git_token"));
        for wrong in ["", "*", "a*b", "A", "a b", "**"] {
            assert!(NamePattern::try_from(wrong.to_owned()).is_err(), "{wrong}");
        }
    }
}
