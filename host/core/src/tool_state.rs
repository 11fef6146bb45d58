//! What tools keep between their calls: keys and values, for each package, its signer and each user apart.

use std::io;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::name::SourceName;

/// The longest key, in bytes. The quota bounds values.
pub const MAX_STATE_KEY: usize = 256;

/// Whose state it is. A caller's agent and session are not part of it: what a tool keeps for a person outlives a
/// conversation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StateOwner {
    /// The source.
    pub source: SourceName,
    /// Who signed the package, so that another's under the same name finds nothing.
    pub signer: String,
    /// What the package calls itself, so that another one under the same source name finds nothing.
    pub package: SourceName,
    /// The person, as the door verified; `None` where it knows nobody.
    pub user: Option<String>,
}

/// How much a package may keep for one user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StateQuota {
    /// Bytes of all keys and values together.
    pub bytes: u64,
    /// Keys.
    pub keys: u64,
}

impl StateQuota {
    /// What both allow.
    #[must_use]
    pub fn least(self, other: Self) -> Self {
        Self { bytes: self.bytes.min(other.bytes), keys: self.keys.min(other.keys) }
    }

    /// What either allows.
    #[must_use]
    pub fn most(self, other: Self) -> Self {
        Self { bytes: self.bytes.max(other.bytes), keys: self.keys.max(other.keys) }
    }
}

/// When a value is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriteIf {
    /// Whatever is there.
    Always,
    /// There is just this value, or, with `None`, nothing.
    Holds(Option<Vec<u8>>),
}

/// Why a value was not written. What was there before is there still.
#[derive(Debug, Error)]
pub enum StateError {
    /// It would be more than the quota.
    #[error("it would be more than the quota of {} bytes and {} keys", .0.bytes, .0.keys)]
    Quota(StateQuota),
    /// The package is not installed any more.
    #[error("its package is not installed any more")]
    Removed,
    /// It cannot be stored.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Keeps the state of tools. What is written is on the disk when the method returns.
pub trait ToolState: Send + Sync {
    /// The value of `key`.
    ///
    /// # Errors
    /// When it cannot be read.
    fn get(&self, owner: &StateOwner, key: &str) -> io::Result<Option<Vec<u8>>>;

    /// Writes `value` where the condition holds and all of the owner's state then fits into `quota`. Says whether the
    /// condition held.
    ///
    /// # Errors
    /// When nothing was written for another reason than the condition.
    fn set(
        &self,
        owner: &StateOwner,
        key: &str,
        value: &[u8],
        condition: &WriteIf,
        quota: StateQuota,
    ) -> Result<bool, StateError>;

    /// Forgets `key`. Says whether it was there.
    ///
    /// # Errors
    /// When it cannot be written.
    fn delete(&self, owner: &StateOwner, key: &str) -> io::Result<bool>;

    /// The keys that begin with `prefix`, in the order of their bytes.
    ///
    /// # Errors
    /// When they cannot be read.
    fn keys(&self, owner: &StateOwner, prefix: &str) -> io::Result<Vec<String>>;
}
