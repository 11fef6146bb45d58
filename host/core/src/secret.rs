//! A value that must not be seen, and what may be asked about those that the operator stored.

use std::fmt;

use async_trait::async_trait;
use serde::Serialize;
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::error::ToolError;

/// A secret text. Its `Debug` form hides it, it has no `Display` and no serialised form, and its memory is wiped.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Secret(String);

impl Secret {
    /// Takes over `value`.
    pub fn new(value: String) -> Self {
        Self(value)
    }

    /// The value itself. Only the scrubber, egress and signing open a secret.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// A secret that was asked for by its name, which the operator allows.
#[derive(Clone, Debug)]
pub struct Revealed {
    /// Its name.
    pub name: String,
    /// Its value.
    pub secret: Secret,
}

impl PartialEq for Revealed {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.secret.expose() == other.secret.expose()
    }
}

/// What tools may ask about the operator's secrets.
#[async_trait]
pub trait SecretShelf: Send + Sync {
    /// All secrets, without values.
    ///
    /// # Errors
    /// When they cannot be listed.
    async fn list(&self) -> Result<Vec<SecretNote>, ToolError>;

    /// The value of `name`, if the operator lets it be seen.
    ///
    /// # Errors
    /// When they do not, or when there is none.
    async fn reveal(&self, name: &str) -> Result<Revealed, ToolError>;
}

/// A secret, without its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SecretNote {
    /// Its name.
    pub name: String,
    /// The credentials that it stands behind.
    pub used_for: Vec<SecretUse>,
}

/// A credential that a secret stands behind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SecretUse {
    /// The source of the tools that use it.
    pub source: String,
    /// What their package calls it. Under the name `credential` the scrubber would hide it.
    #[serde(rename = "called")]
    pub credential: String,
    /// Where in a request it is placed, or what is obtained with it.
    pub place: String,
    /// What it is, in the words of the package.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_wiped_and_that_happens_at_its_end() {
        fn wiped_at_its_end<T: ZeroizeOnDrop>(_: &T) {}
        let mut secret = Secret::new("hunter2".into());
        wiped_at_its_end(&secret);
        secret.zeroize();
        assert_eq!(secret.expose(), "");
    }

    #[test]
    fn debug_hides_the_value() {
        assert_eq!(format!("{:?}", Secret::new("hunter2".into())), "Secret(…)");
    }
}
