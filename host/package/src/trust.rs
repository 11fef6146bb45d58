//! Whose signatures count, and for which names.

use std::fmt;
use std::str::FromStr;

use ringfence_core::SourceName;
use ringfence_core::name::MAX_SOURCE_NAME;
use ringfence_store::{Database, Revocation, StoreError, TrustedKeyRow, unix_milliseconds};
use thiserror::Error;

use crate::anchor::TrustAnchor;
use crate::identity::{Identity, IdentityError};
use crate::key::{KeyError, KeyId};
use crate::plain_text;
use crate::signature::Signature;

/// A name, the beginning of a name followed by `*`, or `*` for all names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePattern(String);

/// A publisher's key, or what stands for one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustedKey {
    /// The key, or the identity.
    pub key: TrustAnchor,
    /// What the operator calls its owner.
    pub publisher: String,
    /// The names of the packages that it may sign. None at all when it is empty.
    pub sources: Vec<SourcePattern>,
    /// Milliseconds since the Unix epoch.
    pub added_at: u64,
    /// Since when and why it does not count any more.
    pub revoked: Option<Revocation>,
}

/// Why a key does not count.
#[derive(Debug, Error)]
pub enum TrustError {
    /// Nobody said that it counts.
    #[error(
        "key {0} is not trusted: if it is the publisher's, add it with \
         `ringfence trust add FILE.pub --publisher NAME --sign PACKAGE`"
    )]
    Unknown(KeyId),
    /// Nobody said that this identity counts.
    #[error(
        "{0} is not trusted: if that is the publisher, add them with \
         `ringfence trust add --identity WHO --issuer URL --publisher NAME --sign PACKAGE`"
    )]
    UnknownIdentity(Identity),
    /// The operator revoked it.
    #[error(
        "key {id} of {publisher} was revoked ({reason}): get a package that is signed with the publisher's new key"
    )]
    Revoked {
        /// The key.
        id: KeyId,
        /// Its owner.
        publisher: String,
        /// Why.
        reason: String,
    },
    /// It counts for other names.
    #[error(
        "key {id} of {publisher} may not sign `{source_name}`, only {allowed}: choose such a name with `--as NAME`, \
         or allow this one with `ringfence trust add`"
    )]
    NotAllowed {
        /// The key.
        id: KeyId,
        /// Its owner.
        publisher: String,
        /// The name.
        source_name: SourceName,
        /// What it may sign.
        allowed: String,
    },
    /// A revoked key cannot be trusted again.
    #[error("key {0} was revoked and stays so: let the publisher make a new one")]
    StaysRevoked(KeyId),
    /// Another key has the same id.
    #[error("another key has the id {0} already: one of them is a forgery; compare both with what the publisher says")]
    IdTaken(KeyId),
    /// There is no such key.
    #[error("there is no key {0}: `ringfence trust list` shows those that there are")]
    NoSuchKey(KeyId),
    /// Not a pattern.
    #[error(
        "{0:?} is neither a source name (1 to {MAX_SOURCE_NAME} of a-z, 0-9 and -, beginning with a letter or digit), nor \
         the beginning of one followed by *"
    )]
    Pattern(String),
    /// A text that people will see is none to be shown.
    #[error("{0} {1}: write it as plain text on one line")]
    Text(&'static str, &'static str),
    /// The key is known as somebody else's.
    #[error(
        "key {id} is recorded as that of {known}: to let it sign further names, say `--publisher {known:?}`; \
         `ringfence trust rename {id} NAME` calls its owner otherwise"
    )]
    OtherPublisher {
        /// The key.
        id: KeyId,
        /// Its owner.
        known: String,
    },
    /// A key cannot be read.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// An identity cannot be read, or nothing that it signs be verified.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// The state cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl TrustError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unknown(_) => "trust.unknown_key",
            Self::UnknownIdentity(_) => "trust.unknown_identity",
            Self::Revoked { .. } => "trust.revoked_key",
            Self::NotAllowed { .. } => "trust.name_not_allowed",
            Self::StaysRevoked(_) => "trust.stays_revoked",
            Self::IdTaken(_) => "trust.id_taken",
            Self::NoSuchKey(_) => "trust.no_such_key",
            Self::Pattern(_) => "trust.pattern",
            Self::Text(..) => "trust.text",
            Self::OtherPublisher { .. } => "trust.other_publisher",
            Self::Key(error) => error.code(),
            Self::Identity(error) => error.code(),
            Self::Store(error) => error.code(),
        }
    }
}

/// What errors call the name of a key's owner.
const PUBLISHER: &str = "the name of the publisher";

/// The keys that the operator trusts.
pub struct TrustStore<'a> {
    database: &'a Database,
}

impl<'a> TrustStore<'a> {
    /// The keys in `database`.
    pub fn new(database: &'a Database) -> Self {
        Self { database }
    }

    /// Trusts `key` for `sources`. A key that is trusted already is trusted for these instead; its owner stays the same.
    /// So is an identity, and where no root is named for it, that stays as well.
    ///
    /// # Errors
    /// [`TrustError::StaysRevoked`] for a revoked key; [`TrustError::IdTaken`] when another key has its id;
    /// [`TrustError::OtherPublisher`] when it is known as somebody else's; [`TrustError::Text`]; [`TrustError::Identity`].
    pub fn add(
        &self,
        key: impl Into<TrustAnchor>,
        publisher: &str,
        sources: &[SourcePattern],
    ) -> Result<TrustedKey, TrustError> {
        check_text(PUBLISHER, publisher)?;
        let key = key.into();
        let before = self.before(&key, publisher)?;
        let key = key.with_root_of(before.as_ref().map(|before| &before.key));
        key.check()?;
        let added_at = before.map_or_else(unix_milliseconds, |before| before.added_at);
        let (publisher, sources) = (publisher.to_owned(), sources.to_owned());
        let trusted = TrustedKey { key, publisher, sources, added_at, revoked: None };
        self.database.put_trusted_key(&trusted.to_row()?)?;
        Ok(trusted)
    }

    /// What is recorded of `key`, which may be trusted as that of `publisher`.
    fn before(&self, key: &TrustAnchor, publisher: &str) -> Result<Option<TrustedKey>, TrustError> {
        match self.get(key.id())? {
            Some(before) if !before.key.is(key) => Err(TrustError::IdTaken(key.id())),
            Some(TrustedKey { revoked: Some(_), .. }) => Err(TrustError::StaysRevoked(key.id())),
            Some(before) if before.publisher != publisher => {
                Err(TrustError::OtherPublisher { id: key.id(), known: before.publisher })
            }
            before => Ok(before),
        }
    }

    /// `key` as one that takes the place of `old`: it may sign what that one may, beside what it may sign already.
    pub(crate) fn succeeding(&self, old: &TrustedKey, key: TrustAnchor) -> Result<TrustedKey, TrustError> {
        let before = self.before(&key, &old.publisher)?;
        let added_at = before.as_ref().map_or_else(unix_milliseconds, |before| before.added_at);
        let mut sources = before.map(|before| before.sources).unwrap_or_default();
        let more: Vec<_> = old.sources.iter().filter(|pattern| !sources.contains(pattern)).cloned().collect();
        sources.extend(more);
        Ok(TrustedKey { key, publisher: old.publisher.clone(), sources, added_at, revoked: None })
    }

    pub(crate) fn database(&self) -> &'a Database {
        self.database
    }

    /// All keys, in the order in which they were added.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn list(&self) -> Result<Vec<TrustedKey>, TrustError> {
        self.database.trusted_keys()?.into_iter().map(TrustedKey::from_row).collect()
    }

    /// Revokes a key for good: nothing that it signed is installed or runs any more. Revoking it once more changes
    /// nothing.
    ///
    /// # Errors
    /// [`TrustError::NoSuchKey`]; [`TrustError::Text`].
    pub fn revoke(&self, id: KeyId, reason: &str) -> Result<TrustedKey, TrustError> {
        check_text("the reason", reason)?;
        let mut key = self.get(id)?.ok_or(TrustError::NoSuchKey(id))?;
        if key.revoked.is_none() {
            key.revoked = Some(Revocation { at: unix_milliseconds(), reason: reason.to_owned() });
            self.database.put_trusted_key(&key.to_row()?)?;
        }
        Ok(key)
    }

    /// Calls the owner of a key otherwise. What it may sign, and whether it was revoked, stays.
    ///
    /// # Errors
    /// [`TrustError::NoSuchKey`]; [`TrustError::Text`].
    pub fn rename(&self, id: KeyId, publisher: &str) -> Result<TrustedKey, TrustError> {
        check_text(PUBLISHER, publisher)?;
        self.database.rename_publisher(&id.to_string(), publisher)?;
        self.get(id)?.ok_or(TrustError::NoSuchKey(id))
    }

    /// The key that `signature` claims to be by, if it counts now.
    ///
    /// # Errors
    /// Those of [`key`](Self::key), or [`TrustError::UnknownIdentity`].
    pub fn signer(&self, signature: &Signature) -> Result<TrustedKey, TrustError> {
        match (self.key(signature.key_id()), signature.identity()) {
            (Err(TrustError::Unknown(_)), Some(identity)) => Err(TrustError::UnknownIdentity(identity.clone())),
            (found, _) => found,
        }
    }

    /// The key called `id`, if its signatures count now.
    ///
    /// # Errors
    /// [`TrustError::Unknown`] or [`TrustError::Revoked`]; [`IdentityError::NotBuiltIn`].
    pub fn key(&self, id: KeyId) -> Result<TrustedKey, TrustError> {
        let key = self.get(id)?.ok_or(TrustError::Unknown(id))?;
        let Some(Revocation { reason, .. }) = &key.revoked else {
            key.key.is_built_in()?;
            return Ok(key);
        };
        Err(TrustError::Revoked { id, publisher: key.publisher.clone(), reason: reason.clone() })
    }

    /// The key called `id`, whatever it counts for.
    fn get(&self, id: KeyId) -> Result<Option<TrustedKey>, TrustError> {
        self.database.trusted_key(&id.to_string())?.map(TrustedKey::from_row).transpose()
    }
}

impl TrustedKey {
    /// Checks that it may sign the package that is installed as `source`.
    ///
    /// # Errors
    /// [`TrustError::NotAllowed`].
    pub fn may_sign(&self, source: &SourceName) -> Result<(), TrustError> {
        if self.sources.iter().any(|pattern| pattern.matches(source)) {
            return Ok(());
        }
        let allowed: Vec<String> = self.sources.iter().map(|pattern| format!("`{pattern}`")).collect();
        Err(TrustError::NotAllowed {
            id: self.key.id(),
            publisher: self.publisher.clone(),
            source_name: source.clone(),
            allowed: if allowed.is_empty() { "nothing".into() } else { allowed.join(", ") },
        })
    }

    pub(crate) fn to_row(&self) -> Result<TrustedKeyRow, TrustError> {
        Ok(TrustedKeyRow {
            key_id: self.key.id().to_string(),
            public_key: self.key.to_text()?,
            publisher: self.publisher.clone(),
            sources: self.sources.iter().map(ToString::to_string).collect(),
            added_at: self.added_at,
            revoked: self.revoked.clone(),
        })
    }

    fn from_row(row: TrustedKeyRow) -> Result<Self, TrustError> {
        let sources = row.sources.iter().map(|pattern| pattern.parse()).collect::<Result<_, _>>()?;
        let key = TrustAnchor::parse(&row.public_key)?;
        Ok(Self { key, publisher: row.publisher, sources, added_at: row.added_at, revoked: row.revoked })
    }
}

impl SourcePattern {
    /// Whether `source` is such a name.
    pub fn matches(&self, source: &SourceName) -> bool {
        match self.0.strip_suffix('*') {
            Some(beginning) => source.as_str().starts_with(beginning),
            None => source.as_str() == self.0,
        }
    }
}

fn check_text(what: &'static str, text: &str) -> Result<(), TrustError> {
    plain_text::problem(text).map_or(Ok(()), |problem| Err(TrustError::Text(what, problem)))
}

impl FromStr for SourcePattern {
    type Err = TrustError;

    fn from_str(text: &str) -> Result<Self, TrustError> {
        let name = text.strip_suffix('*').unwrap_or(text);
        let good = text == "*" || SourceName::try_from(name.to_owned()).is_ok();
        if good { Ok(Self(text.to_owned())) } else { Err(TrustError::Pattern(text.to_owned())) }
    }
}

impl fmt::Display for SourcePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_names_beginnings_or_all() {
        for (pattern, name, matches) in [
            ("weather", "weather", true),
            ("weather", "weather-eu", false),
            ("weather-*", "weather-eu", true),
            ("weather-*", "weather", false),
            ("*", "anything", true),
        ] {
            let pattern: SourcePattern = pattern.parse().unwrap();
            assert_eq!(pattern.matches(&name.to_owned().try_into().unwrap()), matches, "{pattern} {name}");
        }
        for bad in ["", "**", "a*b", "Weather", "../x", "-x", "-*", "x".repeat(40).as_str()] {
            assert!(matches!(bad.parse::<SourcePattern>(), Err(TrustError::Pattern(_))), "{bad}");
        }
        assert!("x".repeat(40).parse::<SourcePattern>().unwrap_err().to_string().contains("1 to 32"));
    }
}
