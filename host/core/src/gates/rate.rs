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
use crate::limit::SetBy;
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

/// What calls are counted in, and which number of a rate is for it.
#[derive(Clone, Copy)]
struct Period {
    name: &'static str,
    number: fn(RateLimit) -> u32,
}

const PER_MINUTE: Period = Period { name: "minute", number: |rate| rate.per_minute };
const PER_HOUR: Period = Period { name: "hour", number: |rate| rate.per_hour };

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

    /// Takes up the buckets that the last run saved, `passed` ago, and the calls that it made after that, oldest first: a
    /// process that is killed saves nothing more. None is so full that it takes longer than a period until it is empty,
    /// whatever was saved. How much a call weighs, the tools in `registry` say; one that is not there weighs what it would
    /// without any rule.
    pub fn restore(&self, saved: Vec<SavedBucket>, passed: Duration, calls: Vec<PermittedCall>, registry: &Registry) {
        let mut table = self.lock();
        let (now, passed) = (self.clock.now().as_u64(), nanoseconds(passed));
        let empty_at = |left: u64| now.saturating_add(left).saturating_sub(passed);
        table.saved = saved
            .into_iter()
            .map(|bucket| ((bucket.caller, bucket.tool), (empty_at(bucket.minute_left), empty_at(bucket.hour_left))))
            .collect();
        table.changed = calls.len() > MANY_CALLS;
        self.count_again(&mut table, now, calls, registry);
        for (minute, hour) in table.saved.values_mut() {
            *minute = (*minute).min(now + nanoseconds(MINUTE));
            *hour = (*hour).min(now + nanoseconds(HOUR));
        }
    }

    fn count_again(&self, table: &mut Table, now: u64, calls: Vec<PermittedCall>, registry: &Registry) {
        let tools: HashMap<ToolId, Arc<Registered>> =
            registry.all().into_iter().map(|tool| (tool.id().clone(), tool)).collect();
        for PermittedCall { caller, tool, age } in calls {
            let rule = tools.get(&tool).map_or(RateRule::Limited(RateLimit::default()), |tool| self.rule(tool));
            let RateRule::Limited(limit) = rule else { continue };
            let time = now.saturating_sub(nanoseconds(age));
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
        let tool = call.tool();
        let RateRule::Limited(limit) = self.rule(tool) else { return Ok(()) };
        let now = self.clock.now();
        let mut table = self.lock();
        table.changed = true;
        let refused = |allowed, period: Period, wait| CallError::RateLimited {
            tool: tool.wire_name().to_owned(),
            allowed,
            period: period.name.into(),
            set_by: self.set_by(tool, period),
            retry_after: wait,
        };
        let buckets = table
            .buckets(&call.context().caller.key(), tool.id(), limit, &self.clock, self.capacity)
            .ok_or_else(|| refused(limit.per_minute, PER_MINUTE, SEARCH_EVERY))?;
        let minute_before = buckets.minute.level();
        buckets.minute.take(now).map_err(|wait| refused(limit.per_minute, PER_MINUTE, wait))?;
        buckets.hour.take(now).map_err(|wait| {
            buckets.minute.set_back(minute_before);
            refused(limit.per_hour, PER_HOUR, wait)
        })
    }

    /// The operator's rule for the tool, before that for its source, before the general one; where the operator says
    /// nothing, the default. What the tool itself asks for, and what the grant of its source says, can only tighten it.
    fn rule(&self, tool: &Registered) -> RateRule {
        match (self.without_own(tool).0, tool.rate_limit()) {
            (rule, None) => rule,
            (RateRule::Unlimited, Some(own)) => RateRule::Limited(own),
            (RateRule::Limited(limit), Some(own)) => RateRule::Limited(limit.min(own)),
        }
    }

    /// The rule that holds where neither the tool nor its grant says anything, and who set it.
    fn without_own(&self, tool: &Registered) -> (RateRule, SetBy) {
        let named = |name: &str, set_by| self.rules.by_name.get(name).map(|rule| (*rule, set_by));
        named(tool.wire_name(), SetBy::OperatorForTool)
            .or_else(|| named(tool.id().source.as_str(), SetBy::OperatorForSource))
            .or(self.rules.general.map(|rule| (rule, SetBy::Operator)))
            .unwrap_or_else(|| match tool.effects().read_only {
                true => (RateRule::Unlimited, SetBy::Default),
                false => (RateRule::Limited(RateLimit::default()), SetBy::Default),
            })
    }

    /// Who set the number that holds for the tool in this period.
    fn set_by(&self, tool: &Registered, period: Period) -> SetBy {
        let number = period.number;
        match (self.without_own(tool), tool.rate_limit()) {
            ((RateRule::Limited(rule), set_by), Some(own)) if number(rule) <= number(own) => set_by,
            ((_, set_by), None) => set_by,
            (_, Some(own)) => match tool.spec().rate_limit {
                Some(asked) if number(asked) == number(own) => SetBy::Manifest,
                _ => SetBy::Grant,
            },
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
