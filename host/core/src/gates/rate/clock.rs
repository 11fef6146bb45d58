//! The clock of the rates.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use governor::clock::Clock;
use governor::nanos::Nanos;

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

pub(super) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
