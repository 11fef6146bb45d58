//! A publisher's change of keys: a statement, signed by the old key, that names the new one.
//!
//! The statement is a text file, so that its publisher can read what is signed, and the signature beside it is one of
//! minisign's, by ringfence or by stock `minisign -S`. It is neither a component nor anything else that a key signs here.

use ringfence_store::{Database, RotationRow, StoreError, unix_milliseconds};
use thiserror::Error;

use crate::key::{KeyError, KeyId, PublicKey};
use crate::signature::{Signature, SignatureError};
use crate::trust::{TrustError, TrustStore, TrustedKey};

/// The first line of a statement.
const TITLE: &str = "ringfence key rotation 1";

/// The longest statement, in bytes: many times what one has.
const MAX_BYTES: usize = 1024;

/// What a publisher says: this key takes the place of that one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rotation {
    /// The key that is given up.
    pub from: KeyId,
    /// The key that takes its place.
    pub to: PublicKey,
}

/// Why a change of keys is not taken.
#[derive(Debug, Error)]
pub enum RotationError {
    /// It is no such statement.
    #[error(
        "this is no statement about keys: {0}. It has three lines: `{TITLE}`, `from KEY_ID`, and `to ` with the new public \
         key; `ringfence key rotate` writes one"
    )]
    Malformed(&'static str),
    /// What stands behind `to` is no public key, or that behind `from` no id.
    #[error("the statement names a key that is none: {0}")]
    Key(#[from] KeyError),
    /// Another key than the one that it speaks of has signed it.
    #[error(
        "the statement gives up key {from}, and key {signer} has signed it: it has to be signed by the one that it gives up"
    )]
    OtherSigner {
        /// The key that it speaks of.
        from: KeyId,
        /// The key that signed it.
        signer: KeyId,
    },
    /// Both keys are one.
    #[error(
        "the statement names key {0} as its own successor: the publisher has to name a new key, made by `ringfence key generate`"
    )]
    SameKey(KeyId),
    /// The old key is revoked, so that whoever has it could have signed this.
    #[error(
        "key {id} of {publisher} was revoked ({reason}), so it can name no successor: ask the publisher for the new key in \
         a way that you trust, and add that with `ringfence trust add`"
    )]
    Revoked {
        /// The key.
        id: KeyId,
        /// Its owner.
        publisher: String,
        /// Why.
        reason: String,
    },
    /// The old key has named a successor already.
    #[error(
        "key {old} named {named} as its successor already, and a key has one: nothing has changed. If this is a later \
         statement, it has to be signed by {named}; if {named} is not the publisher's, `ringfence trust revoke {named}`"
    )]
    Taken {
        /// The old key.
        old: KeyId,
        /// Whom it named.
        named: String,
    },
    /// The new key has given its own place to another.
    #[error("key {0} gave its place to another one before: the publisher has to name a key that is not given up")]
    GivenUp(KeyId),
    /// The signature is not what it should be.
    #[error(transparent)]
    Signature(#[from] SignatureError),
    /// One of the keys does not count.
    #[error(transparent)]
    Trust(#[from] TrustError),
}

impl RotationError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Malformed(_) => "rotation.malformed",
            Self::Key(error) => error.code(),
            Self::OtherSigner { .. } => "rotation.other_signer",
            Self::SameKey(_) => "rotation.same_key",
            Self::Revoked { .. } => "trust.revoked_key",
            Self::Taken { .. } => "rotation.taken",
            Self::GivenUp(_) => "rotation.given_up",
            Self::Signature(error) => error.code(),
            Self::Trust(error) => error.code(),
        }
    }
}

impl From<StoreError> for RotationError {
    fn from(error: StoreError) -> Self {
        Self::Trust(error.into())
    }
}

impl Rotation {
    /// The statement as it is signed.
    pub fn to_text(&self) -> String {
        format!("{TITLE}\nfrom {}\nto {}\n", self.from, self.to.as_base64())
    }

    /// Reads a statement. That it was signed is not known yet.
    ///
    /// # Errors
    /// [`RotationError::Malformed`] or [`RotationError::Key`].
    pub fn parse(text: &str) -> Result<Self, RotationError> {
        if text.len() > MAX_BYTES {
            return Err(RotationError::Malformed("it is longer than 1,024 bytes"));
        }
        let lines: Vec<&str> = text.strip_suffix('\n').unwrap_or(text).split('\n').collect();
        let [TITLE, from, to] = lines.as_slice() else {
            return Err(RotationError::Malformed("its lines are others"));
        };
        let from = from.strip_prefix("from ").ok_or(RotationError::Malformed("its second line is another"))?;
        let to = to.strip_prefix("to ").ok_or(RotationError::Malformed("its third line is another"))?;
        Ok(Self { from: from.parse()?, to: PublicKey::parse(to)? })
    }
}

impl TrustStore<'_> {
    /// Takes a change of keys: verified by the old key, which has to be trusted, the new one may sign all that the old one
    /// may, and update what the old one signed. What the old one signed runs on.
    ///
    /// # Errors
    /// When the statement or its signature is not what it should be, or one of the keys does not count. Nothing has
    /// changed then.
    pub fn rotate(&self, statement: &str, signature: &[u8]) -> Result<TrustedKey, RotationError> {
        let signature = Signature::parse(signature)?;
        let old = self.signer(&signature).map_err(|error| match error {
            TrustError::Revoked { id, publisher, reason } => RotationError::Revoked { id, publisher, reason },
            other => other.into(),
        })?;
        signature.verify(statement.as_bytes(), &old.key)?;
        let Rotation { from, to } = Rotation::parse(statement)?;
        if from != old.key.id() {
            return Err(RotationError::OtherSigner { from, signer: old.key.id() });
        }
        if to.id() == from {
            return Err(RotationError::SameKey(from));
        }
        if let Some(named) = self.database().successor(&from.to_string())? {
            return Err(RotationError::Taken { old: from, named });
        }
        if self.database().successor(&to.id().to_string())?.is_some() {
            return Err(RotationError::GivenUp(to.id()));
        }
        let new_key_id = to.id().to_string();
        let new = self.succeeding(&old, to.into())?;
        let rotation = RotationRow {
            old_key_id: from.to_string(),
            new_key_id,
            statement: statement.to_owned(),
            signature: signature.as_text().to_owned(),
            taken_at: unix_milliseconds(),
        };
        self.database().record_rotation(&rotation, &new.to_row()?)?;
        Ok(new)
    }

    /// The key that took the place of `id`.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn successor(&self, id: KeyId) -> Result<Option<String>, TrustError> {
        Ok(self.database().successor(&id.to_string())?)
    }
}

/// Whether the signer `later` took the place of `earlier`; both are ids of keys.
pub(crate) fn succeeds(database: &Database, later: KeyId, earlier: &str) -> Result<bool, StoreError> {
    database.succeeds(&later.to_string(), earlier)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";

    #[test]
    fn a_statement_is_read_as_it_was_written() {
        let rotation = Rotation { from: "0123456789ABCDEF".parse().unwrap(), to: PublicKey::parse(KEY).unwrap() };
        let text = rotation.to_text();
        assert_eq!(Rotation::parse(&text).unwrap(), rotation);
        assert_eq!(Rotation::parse(text.trim_end()).unwrap(), rotation, "an editor may leave out the last line's end");
        for (wrong, code) in [
            (String::new(), "rotation.malformed"),
            (text.replace("rotation 1", "rotation 2"), "rotation.malformed"),
            (text.replace("from ", "From "), "rotation.malformed"),
            (text.replace("to ", ""), "rotation.malformed"),
            (format!("{text}\n"), "rotation.malformed"),
            (format!("{text}to {KEY}\n"), "rotation.malformed"),
            (text.replace('\n', "\r\n"), "rotation.malformed"),
            (text.replace("0123", "012"), "key.id"),
            (text.replace("RWQf", "RWQ"), "key.malformed"),
            (format!("{text}{}", " ".repeat(MAX_BYTES)), "rotation.malformed"),
        ] {
            assert_eq!(Rotation::parse(&wrong).unwrap_err().code(), code, "{wrong:?}");
        }
    }
}
