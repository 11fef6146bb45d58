//! Does the caller use the tool too often?
//!
//! Each caller has two buckets for each tool, one for the minute and one for the hour. Both are checked, then both are
//! taken, so a refused call costs nothing. "N per period" is a rate of N − b with a burst of b, where b is a quarter of
//! N: that way no window of that length ever sees more than N calls, wherever it begins.

use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use governor::clock::{Clock, Reference as _};
use governor::middleware::NoOpMiddleware;
use governor::nanos::Nanos;
use governor::state::{NotKeyed, StateStore};
use governor::{Quota, RateLimiter};
use serde::{Deserialize, Serialize};

use crate::call::CheckedCall;
use crate::caller::CallerKey;
use crate::error::CallError;
use crate::name::ToolId;
use crate::registry::{Registered, Registry};
use crate::tool::RateLimit;

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);

/// How many pairs of caller and tool are remembered, about 300 bytes each. When the table is full and nobody in it is
/// idle, new pairs are refused; old ones are never forgotten early.
pub const TABLE_SIZE: usize = 65_536;

/// The period behind which no call fills a bucket any more.
pub const LONGEST_PERIOD: Duration = HOUR;

/// When a start found more calls than this that were made after the last save, it saves soon, so that the next one
/// does not look at them again: where tools only read, no call would make it.
const MANY_CALLS: usize = 1000;

/// How often a full table is searched for idle pairs, so that a flood of new callers does not search it for each call.
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

/// A clock in nanoseconds since the Unix epoch that never goes back.
#[derive(Clone)]
pub struct RateClock(Arc<dyn Fn() -> u64 + Send + Sync>);

impl RateClock {
    /// The machine's clock: the time of day at the start, from there on a monotonic count.
    pub fn system() -> Self {
        let origin = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let start = Instant::now();
        Self(Arc::new(move || nanoseconds(origin + start.elapsed())))
    }

    /// A clock that shows what `now` says.
    pub fn of(now: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }
}

impl Clock for RateClock {
    type Instant = Nanos;

    fn now(&self) -> Nanos {
        Nanos::new((self.0)())
    }
}

/// The gate.
pub struct RateGate {
    rules: RateRules,
    clock: RateClock,
    table: Mutex<Table>,
    capacity: usize,
}

#[derive(Default)]
struct Table {
    callers: HashMap<CallerKey, HashMap<ToolId, Buckets>>,
    size: usize,
    searched: Option<Nanos>,
    /// Whether a call was taken since the last save.
    changed: bool,
    /// When the buckets of the last run are empty again (minute, hour), each until its caller comes back.
    saved: HashMap<(CallerKey, ToolId), (u64, u64)>,
}

struct Buckets {
    limit: RateLimit,
    minute: Bucket,
    hour: Bucket,
}

struct Bucket {
    limiter: RateLimiter<NotKeyed, Fill, RateClock, NoOpMiddleware<Nanos>>,
    fill: Fill,
    start: Nanos,
}

/// When the bucket will be empty again, in nanoseconds since its limiter was made; governor's own state.
#[derive(Clone, Debug, Default)]
struct Fill(Arc<AtomicU64>);

impl StateStore for Fill {
    type Key = NotKeyed;

    /// The table's lock makes this the only one who measures.
    fn measure_and_replace<T, F, E>(&self, _key: &NotKeyed, f: F) -> Result<T, E>
    where
        F: Fn(Option<Nanos>) -> Result<(T, Nanos), E>,
    {
        let old = self.0.load(Ordering::Relaxed);
        let (answer, new) = f((old > 0).then(|| Nanos::new(old)))?;
        self.0.store(new.as_u64(), Ordering::Relaxed);
        Ok(answer)
    }
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
        let minute_before = buckets.minute.fill.0.load(Ordering::Relaxed);
        buckets.minute.take(now).map_err(|wait| refused(limit.per_minute, "minute", wait))?;
        buckets.hour.take(now).map_err(|wait| {
            buckets.minute.fill.0.store(minute_before, Ordering::Relaxed);
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

impl Table {
    /// The buckets of a caller and a tool; `None` when the table is full.
    fn buckets(
        &mut self,
        caller: &CallerKey,
        tool: &ToolId,
        limit: RateLimit,
        clock: &RateClock,
        capacity: usize,
    ) -> Option<&mut Buckets> {
        let known = self.callers.get(caller).is_some_and(|tools| tools.contains_key(tool));
        if !known {
            if self.size >= capacity {
                self.forget_idle(clock.now());
            }
            if self.size >= capacity {
                return None;
            }
            let empty_at = self.saved.remove(&(caller.clone(), tool.clone())).unwrap_or((0, 0));
            let buckets = Buckets::new(limit, clock, empty_at);
            self.callers.entry(caller.clone()).or_default().insert(tool.clone(), buckets);
            self.size += 1;
        }
        let buckets = self.callers.get_mut(caller)?.get_mut(tool)?;
        // A grant or an update has changed the limit since: what was taken stays taken.
        if buckets.limit != limit {
            *buckets = Buckets::new(limit, clock, buckets.empty_at());
        }
        Some(buckets)
    }

    /// Drops the pairs whose buckets are both empty: a new pair would stand exactly as they do.
    fn forget_idle(&mut self, now: Nanos) {
        if self.searched.is_some_and(|last| now.duration_since(last) < Nanos::from(SEARCH_EVERY)) {
            return;
        }
        self.searched = Some(now);
        for tools in self.callers.values_mut() {
            tools.retain(|_, buckets| buckets.minute.empty_at() > now || buckets.hour.empty_at() > now);
        }
        self.callers.retain(|_, tools| !tools.is_empty());
        self.size = self.callers.values().map(HashMap::len).sum();
    }

    fn filled(&self, now: Nanos) -> Vec<SavedBucket> {
        let live = self
            .callers
            .iter()
            .flat_map(|(caller, tools)| tools.iter().map(move |(tool, buckets)| (caller, tool, buckets.empty_at())));
        let kept = self.saved.iter().map(|((caller, tool), empty_at)| (caller, tool, *empty_at));
        live.chain(kept)
            .filter(|(_, _, (minute, hour))| *minute.max(hour) > now.as_u64())
            .map(|(caller, tool, (minute_empty_at, hour_empty_at))| SavedBucket {
                caller: caller.clone(),
                tool: tool.clone(),
                minute_empty_at,
                hour_empty_at,
            })
            .collect()
    }
}

impl Buckets {
    /// Buckets that will be empty at these times, of the minute and of the hour, in nanoseconds since the Unix epoch.
    fn new(limit: RateLimit, clock: &RateClock, (minute, hour): (u64, u64)) -> Self {
        Self {
            limit,
            minute: Bucket::new(limit.per_minute, MINUTE, clock, minute),
            hour: Bucket::new(limit.per_hour, HOUR, clock, hour),
        }
    }

    fn empty_at(&self) -> (u64, u64) {
        (self.minute.empty_at().as_u64(), self.hour.empty_at().as_u64())
    }
}

impl Bucket {
    fn new(per_period: u32, period: Duration, clock: &RateClock, empty_at: u64) -> Self {
        let (start, fill) = (clock.now(), Fill::default());
        fill.0.store(empty_at.saturating_sub(start.as_u64()), Ordering::Relaxed);
        let limiter = RateLimiter::new(quota(per_period, period), fill.clone(), clock.clone());
        Self { limiter, fill, start }
    }

    /// Takes one call, or says how long to wait.
    fn take(&self, now: Nanos) -> Result<(), Duration> {
        self.limiter.check().map_err(|not_until| {
            let wait = not_until.wait_time_from(now);
            // A wait of nothing would tell the caller to try again at once, in vain.
            wait.max(Duration::from_millis(1))
        })
    }

    fn empty_at(&self) -> Nanos {
        self.start + Nanos::new(self.fill.0.load(Ordering::Relaxed))
    }
}

/// N per period as a burst of b = N/4 and a steady rate of N − b, both at least 1.
fn quota(per_period: u32, period: Duration) -> Quota {
    let burst = (per_period / 4).max(1);
    let steady = per_period.saturating_sub(burst).max(1);
    // Rounded up, so that rounding never lets one call more through.
    let interval = Duration::from_nanos(nanoseconds(period).div_ceil(u64::from(steady)));
    Quota::with_period(interval)
        .expect("a period of a minute or more, divided by at most 2^32, is not zero")
        .allow_burst(NonZeroU32::new(burst).expect("at least 1"))
}

/// How much longer a call keeps a bucket filled, in nanoseconds.
fn weight(per_period: u32, period: Duration) -> u64 {
    nanoseconds(quota(per_period, period).replenish_interval())
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::gates::policy::OperatorLimits;

    /// How many calls of `bucket` pass when one is tried at each of `times`.
    fn admitted(bucket: &Bucket, now: &AtomicU64, times: &[u64]) -> Vec<u64> {
        let mut passed = Vec::new();
        for time in times {
            now.store(*time, Ordering::Relaxed);
            if bucket.take(Nanos::new(*time)).is_ok() {
                passed.push(*time);
            }
        }
        passed
    }

    fn bucket(per_period: u32, period: Duration) -> (Bucket, Arc<AtomicU64>) {
        let now = Arc::new(AtomicU64::new(0));
        let shown = now.clone();
        let clock = RateClock::of(move || shown.load(Ordering::Relaxed));
        (Bucket::new(per_period, period, &clock, 0), now)
    }

    #[test]
    fn one_per_minute_is_one_per_minute() {
        let (bucket, now) = bucket(1, MINUTE);
        let second = 1_000_000_000;
        assert_eq!(admitted(&bucket, &now, &[0, 30 * second, 60 * second]), [0, 60 * second]);
    }

    #[test]
    fn a_refusal_says_how_long_to_wait() {
        let (bucket, now) = bucket(1, MINUTE);
        admitted(&bucket, &now, &[0]);
        now.store(nanoseconds(Duration::from_secs(20)), Ordering::Relaxed);
        let wait = bucket.take(Nanos::from(Duration::from_secs(20))).unwrap_err();
        assert_eq!(wait, Duration::from_secs(40));
    }

    #[test]
    fn a_limit_that_changes_forgets_nothing() {
        let shown = Arc::new(AtomicU64::new(1));
        let clock = RateClock::of({
            let shown = shown.clone();
            move || shown.load(Ordering::Relaxed)
        });
        let (caller, tool) = (CallerKey::default(), ToolId::new("calc", "evaluate").unwrap());
        let mut table = Table::default();
        let mut take = |per_minute| {
            let limit = RateLimit { per_minute, per_hour: u32::MAX };
            let buckets = table.buckets(&caller, &tool, limit, &clock, 10).unwrap();
            buckets.minute.take(clock.now()).is_ok()
        };
        assert!(take(40) && take(40));
        assert!(!take(1), "two calls were made in this minute");
        assert!(!take(4), "and still were");
        shown.store(nanoseconds(MINUTE) * 2, Ordering::Relaxed);
        assert!(take(1) && !take(1));
    }

    #[test]
    fn calls_after_the_last_save_weigh_as_much_as_if_they_had_been_saved() {
        let second = 1_000_000_000;
        let shown = Arc::new(AtomicU64::new(1000 * second));
        let clock = RateClock::of({
            let shown = shown.clone();
            move || shown.load(Ordering::Relaxed)
        });
        let (caller, tool) = (CallerKey::default(), ToolId::new("calc", "evaluate").unwrap());
        let limit = RateLimit::default();
        let gate = || RateGate::new(RateRules::default(), clock.clone(), 10);
        let live = gate();
        let mut calls = Vec::new();
        for time in [1000, 1000, 1001, 1003] {
            shown.store(time * second, Ordering::Relaxed);
            let mut table = live.lock();
            let buckets = table.buckets(&caller, &tool, limit, &clock, 10).unwrap();
            buckets.minute.take(clock.now()).unwrap();
            buckets.hour.take(clock.now()).unwrap();
            calls.push(PermittedCall { caller: caller.clone(), tool: tool.clone(), time: time * 1000 });
        }
        let saved = live.lock().filled(clock.now());
        let registry = Registry::new(OperatorLimits::default());
        let again = gate();
        again.restore(Vec::new(), calls.clone(), &registry);
        assert_eq!(again.lock().filled(clock.now()), saved);
        // On top of what was saved; and a clock that was set back keeps nobody out for long.
        let on_top = gate();
        let later = PermittedCall { time: u64::MAX, ..calls[0].clone() };
        on_top.restore(saved.clone(), vec![later], &registry);
        let bucket = &on_top.lock().filled(clock.now())[0];
        assert_eq!(bucket.minute_empty_at, saved[0].minute_empty_at + weight(limit.per_minute, MINUTE));
        assert_eq!(bucket.hour_empty_at, saved[0].hour_empty_at + weight(limit.per_hour, HOUR));
    }

    #[test]
    fn what_is_counted_anew_at_each_start_is_saved_when_it_has_become_much() {
        let call =
            PermittedCall { caller: CallerKey::default(), tool: ToolId::new("calc", "evaluate").unwrap(), time: 1 };
        for (count, changed) in [(MANY_CALLS, false), (MANY_CALLS + 1, true)] {
            let gate = RateGate::new(RateRules::default(), RateClock::system(), 10);
            gate.restore(Vec::new(), vec![call.clone(); count], &Registry::new(OperatorLimits::default()));
            assert_eq!(gate.lock().changed, changed);
        }
    }

    proptest! {
        #[test]
        fn no_window_sees_more_than_its_number(
            per_period in 1u32..50,
            gaps in proptest::collection::vec(0u64..5_000_000_000, 1..400),
        ) {
            let (bucket, now) = bucket(per_period, MINUTE);
            let mut time = 0;
            let times: Vec<u64> = gaps.iter().map(|gap| { time += gap; time }).collect();
            let passed = admitted(&bucket, &now, &times);
            for (i, start) in passed.iter().enumerate() {
                let in_window = passed[i..].iter().take_while(|t| **t < start + nanoseconds(MINUTE)).count();
                prop_assert!(in_window <= per_period as usize, "{} in one minute", in_window);
            }
        }
    }
}
