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
        let age = Duration::from_secs(1003 - time);
        calls.push(PermittedCall { caller: caller.clone(), tool: tool.clone(), age });
    }
    let saved = live.lock().filled(clock.now());
    let registry = Registry::new(OperatorLimits::default());
    let again = gate();
    again.restore(Vec::new(), Duration::MAX, calls.clone(), &registry);
    assert_eq!(again.lock().filled(clock.now()), saved);
    // On top of what was saved.
    let on_top = gate();
    let last = PermittedCall { age: Duration::ZERO, ..calls[0].clone() };
    on_top.restore(saved.clone(), Duration::ZERO, vec![last], &registry);
    let bucket = &on_top.lock().filled(clock.now())[0];
    assert_eq!(bucket.minute_left, saved[0].minute_left + weight(limit.per_minute, MINUTE));
    assert_eq!(bucket.hour_left, saved[0].hour_left + weight(limit.per_hour, HOUR));
    // Of what was saved, what passed since has gone.
    let later = gate();
    later.restore(saved.clone(), Duration::from_secs(1), Vec::new(), &registry);
    assert_eq!(later.lock().filled(clock.now())[0].minute_left, saved[0].minute_left - second);
}

#[test]
fn whatever_was_saved_keeps_nobody_out_for_longer_than_a_period() {
    let (caller, tool) = (CallerKey::default(), ToolId::new("calc", "evaluate").unwrap());
    let saved = |left| SavedBucket { caller: caller.clone(), tool: tool.clone(), minute_left: left, hour_left: left };
    let call = PermittedCall { caller: caller.clone(), tool: tool.clone(), age: Duration::MAX };
    for (left, passed) in [(u64::MAX, Duration::ZERO), (u64::MAX, HOUR), (0, Duration::MAX), (i64::MAX as u64, HOUR)] {
        let shown = Arc::new(AtomicU64::new(nanoseconds(HOUR)));
        let clock = RateClock::of({
            let shown = shown.clone();
            move || shown.load(Ordering::Relaxed)
        });
        let gate = RateGate::new(RateRules::default(), clock.clone(), 10);
        let registry = Registry::new(OperatorLimits::default());
        gate.restore(vec![saved(left)], passed, vec![call.clone(); 2000], &registry);
        shown.fetch_add(nanoseconds(HOUR), Ordering::Relaxed);
        let mut table = gate.lock();
        let buckets = table.buckets(&caller, &tool, RateLimit::default(), &clock, 10).unwrap();
        assert!(buckets.minute.take(clock.now()).is_ok() && buckets.hour.take(clock.now()).is_ok());
    }
}

#[test]
fn what_is_counted_anew_at_each_start_is_saved_when_it_has_become_much() {
    let (caller, tool) = (CallerKey::default(), ToolId::new("calc", "evaluate").unwrap());
    let call = PermittedCall { caller, tool, age: HOUR };
    for (count, changed) in [(MANY_CALLS, false), (MANY_CALLS + 1, true)] {
        let gate = RateGate::new(RateRules::default(), RateClock::system(), 10);
        gate.restore(Vec::new(), Duration::ZERO, vec![call.clone(); count], &Registry::new(OperatorLimits::default()));
        assert_eq!(gate.lock().changed, changed);
    }
}

/// A caller of one tool, and the host behind it, which ends and comes back. Only the test knows the time.
struct Restarted {
    now: Arc<AtomicU64>,
    gate: RateGate,
    /// What was saved, and when.
    saved: (Vec<SavedBucket>, u64),
    /// When calls were permitted that are not in what was saved.
    unsaved: Vec<u64>,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Call,
    Wait(u64),
    Save,
    /// The host is killed and comes back, and takes this share of what passed since the save, in tenths, for the whole:
    /// fewer than ten where the clock was set back.
    Restart(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => Just(Step::Call),
        3 => (0u64..1_000_000_000).prop_map(Step::Wait),
        1 => Just(Step::Save),
        1 => (0u64..=10).prop_map(Step::Restart),
    ];
    proptest::collection::vec(step, 1..600)
}

impl Restarted {
    fn new() -> Self {
        let now = Arc::new(AtomicU64::new(0));
        Self { gate: Self::gate(&now), now, saved: (Vec::new(), 0), unsaved: Vec::new() }
    }

    /// The gate of a process that begins now. Its clock begins with it.
    fn gate(now: &Arc<AtomicU64>) -> RateGate {
        let (shown, start) = (now.clone(), now.load(Ordering::Relaxed));
        let clock = RateClock::of(move || nanoseconds(HOUR) + shown.load(Ordering::Relaxed) - start);
        RateGate::new(RateRules::default(), clock, 10)
    }

    fn now(&self) -> u64 {
        self.now.load(Ordering::Relaxed)
    }

    fn call(&mut self) -> Result<(), Duration> {
        let (caller, tool) = (CallerKey::default(), ToolId::new("calc", "evaluate").unwrap());
        let mut table = self.gate.lock();
        let buckets = table.buckets(&caller, &tool, RateLimit::default(), &self.gate.clock, 10).unwrap();
        let taken = buckets.minute.take(self.gate.clock.now());
        drop(table);
        if taken.is_ok() {
            self.unsaved.push(self.now());
        }
        taken
    }

    fn save(&mut self) {
        self.saved = (self.gate.lock().filled(self.gate.clock.now()), self.now());
        self.unsaved.clear();
    }

    fn restart(&mut self, tenths: u64) {
        let (caller, tool) = (CallerKey::default(), ToolId::new("calc", "evaluate").unwrap());
        let told = |passed: u64| Duration::from_nanos(passed / 10 * tenths);
        let call = |time| PermittedCall { caller: caller.clone(), tool: tool.clone(), age: told(self.now() - time) };
        let calls = self.unsaved.iter().copied().map(call).collect();
        self.gate = Self::gate(&self.now);
        let registry = Registry::new(OperatorLimits::default());
        self.gate.restore(self.saved.0.clone(), told(self.now() - self.saved.1), calls, &registry);
    }
}

proptest! {
    #[test]
    fn no_restart_and_no_clock_that_is_set_back_gives_more_calls_than_the_rate(steps in steps()) {
        let mut host = Restarted::new();
        let mut passed = Vec::new();
        for step in steps {
            match step {
                Step::Call => match host.call() {
                    Ok(()) => passed.push(host.now()),
                    Err(wait) => prop_assert!(wait <= MINUTE, "{:?}", wait),
                },
                Step::Wait(time) => drop(host.now.fetch_add(time, Ordering::Relaxed)),
                Step::Save => host.save(),
                Step::Restart(tenths) => host.restart(tenths),
            }
        }
        let allowed = RateLimit::default().per_minute as usize;
        for (i, start) in passed.iter().enumerate() {
            let in_window = passed[i..].iter().take_while(|t| **t < start + nanoseconds(MINUTE)).count();
            prop_assert!(in_window <= allowed, "{} in one minute", in_window);
        }
        host.now.fetch_add(nanoseconds(MINUTE), Ordering::Relaxed);
        prop_assert!(host.call().is_ok(), "kept out for longer than a minute");
    }

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
