//! The scrubber of now: what is secret changes while the host runs.

use std::sync::{Arc, PoisonError, RwLock};

use super::scrub::Scrubber;

/// Holds the scrubber that all calls share, until one that knows other secrets takes its place.
#[derive(Debug)]
pub struct CurrentScrubber(RwLock<Arc<Scrubber>>);

impl CurrentScrubber {
    /// Begins with `scrubber`.
    pub fn new(scrubber: Scrubber) -> Self {
        Self(RwLock::new(Arc::new(scrubber)))
    }

    /// The scrubber of now.
    pub fn get(&self) -> Arc<Scrubber> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// From now on `scrubber`. Calls that are running end with it as well.
    pub fn replace(&self, scrubber: Scrubber) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(scrubber);
    }
}
