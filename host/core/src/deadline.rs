//! The time that a call may take.

use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::FutureExt as _;
use tokio::sync::Notify;
use tokio::time::Instant;

/// When a call ends at the latest. Its clock stands while the call waits for a place: the time is for what the tool does,
/// how long a call may wait is bounded by itself, and how busy the host is says nothing about a tool. Copies are of the
/// same clock.
#[derive(Clone, Debug)]
pub(crate) struct Deadline {
    own: Arc<Own>,
    /// When the call above this one ends, where there is one that does. It goes on while this one waits.
    above: Option<Instant>,
}

#[derive(Debug)]
struct Own {
    clock: Mutex<Clock>,
    goes_on: Notify,
}

/// A call's own clock.
#[derive(Clone, Copy, Debug)]
enum Clock {
    /// It runs, until then if that is a time at all.
    Runs(Option<Instant>),
    Stands,
}

impl Deadline {
    /// From now on, for as long as `limit`.
    pub(crate) fn new(limit: Duration, above: Option<Instant>) -> Self {
        let clock = Mutex::new(Clock::Runs(Instant::now().checked_add(limit)));
        Self { own: Arc::new(Own { clock, goes_on: Notify::new() }), above }
    }

    /// When it passes, as far as that can be said now.
    pub(crate) fn ends(&self) -> Option<Instant> {
        self.earliest(*self.clock())
    }

    /// How much time is left.
    pub(crate) fn left(&self) -> Duration {
        self.ends().map_or(Duration::MAX, |ends| ends.saturating_duration_since(Instant::now()))
    }

    /// Waits until it has passed.
    pub(crate) async fn passed(&self) {
        loop {
            // Before the look at the clock, so that it does not go on unseen.
            let goes_on = self.own.goes_on.notified();
            let clock = *self.clock();
            let end = until(self.earliest(clock));
            match clock {
                Clock::Runs(_) => end.await,
                Clock::Stands => tokio::select! {
                    () = end => {}
                    () = goes_on => {}
                },
            }
            // Meanwhile it may have stood: then it ends later.
            if self.left().is_zero() {
                return;
            }
        }
    }

    /// Waits for `place` while the clock stands.
    pub(crate) async fn stand_for<T>(&self, place: impl Future<Output = T>) -> T {
        let mut place = pin!(place);
        // Mostly nobody has to wait.
        if let Some(place) = place.as_mut().now_or_never() {
            return place;
        }
        let (clock, begun) = (std::mem::replace(&mut *self.clock(), Clock::Stands), Instant::now());
        let place = place.await;
        *self.clock() = match clock {
            Clock::Runs(ends) => Clock::Runs(ends.and_then(|ends| ends.checked_add(begun.elapsed()))),
            Clock::Stands => Clock::Stands,
        };
        self.own.goes_on.notify_waiters();
        place
    }

    fn earliest(&self, clock: Clock) -> Option<Instant> {
        let own = match clock {
            Clock::Runs(ends) => ends,
            Clock::Stands => None,
        };
        own.into_iter().chain(self.above).min()
    }

    fn clock(&self) -> MutexGuard<'_, Clock> {
        self.own.clock.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn until(end: Option<Instant>) {
    match end {
        Some(end) => tokio::time::sleep_until(end).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::{advance, sleep};

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// Timers go by milliseconds.
    fn seconds(time: Duration) -> f64 {
        time.as_secs_f64().round()
    }

    #[tokio::test(start_paused = true)]
    async fn it_passes_in_its_time() {
        let (begun, deadline) = (Instant::now(), Deadline::new(3 * SECOND, None));
        deadline.passed().await;
        assert_eq!(seconds(begun.elapsed()), 3.0);
        assert_eq!(deadline.left(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn it_does_not_pass_while_a_place_is_waited_for() {
        let (begun, deadline) = (Instant::now(), Deadline::new(3 * SECOND, None));
        let call = async {
            sleep(SECOND).await;
            deadline.stand_for(sleep(10 * SECOND)).await;
            assert_eq!(seconds(deadline.left()), 2.0);
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = call => {}
            () = deadline.passed() => {}
        }
        assert_eq!(seconds(begun.elapsed()), 13.0);
    }

    #[tokio::test(start_paused = true)]
    async fn it_passes_with_that_of_the_call_above_also_while_a_place_is_waited_for() {
        let (begun, deadline) = (Instant::now(), Deadline::new(9 * SECOND, Some(Instant::now() + 5 * SECOND)));
        tokio::select! {
            () = deadline.stand_for(sleep(10 * SECOND)) => {}
            () = deadline.passed() => {}
        }
        assert_eq!(seconds(begun.elapsed()), 5.0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_place_that_is_free_costs_no_time_and_a_time_without_an_end_has_none() {
        let deadline = Deadline::new(SECOND, None);
        assert_eq!(deadline.stand_for(async { 5 }).await, 5);
        assert_eq!(deadline.left(), SECOND);
        let endless = Deadline::new(Duration::MAX, None);
        advance(SECOND).await;
        assert_eq!(endless.left(), Duration::MAX);
    }
}
