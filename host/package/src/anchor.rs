//! What a signature is verified against: the key of its signer, or who that is.

use crate::identity::{Identity, IdentityError, TrustedIdentity};
use crate::key::{KeyId, PublicKey};
use crate::signature::sigstore;
use crate::trust::TrustError;

/// A public key, or an identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrustAnchor {
    /// A key of minisign's.
    Key(PublicKey),
    /// Somebody whom sigstore certifies.
    Identity(TrustedIdentity),
}

impl TrustAnchor {
    /// Reads a `.pub` file or its base64 line, or the text of an identity.
    ///
    /// # Errors
    /// When it is neither.
    pub fn parse(text: &str) -> Result<Self, TrustError> {
        // JSON is no public key, and no public key is JSON.
        if text.starts_with('{') {
            return Ok(Self::Identity(TrustedIdentity::parse(text)?));
        }
        Ok(Self::Key(PublicKey::parse(text)?))
    }

    /// What it is called.
    pub fn id(&self) -> KeyId {
        match self {
            Self::Key(key) => key.id(),
            Self::Identity(trusted) => trusted.identity.id(),
        }
    }

    /// Who it is, where that is known by more than a key.
    pub fn identity(&self) -> Option<&Identity> {
        match self {
            Self::Key(_) => None,
            Self::Identity(trusted) => Some(&trusted.identity),
        }
    }

    /// Whether it is an identity that a root of the operator's own has to prove.
    pub fn has_own_root(&self) -> bool {
        matches!(self, Self::Identity(TrustedIdentity { root: Some(_), .. }))
    }

    /// Whether both are one signer, whatever root proves it.
    pub(crate) fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Key(one), Self::Key(other)) => one.as_base64() == other.as_base64(),
            (Self::Identity(one), Self::Identity(other)) => one.identity == other.identity,
            _ => false,
        }
    }

    /// This one, with the root by which `before`, the same signer, was proven, where it names none itself: who only adds
    /// a name does not mean to change that.
    pub(crate) fn with_root_of(self, before: Option<&Self>) -> Self {
        match (self, before) {
            (Self::Identity(TrustedIdentity { identity, root: None }), Some(Self::Identity(before))) => {
                Self::Identity(TrustedIdentity { identity, root: before.root.clone() })
            }
            (anchor, _) => anchor,
        }
    }

    /// Checks that what it signs can be verified.
    pub(crate) fn check(&self) -> Result<(), IdentityError> {
        match self {
            Self::Key(_) => Ok(()),
            Self::Identity(trusted) => trusted.check(),
        }
    }

    /// Checks that this build verifies what such a signer signs.
    pub(crate) fn is_built_in(&self) -> Result<(), IdentityError> {
        match self {
            Self::Identity(_) if !sigstore::BUILT_IN => Err(IdentityError::NotBuiltIn),
            _ => Ok(()),
        }
    }

    /// The text by which it is recorded.
    pub(crate) fn to_text(&self) -> Result<String, IdentityError> {
        match self {
            Self::Key(key) => Ok(key.as_base64().to_owned()),
            Self::Identity(trusted) => trusted.to_text(),
        }
    }
}

impl From<PublicKey> for TrustAnchor {
    fn from(key: PublicKey) -> Self {
        Self::Key(key)
    }
}

impl From<TrustedIdentity> for TrustAnchor {
    fn from(trusted: TrustedIdentity) -> Self {
        Self::Identity(trusted)
    }
}
