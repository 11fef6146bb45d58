//! How many instances may live at once: for each caller and tool, for each tool, and in all.
//!
//! A caller cannot take a tool from others, and a tool cannot take the pool from others: neighbours of a guest that
//! waits for an hour still find a place.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ringfence_core::caller::CallerKey;
use ringfence_core::error::ToolError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::spare::{SPARES, Spare};

/// `[concurrency]` in the configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ConcurrencySettings {
    /// Calls of one tool by one caller that run at once.
    #[schemars(range(min = 1))]
    pub per_caller_and_tool: u32,
    /// Calls of one tool that run at once; absent: half of all instances.
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

/// The places of all tools together.
pub struct Concurrency {
    settings: ConcurrencySettings,
    per_tool: usize,
    all: Arc<Semaphore>,
    spares: Arc<Semaphore>,
}

/// The places of one tool.
pub(crate) struct ToolPlaces {
    wait: Duration,
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
    /// Places for `instances` live instances in all.
    pub fn new(settings: ConcurrencySettings, instances: u32) -> Self {
        let per_tool = settings.per_tool.unwrap_or_else(|| (instances / 2).max(1)) as usize;
        let [all, spares] = [instances, SPARES].map(|places| Arc::new(Semaphore::new(places as usize)));
        Self { settings, per_tool, all, spares }
    }

    /// The spare instance of one more tool.
    pub(crate) fn spare(&self) -> Spare {
        Spare::new(self.spares.clone())
    }

    /// The places of one more tool.
    pub(crate) fn tool(&self) -> ToolPlaces {
        ToolPlaces {
            wait: Duration::from_millis(self.settings.wait_ms),
            all: self.all.clone(),
            tool: Arc::new(Semaphore::new(self.per_tool)),
            callers: Callers { size: self.settings.per_caller_and_tool as usize, in_use: Arc::default() },
        }
    }
}

impl ToolPlaces {
    /// A place for a call by `caller`.
    ///
    /// # Errors
    /// [`ToolError::Unavailable`] when there is none in time.
    pub(crate) async fn place(&self, caller: CallerKey) -> Result<Place, ToolError> {
        let place = async {
            let caller = self.callers.take(caller).await?;
            let tool = self.tool.clone().acquire_owned().await.ok()?;
            let all = self.all.clone().acquire_owned().await.ok()?;
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
        let first = a.place(user("one")).await.unwrap();
        assert!(a.place(user("one")).await.is_err());
        assert!(b.place(user("one")).await.is_ok());
        assert!(a.place(user("two")).await.is_ok());
        drop(first);
        assert!(a.place(user("one")).await.is_ok());
        assert!(lock(&a.callers.in_use).is_empty());
    }

    #[tokio::test]
    async fn a_tool_cannot_take_the_pool_from_others() {
        let settings = ConcurrencySettings { per_caller_and_tool: 8, per_tool: None, wait_ms: 10 };
        let places = Concurrency::new(settings, 4);
        let (greedy, other) = (places.tool(), places.tool());
        let held =
            [greedy.place(CallerKey::default()).await.unwrap(), greedy.place(CallerKey::default()).await.unwrap()];
        assert!(greedy.place(CallerKey::default()).await.is_err());
        assert!(other.place(CallerKey::default()).await.is_ok());
        drop(held);
    }
}
