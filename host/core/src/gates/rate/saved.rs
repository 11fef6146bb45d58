//! What of the rates is kept over a restart.

use std::time::Duration;

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
    /// How long it takes until the bucket of the minute is empty, in nanoseconds.
    pub minute_left: u64,
    /// How long it takes until that of the hour is.
    pub hour_left: u64,
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
    /// How long ago.
    pub age: Duration,
}

/// Keeps the buckets over a restart.
pub trait RateLedger: Send + Sync {
    /// What was saved last, and how long ago: never longer than it was, however the machine's clock was set since, as far
    /// as that can be known. Before the first save it is nothing, for ever ago.
    ///
    /// # Errors
    /// When it cannot be read.
    fn load(&self) -> std::io::Result<(SavedRates, Duration)>;

    /// Replaces what was saved.
    ///
    /// # Errors
    /// When it cannot be written.
    fn save(&self, rates: &SavedRates) -> std::io::Result<()>;
}
