//! Does the caller use the tool too often?
//!
//! Each caller has two buckets for each tool, one for the minute and one for the hour. Both are checked, then both are
//! taken, so a refused call costs nothing. "N per period" is a rate of N − b with a burst of b, where b is a quarter of
//! N: that way no window of that length ever sees more than N calls, wherever it begins.

mod bucket;
mod clock;
mod saved;
mod table;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use governor::clock::Clock as _;

use crate::call::CheckedCall;
use crate::error::CallError;
use crate::name::ToolId;
use crate::registry::{Registered, Registry};
use crate::tool::RateLimit;

use bucket::weight;
use clock::nanoseconds;
use table::Table;

pub use clock::RateClock;
pub use saved::{PermittedCall, RateLedger, SavedBucket, SavedRates};

/// The periods of a [`RateLimit`].
const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);

/// How many pairs of caller and tool are remembered, about 300 bytes each, 20 MB in all: more than the agents of one machine
/// use in an hour. When the table is full and nobody in it is idle, new pairs are refused; old ones are never
/// forgotten early.
pub const TABLE_SIZE: usize = 65_536;

/// The period behind which no call fills a bucket any more.
pub const LONGEST_PERIOD: Duration = HOUR;

/// When a start found more calls than this that were made after the last save, it saves soon, so that the next one
/// does not look at them again: where tools only read, no call would make it. Fewer are read in milliseconds.
const MANY_CALLS: usize = 1000;

/// How often a full table is searched for idle pairs, so that a flood of new callers does not search it for each call. Who
/// found no room is told to come again after that, so it is short.
const SEARCH_EVERY: Duration = Duration::from_secs(1);

/// How often a tool may be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateRule {
    /// As often as the caller likes.
    Unlimited,
    /// At most this often.
    Limited(RateLimit),
}

/// What the operator says about rates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RateRules {
    /// For all tools; `None`: 60 a minute and 1,000 an hour, and no limit for tools that are believed to only read.
    pub general: Option<RateRule>,
    /// For all tools of a source (by its name) or for one tool (by its wire name).
    pub by_name: BTreeMap<String, RateRule>,
}

/// The gate.
pub struct RateGate {
    rules: RateRules,
    clock: RateClock,
    table: Mutex<Table>,
    capacity: usize,
}

impl RateGate {
    /// A gate that remembers at most `capacity` pairs of caller and tool, [`TABLE_SIZE`] in a host.
    pub fn new(rules: RateRules, clock: RateClock, capacity: usize) -> Self {
        Self { rules, clock, table: Mutex::default(), capacity }
    }

    /// Takes up the buckets of the last run, and the calls that it made after it saved them, oldest first: a process
    /// that is killed saves nothing more. How much a call weighs, the tools in `registry` say; one that is not there
    /// weighs what it would without any rule.
    pub fn restore(&self, saved: Vec<SavedBucket>, calls: Vec<PermittedCall>, registry: &Registry) {
        let mut table = self.lock();
        table.saved = saved.into_iter().map(|b| ((b.caller, b.tool), (b.minute_empty_at, b.hour_empty_at))).collect();
        if calls.is_empty() {
            return;
        }
        table.changed = calls.len() > MANY_CALLS;
        let now = self.clock.now().as_u64();
        let tools: HashMap<ToolId, Arc<Registered>> =
            registry.all().into_iter().map(|tool| (tool.id().clone(), tool)).collect();
        for PermittedCall { caller, tool, time } in calls {
            let rule = tools.get(&tool).map_or(RateRule::Limited(RateLimit::default()), |tool| self.rule(tool));
            let RateRule::Limited(limit) = rule else { continue };
            let time = nanoseconds(Duration::from_millis(time)).min(now);
            let (minute, hour) = table.saved.entry((caller, tool)).or_default();
            *minute = (*minute).max(time).saturating_add(weight(limit.per_minute, MINUTE));
            *hour = (*hour).max(time).saturating_add(weight(limit.per_hour, HOUR));
        }
    }

    /// Hands the buckets that are not empty to `ledger`, where a call was taken since the last time. `counted` is the
    /// last place of the audit log, looked up before this is called: a call is taken first and recorded then, so all
    /// up to that place are in the buckets.
    ///
    /// # Errors
    /// When the ledger cannot be written.
    pub fn save(&self, ledger: &dyn RateLedger, counted: u64) -> std::io::Result<()> {
        let buckets = {
            let mut table = self.lock();
            if !std::mem::take(&mut table.changed) {
                return Ok(());
            }
            table.filled(self.clock.now())
        };
        ledger.save(&SavedRates { buckets, counted })
    }

    /// Takes one call from the caller's buckets.
    ///
    /// # Errors
    /// [`CallError::RateLimited`] with the time to wait; the buckets are then as they were.
    pub fn take(&self, call: &CheckedCall) -> Result<(), CallError> {
        let RateRule::Limited(limit) = self.rule(call.tool()) else { return Ok(()) };
        let tool = call.tool();
        let now = self.clock.now();
        let mut table = self.lock();
        table.changed = true;
        let refused = |allowed, period: &'static str, wait| CallError::RateLimited {
            tool: tool.wire_name().to_owned(),
            allowed,
            period: period.into(),
            retry_after: wait,
        };
        let buckets = table
            .buckets(&call.context().caller.key(), tool.id(), limit, &self.clock, self.capacity)
            .ok_or_else(|| refused(limit.per_minute, "minute", SEARCH_EVERY))?;
        let minute_before = buckets.minute.level();
        buckets.minute.take(now).map_err(|wait| refused(limit.per_minute, "minute", wait))?;
        buckets.hour.take(now).map_err(|wait| {
            buckets.minute.set_back(minute_before);
            refused(limit.per_hour, "hour", wait)
        })
    }

    /// The operator's rule for the tool, before that for its source, before the general one; where the operator says
    /// nothing, the default. What the tool itself asks for, and what the grant of its source says, can only tighten it.
    fn rule(&self, tool: &Registered) -> RateRule {
        let named = |name: &str| self.rules.by_name.get(name).copied();
        let operator = named(tool.wire_name()).or_else(|| named(tool.id().source.as_str())).or(self.rules.general);
        let rule = operator.unwrap_or_else(|| {
            if tool.effects().read_only { RateRule::Unlimited } else { RateRule::Limited(RateLimit::default()) }
        });
        match (rule, tool.rate_limit()) {
            (rule, None) => rule,
            (RateRule::Unlimited, Some(own)) => RateRule::Limited(own),
            (RateRule::Limited(limit), Some(own)) => RateRule::Limited(limit.min(own)),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
