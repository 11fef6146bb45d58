//! Identities: signers without a key of their own, whom somebody else vouches for.
//!
//! A sigstore certificate says that an OpenID Connect issuer knows somebody by an e-mail address or a URI. Neither says who it
//! is without the other, so both are compared, whole and byte by byte: there are no patterns.

use std::fmt;

use ringfence_store::Digest;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::key::KeyId;
use crate::plain_text;
use crate::signature::sigstore;

/// What is hashed before an identity, so that its id is that of nothing else.
const DOMAIN: &str = "ringfence sigstore identity 1";

/// The largest root of an operator's own, in bytes: some thirty times that of the public instance.
pub const MAX_ROOT_BYTES: usize = 256 << 10;

/// Who somebody is, and who says so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// An e-mail address, or the URI of a workload.
    pub subject: String,
    /// The URL of the OpenID Connect issuer.
    pub issuer: String,
}

/// An identity, and by which root its certificates have to be proven.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrustedIdentity {
    /// The identity.
    pub identity: Identity,
    /// The text of the `trusted_root.json` of the operator's own instance; `None`: the public one's, which is built in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
}

/// Why an identity cannot be trusted.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum IdentityError {
    /// A part of it is no text that people could compare.
    #[error("{0} {1}: write it as it stands in the certificate")]
    Text(&'static str, &'static str),
    /// What is recorded is no identity.
    #[error("this is no identity: {0}; `ringfence trust add --identity WHO --issuer URL` trusts one")]
    Malformed(String),
    /// Over [`MAX_ROOT_BYTES`].
    #[error(
        "the trusted root has {0} bytes, at most {MAX_ROOT_BYTES} are allowed: give the trusted_root.json of a sigstore instance"
    )]
    RootTooLarge(usize),
    /// Not a root by which anything could be proven.
    #[error("the trusted root cannot be used ({0}): give the trusted_root.json of your sigstore instance")]
    Root(String),
    /// This build leaves sigstore out.
    #[error(
        "this ringfence was built without sigstore, so it can verify no identity: build it with \
         `cargo install --locked --path host/ringfence --features sigstore`, or trust a key of the publisher's"
    )]
    NotBuiltIn,
}

impl IdentityError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Text(..) | Self::Malformed(_) => "trust.identity",
            Self::RootTooLarge(_) | Self::Root(_) => "trust.root",
            Self::NotBuiltIn => "trust.not_built_in",
        }
    }
}

impl Identity {
    /// `subject` as `issuer` knows it.
    ///
    /// # Errors
    /// [`IdentityError::Text`] where people would not see what is there.
    pub fn new(subject: String, issuer: String) -> Result<Self, IdentityError> {
        for (what, text) in [("the identity", &subject), ("the issuer", &issuer)] {
            if let Some(problem) = plain_text::problem(text) {
                return Err(IdentityError::Text(what, problem));
            }
        }
        Ok(Self { subject, issuer })
    }

    /// What stands for it where a key's id does. Two identities could be made that share one, with some effort: it is for
    /// finding an identity, and says nothing about who signed.
    pub fn id(&self) -> KeyId {
        // With their lengths, so that no two pairs are one text.
        let (subject, issuer) = (&self.subject, &self.issuer);
        let text = format!("{DOMAIN}\n{}\n{issuer}\n{}\n{subject}\n", issuer.len(), subject.len());
        let id = Digest::of(text.as_bytes()).as_bytes().first_chunk().copied();
        KeyId::from_bytes(id.expect("a digest has 32 bytes"))
    }
}

impl TrustedIdentity {
    /// Trusts `identity` by `root`, or by that of the public instance.
    ///
    /// # Errors
    /// When nothing could be verified by that root, or in this build.
    pub fn new(identity: Identity, root: Option<String>) -> Result<Self, IdentityError> {
        let trusted = Self { identity, root };
        trusted.check()?;
        Ok(trusted)
    }

    /// Checks that what it signs could be verified.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn check(&self) -> Result<(), IdentityError> {
        match self.root.as_deref().map(str::len).filter(|len| *len > MAX_ROOT_BYTES) {
            Some(len) => Err(IdentityError::RootTooLarge(len)),
            None => sigstore::check_root(self),
        }
    }

    /// The text by which it is asked for and recorded: JSON, which no public key is.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn to_text(&self) -> Result<String, IdentityError> {
        serde_json::to_string(self).map_err(|error| IdentityError::Malformed(error.to_string()))
    }

    /// Reads that text. Whether this build can do anything with it is not asked.
    ///
    /// # Errors
    /// [`IdentityError::Malformed`] or [`IdentityError::Text`].
    pub fn parse(text: &str) -> Result<Self, IdentityError> {
        let read = serde_json::from_str(text);
        let Self { identity, root } = read.map_err(|error| IdentityError::Malformed(error.to_string()))?;
        Ok(Self { identity: Identity::new(identity.subject, identity.issuer)?, root })
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (as {} says)", self.subject, self.issuer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(subject: &str, issuer: &str) -> String {
        Identity::new(subject.into(), issuer.into()).unwrap().id().to_string()
    }

    #[test]
    fn an_id_is_that_of_one_pair_and_stays() {
        let issuer = "https://accounts.example.com";
        let dev = id("dev@example.com", issuer);
        assert_eq!(dev, id("dev@example.com", issuer), "what is recorded is found again");
        assert_eq!(dev, "A625EE523D449A76", "in every later version as well");
        for (subject, issuer) in [
            ("Dev@example.com", issuer),
            ("dev@example.co", issuer),
            ("dev@example.com ", issuer),
            ("dev@example.com", "https://accounts.example.com/"),
            (issuer, "dev@example.com"),
        ] {
            assert_ne!(dev, id(subject, issuer), "{subject} {issuer}");
        }
        assert_ne!(id("ab", "c"), id("a", "bc"));
    }

    #[test]
    fn an_identity_is_written_and_read_alike() {
        let identity = Identity::new("dev@example.com".into(), "https://accounts.example.com".into()).unwrap();
        for root in [None, Some("{\"a\": 1}\n".to_owned())] {
            let trusted = TrustedIdentity { identity: identity.clone(), root };
            assert_eq!(TrustedIdentity::parse(&trusted.to_text().unwrap()), Ok(trusted));
        }
        for bad in [
            "",
            "{}",
            r#"{"identity": {"subject": "a", "issuer": "b"}, "more": 1}"#,
            r#"{"identity": {"subject": "a"}}"#,
            r#"{"identity": {"subject": "", "issuer": "b"}}"#,
            r#"{"identity": {"subject": "a\n", "issuer": "b"}}"#,
            r#"{"identity": {"subject": "a", "issuer": "b\u202e"}}"#,
        ] {
            assert_eq!(TrustedIdentity::parse(bad).unwrap_err().code(), "trust.identity", "{bad}");
        }
    }
}
