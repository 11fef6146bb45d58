//! What of the rates is kept over a restart.

use serde::{Deserialize, Serialize};

use crate::caller::CallerKey;
use crate::name::ToolId;

/// The fill of a caller's buckets for one tool, for keeping over a restart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedBucket {
    /// Whose.
    pub caller: CallerKey,
    /// For which tool.
    pub tool: ToolId,
    /// When the bucket of the minute will be empty again, in nanoseconds since the Unix epoch.
    pub minute_empty_at: u64,
    /// When that of the hour will be.
    pub hour_empty_at: u64,
}

/// All buckets, for keeping over a restart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SavedRates {
    /// Those that are not empty.
    pub buckets: Vec<SavedBucket>,
    /// A place in the audit log: what was permitted up to it is in the buckets. Of what was permitted behind it, some
    /// may be.
    pub counted: u64,
}

/// A call that was permitted, as the audit log tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermittedCall {
    /// Who made it.
    pub caller: CallerKey,
    /// Of which tool.
    pub tool: ToolId,
    /// When, in milliseconds since the Unix epoch.
    pub time: u64,
}

/// Keeps the buckets over a restart.
pub trait RateLedger: Send + Sync {
    /// What was saved last.
    ///
    /// # Errors
    /// When it cannot be read.
    fn load(&self) -> std::io::Result<SavedRates>;

    /// Replaces what was saved.
    ///
    /// # Errors
    /// When it cannot be written.
    fn save(&self, rates: &SavedRates) -> std::io::Result<()>;
}
