//! How many instances may live at once: for each caller and tool, for each tool, and in all.
//!
//! A caller cannot take a tool from others, and a tool cannot take the pool from others: neighbours of a guest that
//! waits for an hour still find a place.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ringfence_core::caller::CallerKey;
use ringfence_core::error::ToolError;
use ringfence_core::name::ToolId;
use serde::{Deserialize, Serialize};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// `[concurrency]` in the configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ConcurrencySettings {
    /// Calls of one tool by one caller that run at once.
    pub per_caller_and_tool: u32,
    /// Calls of one tool that run at once; `None`: half of all instances.
    pub per_tool: Option<u32>,
    /// How long a call waits for a place, in milliseconds.
    pub wait_ms: u64,
}

impl Default for ConcurrencySettings {
    fn default() -> Self {
        Self { per_caller_and_tool: 16, per_tool: None, wait_ms: 5000 }
    }
}

/// Hands out places.
pub struct Concurrency {
    settings: ConcurrencySettings,
    all: Arc<Semaphore>,
    tools: Shares<ToolId>,
    callers: Shares<(CallerKey, ToolId)>,
}

/// A place for one instance. Dropping it frees it, so it has to outlive the instance.
pub(crate) struct Place {
    _all: OwnedSemaphorePermit,
    _tool: Share<ToolId>,
    _caller: Share<(CallerKey, ToolId)>,
}

impl Concurrency {
    /// Places for `instances` live instances in all.
    pub fn new(settings: ConcurrencySettings, instances: u32) -> Self {
        let per_tool = settings.per_tool.unwrap_or_else(|| (instances / 2).max(1));
        Self {
            all: Arc::new(Semaphore::new(instances as usize)),
            tools: Shares::new(per_tool),
            callers: Shares::new(settings.per_caller_and_tool),
            settings,
        }
    }

    /// Waits for a place.
    ///
    /// # Errors
    /// [`ToolError::Unavailable`] when there is none in time.
    pub(crate) async fn place(&self, caller: CallerKey, tool: &ToolId) -> Result<Place, ToolError> {
        let wait = Duration::from_millis(self.settings.wait_ms);
        let place = async {
            let caller = self.callers.take((caller, tool.clone())).await?;
            let tool = self.tools.take(tool.clone()).await?;
            let all = self.all.clone().acquire_owned().await.ok()?;
            Some(Place { _all: all, _tool: tool, _caller: caller })
        };
        match tokio::time::timeout(wait, place).await {
            Ok(Some(place)) => Ok(place),
            _ => Err(busy("too many calls of it are running")),
        }
    }
}

/// The error of a call for which there is no room now.
pub(crate) fn busy(reason: &str) -> ToolError {
    ToolError::Unavailable { reason: reason.to_owned(), retry_after: Some(Duration::from_secs(1)) }
}

/// A semaphore for each key that is in use; keys that are not take no memory.
struct Shares<K> {
    size: usize,
    in_use: Arc<Mutex<HashMap<K, Arc<Semaphore>>>>,
}

struct Share<K: std::hash::Hash + Eq> {
    key: K,
    permit: Option<OwnedSemaphorePermit>,
    in_use: Arc<Mutex<HashMap<K, Arc<Semaphore>>>>,
}

impl<K: std::hash::Hash + Eq + Clone> Shares<K> {
    fn new(size: u32) -> Self {
        Self { size: size as usize, in_use: Arc::default() }
    }

    async fn take(&self, key: K) -> Option<Share<K>> {
        let semaphore = {
            let mut in_use = self.in_use.lock().unwrap_or_else(PoisonError::into_inner);
            in_use.entry(key.clone()).or_insert_with(|| Arc::new(Semaphore::new(self.size))).clone()
        };
        // Made before the wait, so that a wait that is given up cleans up as well.
        let mut share = Share { key, permit: None, in_use: self.in_use.clone() };
        share.permit = Some(semaphore.acquire_owned().await.ok()?);
        Some(share)
    }
}

impl<K: std::hash::Hash + Eq> Drop for Share<K> {
    fn drop(&mut self) {
        drop(self.permit.take());
        let mut in_use = self.in_use.lock().unwrap_or_else(PoisonError::into_inner);
        // Only the map holds it: nobody uses it, nobody waits for it.
        if in_use.get(&self.key).is_some_and(|semaphore| Arc::strong_count(semaphore) == 1) {
            in_use.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str) -> ToolId {
        ToolId::new("s", name).unwrap()
    }

    #[tokio::test]
    async fn a_caller_cannot_take_a_tool_from_another() {
        let settings = ConcurrencySettings { per_caller_and_tool: 1, per_tool: Some(2), wait_ms: 10 };
        let places = Concurrency::new(settings, 8);
        let [one, two] = ["one", "two"].map(|user| CallerKey { user: Some(user.into()), ..CallerKey::default() });
        let first = places.place(one.clone(), &tool("a")).await.unwrap();
        assert!(places.place(one.clone(), &tool("a")).await.is_err());
        assert!(places.place(one.clone(), &tool("b")).await.is_ok());
        assert!(places.place(two, &tool("a")).await.is_ok());
        drop(first);
        assert!(places.place(one, &tool("a")).await.is_ok());
        assert!(places.callers.in_use.lock().unwrap().is_empty());
    }

    #[tokio::test]
    async fn a_tool_cannot_take_the_pool_from_others() {
        let settings = ConcurrencySettings { per_caller_and_tool: 8, per_tool: None, wait_ms: 10 };
        let places = Concurrency::new(settings, 4);
        let held = [
            places.place(CallerKey::default(), &tool("greedy")).await.unwrap(),
            places.place(CallerKey::default(), &tool("greedy")).await.unwrap(),
        ];
        assert!(places.place(CallerKey::default(), &tool("greedy")).await.is_err());
        assert!(places.place(CallerKey::default(), &tool("other")).await.is_ok());
        drop(held);
    }
}
