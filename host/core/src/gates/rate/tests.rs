use std::sync::atomic::{AtomicU64, Ordering};

use governor::nanos::Nanos;
use proptest::prelude::*;

use super::bucket::Bucket;
use super::*;
use crate::caller::CallerKey;
use crate::limit::OperatorLimits;

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
fn a_clock_that_was_far_ahead_keeps_nobody_out_for_longer_than_a_period() {
    let shown = Arc::new(AtomicU64::new(1));
    let clock = RateClock::of({
        let shown = shown.clone();
        move || shown.load(Ordering::Relaxed)
    });
    let far = nanoseconds(HOUR) * 24 * 365;
    for (per_period, period) in [(1, MINUTE), (60, MINUTE), (1, HOUR), (1000, HOUR)] {
        shown.store(1, Ordering::Relaxed);
        let bucket = Bucket::new(per_period, period, &clock, far);
        let wait = bucket.take(clock.now()).unwrap_err();
        assert!(wait <= period, "{wait:?}");
        shown.store(1 + nanoseconds(period), Ordering::Relaxed);
        assert!(bucket.take(clock.now()).is_ok());
    }
}

#[test]
fn what_is_counted_anew_at_each_start_is_saved_when_it_has_become_much() {
    let call = PermittedCall { caller: CallerKey::default(), tool: ToolId::new("calc", "evaluate").unwrap(), time: 1 };
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
