//! What a secret is called.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The longest name of a secret, in bytes.
pub const MAX_SECRET_NAME: usize = 64;

/// The name of a secret: `[a-z][a-z0-9_.-]{0,63}`. Names are no secrets; they stand in configuration, logs and lists.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SecretName(String);

/// A text is no name. The text itself is not repeated: who mixes up name and value has typed a secret here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "this is not the name of a secret: it begins with a letter of a-z, goes on with a-z, 0-9, `_`, `.` and `-`, and \
     has at most {MAX_SECRET_NAME} characters"
)]
pub struct SecretNameError;

impl SecretName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name that is nearest to what another program calls its variable: lower case, `_` for every character that
    /// a name cannot have, and nothing before the first letter.
    ///
    /// # Errors
    /// When nothing is left, or too much.
    pub fn cleaned(text: &str) -> Result<Self, SecretNameError> {
        text.trim_start_matches(|c: char| !c.is_ascii_alphabetic())
            .chars()
            .map(|c| if is_name_char(c.to_ascii_lowercase()) { c.to_ascii_lowercase() } else { '_' })
            .collect::<String>()
            .try_into()
    }
}

fn is_name_char(c: char) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '.' | '-')
}

impl TryFrom<String> for SecretName {
    type Error = SecretNameError;

    fn try_from(text: String) -> Result<Self, SecretNameError> {
        let good = text.len() <= MAX_SECRET_NAME
            && text.starts_with(|c: char| c.is_ascii_lowercase())
            && text.chars().all(is_name_char);
        if good { Ok(Self(text)) } else { Err(SecretNameError) }
    }
}

impl FromStr for SecretName {
    type Err = SecretNameError;

    fn from_str(text: &str) -> Result<Self, SecretNameError> {
        text.to_owned().try_into()
    }
}

impl From<SecretName> for String {
    fn from(name: SecretName) -> Self {
        name.0
    }
}

impl fmt::Display for SecretName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_follow_the_rule_and_nothing_else_does() {
        for good in ["a", "github_token", "a.b-c_9", &"a".repeat(MAX_SECRET_NAME)] {
            assert_eq!(good.parse::<SecretName>().map(|name| name.to_string()), Ok(good.to_owned()));
        }
        for bad in ["", "A", "9a", "_a", ".a", "a b", "a/b", "ä", "aä", "a\n", &"a".repeat(MAX_SECRET_NAME + 1)] {
            assert_eq!(bad.parse::<SecretName>(), Err(SecretNameError), "{bad:?}");
            let json = serde_json::to_string(bad).unwrap();
            assert!(serde_json::from_str::<SecretName>(&json).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn the_error_does_not_repeat_what_may_be_a_value() {
        let error = "Hunter2".parse::<SecretName>().unwrap_err();
        assert!(!format!("{error} {error:?}").contains("unter2"));
    }

    #[test]
    fn variables_of_other_programs_become_names() {
        for (text, name) in [("GITHUB_TOKEN", "github_token"), ("__X", "x"), ("a b/c", "a_b_c"), ("9KEY", "key")] {
            assert_eq!(SecretName::cleaned(text).unwrap().as_str(), name);
        }
        for bad in ["", "_", "99", &"A".repeat(MAX_SECRET_NAME + 1)] {
            assert_eq!(SecretName::cleaned(bad), Err(SecretNameError), "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_cleaned_is_a_name_and_stays_as_it_is(text in ".{0,80}") {
            if let Ok(name) = SecretName::cleaned(&text) {
                prop_assert_eq!(name.as_str().parse(), Ok(name.clone()));
                prop_assert_eq!(SecretName::cleaned(name.as_str()), Ok(name));
            }
        }

        #[test]
        fn every_name_is_its_own_cleaned_form(text in "[a-z][a-z0-9_.-]{0,63}") {
            prop_assert_eq!(SecretName::cleaned(&text).map(String::from), Ok(text));
        }
    }
}
