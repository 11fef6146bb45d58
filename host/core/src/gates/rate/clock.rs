//! The clock of the rates.

use std::sync::Arc;
use std::time::{Duration, Instant};

use governor::clock::Clock;
use governor::nanos::Nanos;

use super::LONGEST_PERIOD;

/// A clock in nanoseconds that never goes back and that nobody can set. It begins anew with each process, so what is kept
/// over a restart is how full the buckets are, not when they will be empty.
#[derive(Clone)]
pub struct RateClock(Arc<dyn Fn() -> u64 + Send + Sync>);

impl RateClock {
    /// The machine's monotonic count. It begins with the longest period, so that calls before the start have a time.
    pub fn system() -> Self {
        let start = Instant::now();
        Self(Arc::new(move || nanoseconds(LONGEST_PERIOD + start.elapsed())))
    }

    /// A clock that shows what `now` says.
    #[cfg(test)]
    pub(super) fn of(now: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }
}

impl Clock for RateClock {
    type Instant = Nanos;

    fn now(&self) -> Nanos {
        Nanos::new((self.0)())
    }
}

pub(super) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
