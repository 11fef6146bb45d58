//! How many instances may live at once: for each caller and tool, for each tool, and in all.
//!
//! A caller cannot take a tool from others, and a tool cannot take the pool from others: neighbours of a guest that
//! waits for an hour still find a place.
//!
//! Calls that tools make have places of their own at each depth. A call waits for one of its depth, and holds those of
//! lesser depth that the calls above it have; at the greatest depth nobody waits for a deeper one. So however few places
//! there are, a tool that waits for another one never stands in its way.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ringfence_core::caller::CallerKey;
use ringfence_core::error::ToolError;
use ringfence_core::gates::depth::MAX_DEPTH;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::spare::{SPARES, Spare};

/// `[concurrency]` in the configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ConcurrencySettings {
    /// Calls of one tool by one caller that run at once, at each depth.
    #[schemars(range(min = 1))]
    pub per_caller_and_tool: u32,
    /// Calls of one tool that run at once, at each depth; absent: half of all instances.
    #[schemars(range(min = 1))]
    pub per_tool: Option<u32>,
    /// How long a call waits for a place, in milliseconds.
    pub wait_ms: u64,
}

impl Default for ConcurrencySettings {
    fn default() -> Self {
        Self { per_caller_and_tool: 16, per_tool: None, wait_ms: 5000 }
    }
}

/// The depths at which a call can stand.
const DEPTHS: usize = MAX_DEPTH as usize + 1;

/// Live instances of calls that tools make, all tools together, at each depth. The pool has room for them beside the others.
const NESTED: u32 = 64;

/// Live instances beside those of calls at the top, of which there can be `instances`.
pub(crate) fn nested(instances: u32) -> u32 {
    MAX_DEPTH * per_depth(instances)
}

fn per_depth(instances: u32) -> u32 {
    instances.min(NESTED)
}

fn semaphore(places: u32) -> Arc<Semaphore> {
    Arc::new(Semaphore::new(places as usize))
}

/// The places of all tools together.
pub struct Concurrency {
    settings: ConcurrencySettings,
    depths: [Depth; DEPTHS],
    spares: Arc<Semaphore>,
}

/// The places at one depth.
struct Depth {
    /// Of all tools together.
    all: Arc<Semaphore>,
    /// Of any one tool.
    per_tool: u32,
}

/// The places of one tool.
pub(crate) struct ToolPlaces {
    wait: Duration,
    depths: [Places; DEPTHS],
}

/// The places of one tool at one depth.
struct Places {
    all: Arc<Semaphore>,
    tool: Arc<Semaphore>,
    callers: Callers,
}

/// A place for one instance. Dropping it frees it, so it has to outlive the instance.
pub(crate) struct Place {
    _all: OwnedSemaphorePermit,
    _tool: OwnedSemaphorePermit,
    _caller: Share,
}

impl Concurrency {
    /// Places for `instances` live instances in all, and some more for calls that tools make.
    pub fn new(settings: ConcurrencySettings, instances: u32) -> Self {
        let half = |places: u32| (places / 2).max(1);
        let per_tool = settings.per_tool.unwrap_or_else(|| half(instances));
        let nested = per_depth(instances);
        let depths = std::array::from_fn(|depth| match depth {
            0 => Depth { all: semaphore(instances), per_tool },
            _ => Depth { all: semaphore(nested), per_tool: per_tool.min(half(nested)) },
        });
        Self { settings, depths, spares: semaphore(SPARES) }
    }

    /// The spare instance of one more tool.
    pub(crate) fn spare(&self) -> Spare {
        Spare::new(self.spares.clone())
    }

    /// The places of one more tool.
    pub(crate) fn tool(&self) -> ToolPlaces {
        ToolPlaces {
            wait: Duration::from_millis(self.settings.wait_ms),
            depths: self.depths.each_ref().map(|depth| Places {
                all: depth.all.clone(),
                tool: semaphore(depth.per_tool),
                callers: Callers { size: self.settings.per_caller_and_tool as usize, in_use: Arc::default() },
            }),
        }
    }
}

impl ToolPlaces {
    /// A place for a call by `caller` at `depth`, which the gate keeps to at most [`MAX_DEPTH`]. How long it is waited for
    /// is bounded here, so it is no part of the call's own time.
    ///
    /// # Errors
    /// [`ToolError::Unavailable`] when there is none in time.
    pub(crate) async fn place(&self, caller: CallerKey, depth: u32) -> Result<Place, ToolError> {
        let places = &self.depths[depth.min(MAX_DEPTH) as usize];
        let place = async {
            let caller = places.callers.take(caller).await?;
            let tool = places.tool.clone().acquire_owned().await.ok()?;
            let all = places.all.clone().acquire_owned().await.ok()?;
            Some(Place { _all: all, _tool: tool, _caller: caller })
        };
        match tokio::time::timeout(self.wait, place).await {
            Ok(Some(place)) => Ok(place),
            _ => Err(busy("too many calls of it are running")),
        }
    }
}

/// The error of a call for which there is no room now.
pub(crate) fn busy(reason: &str) -> ToolError {
    ToolError::Unavailable { reason: reason.to_owned(), retry_after: Some(Duration::from_secs(1)) }
}

/// A semaphore for each caller who uses the tool; callers who don't take no memory.
struct Callers {
    size: usize,
    in_use: Arc<Mutex<HashMap<CallerKey, Arc<Semaphore>>>>,
}

struct Share {
    caller: CallerKey,
    permit: Option<OwnedSemaphorePermit>,
    in_use: Arc<Mutex<HashMap<CallerKey, Arc<Semaphore>>>>,
}

impl Callers {
    async fn take(&self, caller: CallerKey) -> Option<Share> {
        let semaphore = {
            let mut in_use = lock(&self.in_use);
            in_use.entry(caller.clone()).or_insert_with(|| Arc::new(Semaphore::new(self.size))).clone()
        };
        // Made before the wait, so that a wait that is given up cleans up as well.
        let mut share = Share { caller, permit: None, in_use: self.in_use.clone() };
        share.permit = Some(semaphore.acquire_owned().await.ok()?);
        Some(share)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        drop(self.permit.take());
        let mut in_use = lock(&self.in_use);
        // Only the map holds it: nobody uses it, nobody waits for it.
        if in_use.get(&self.caller).is_some_and(|semaphore| Arc::strong_count(semaphore) == 1) {
            in_use.remove(&self.caller);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(name: &str) -> CallerKey {
        CallerKey { user: Some(name.into()), ..CallerKey::default() }
    }

    #[tokio::test]
    async fn a_caller_cannot_take_a_tool_from_another() {
        let settings = ConcurrencySettings { per_caller_and_tool: 1, per_tool: Some(2), wait_ms: 10 };
        let places = Concurrency::new(settings, 8);
        let (a, b) = (places.tool(), places.tool());
        let first = a.place(user("one"), 0).await.unwrap();
        assert!(a.place(user("one"), 0).await.is_err());
        assert!(b.place(user("one"), 0).await.is_ok());
        assert!(a.place(user("two"), 0).await.is_ok());
        drop(first);
        assert!(a.place(user("one"), 0).await.is_ok());
        assert!(lock(&a.depths[0].callers.in_use).is_empty());
    }

    #[tokio::test]
    async fn a_tool_cannot_take_the_pool_from_others() {
        let settings = ConcurrencySettings { per_caller_and_tool: 8, per_tool: None, wait_ms: 10 };
        let places = Concurrency::new(settings, 4);
        let (greedy, other) = (places.tool(), places.tool());
        let held = [
            greedy.place(CallerKey::default(), 0).await.unwrap(),
            greedy.place(CallerKey::default(), 0).await.unwrap(),
        ];
        assert!(greedy.place(CallerKey::default(), 0).await.is_err());
        assert!(other.place(CallerKey::default(), 0).await.is_ok());
        drop(held);
        // Nor the places of calls that tools make.
        let _held = [
            greedy.place(CallerKey::default(), 1).await.unwrap(),
            greedy.place(CallerKey::default(), 1).await.unwrap(),
        ];
        assert!(greedy.place(CallerKey::default(), 1).await.is_err());
        assert!(other.place(CallerKey::default(), 1).await.is_ok());
    }

    #[tokio::test]
    async fn who_waits_for_another_tool_does_not_stand_in_its_way() {
        let settings = ConcurrencySettings { per_caller_and_tool: 1, per_tool: Some(1), wait_ms: 10 };
        let tool = Concurrency::new(settings, 1).tool();
        let mut chain = Vec::new();
        for depth in 0..=MAX_DEPTH {
            chain.push(tool.place(user("one"), depth).await.unwrap());
            assert!(tool.place(user("one"), depth).await.is_err(), "at each depth the settings hold");
        }
        drop(chain.pop());
        assert!(tool.place(user("two"), MAX_DEPTH).await.is_ok());
    }
}
