//! One bucket: how often a tool may be called in a period, and how full that is.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use governor::clock::Clock as _;
use governor::middleware::NoOpMiddleware;
use governor::nanos::Nanos;
use governor::state::{NotKeyed, StateStore};
use governor::{Quota, RateLimiter};

use super::clock::{RateClock, nanoseconds};

/// A bucket.
pub(super) struct Bucket {
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

impl Bucket {
    /// A bucket that will be empty at `empty_at`.
    pub(super) fn new(per_period: u32, period: Duration, clock: &RateClock, empty_at: u64) -> Self {
        let (start, fill) = (clock.now(), Fill::default());
        fill.0.store(empty_at.saturating_sub(start.as_u64()), Ordering::Relaxed);
        let limiter = RateLimiter::new(quota(per_period, period), fill.clone(), clock.clone());
        Self { limiter, fill, start }
    }

    /// Takes one call, or says how long to wait.
    pub(super) fn take(&self, now: Nanos) -> Result<(), Duration> {
        self.limiter.check().map_err(|not_until| {
            let wait = not_until.wait_time_from(now);
            // A wait of nothing would tell the caller to try again at once, in vain.
            wait.max(Duration::from_millis(1))
        })
    }

    /// How full it is, to be set back to.
    pub(super) fn level(&self) -> u64 {
        self.fill.0.load(Ordering::Relaxed)
    }

    /// Makes it as full as it was.
    pub(super) fn set_back(&self, level: u64) {
        self.fill.0.store(level, Ordering::Relaxed);
    }

    /// When it will be empty again.
    pub(super) fn empty_at(&self) -> Nanos {
        self.start + Nanos::new(self.level())
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
pub(super) fn weight(per_period: u32, period: Duration) -> u64 {
    nanoseconds(quota(per_period, period).replenish_interval())
}
