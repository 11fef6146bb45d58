//! The buckets of all callers, each for the tools that it called.

use std::collections::HashMap;

use governor::clock::{Clock as _, Reference as _};
use governor::nanos::Nanos;

use super::bucket::Bucket;
use super::clock::RateClock;
use super::saved::SavedBucket;
use super::{HOUR, MINUTE, SEARCH_EVERY};
use crate::caller::CallerKey;
use crate::name::ToolId;
use crate::tool::RateLimit;

/// The table.
#[derive(Default)]
pub(super) struct Table {
    callers: HashMap<CallerKey, HashMap<ToolId, Buckets>>,
    size: usize,
    searched: Option<Nanos>,
    /// Whether a call was taken since the last save.
    pub(super) changed: bool,
    /// When the buckets of the last run are empty again (minute, hour), each until its caller comes back.
    pub(super) saved: HashMap<(CallerKey, ToolId), (u64, u64)>,
}

/// A caller's buckets for one tool.
pub(super) struct Buckets {
    limit: RateLimit,
    pub(super) minute: Bucket,
    pub(super) hour: Bucket,
}

impl Table {
    /// The buckets of a caller and a tool; `None` when the table is full.
    pub(super) fn buckets(
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

    /// The buckets that are not empty at `now`.
    pub(super) fn filled(&self, now: Nanos) -> Vec<SavedBucket> {
        let left = |empty_at: u64| empty_at.saturating_sub(now.as_u64());
        let live = self
            .callers
            .iter()
            .flat_map(|(caller, tools)| tools.iter().map(move |(tool, buckets)| (caller, tool, buckets.empty_at())));
        let kept = self.saved.iter().map(|((caller, tool), empty_at)| (caller, tool, *empty_at));
        live.chain(kept)
            .map(|(caller, tool, (minute, hour))| (caller, tool, left(minute), left(hour)))
            .filter(|(_, _, minute_left, hour_left)| *minute_left.max(hour_left) > 0)
            .map(|(caller, tool, minute_left, hour_left)| SavedBucket {
                caller: caller.clone(),
                tool: tool.clone(),
                minute_left,
                hour_left,
            })
            .collect()
    }
}

impl Buckets {
    /// Buckets that will be empty at these times, of the minute and of the hour, by the `clock`.
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
