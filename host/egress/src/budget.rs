//! How much one call may send, receive and wait.

use std::collections::HashMap;
use std::num::NonZeroU64;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ringfence_core::grant::HttpRule;
use ringfence_core::limit::LimitExceeded;
use ringfence_core::{LimitKind, Limits};
use tokio::time::Instant;

/// What one call may use of the network and what it has used; shared by all its requests, also by those at once.
#[derive(Debug)]
pub struct Budget {
    limits: Limits,
    used: Mutex<Requests>,
}

#[derive(Debug, Default)]
struct Requests {
    all: u64,
    /// By the rules that let them pass: number of the set, place in it.
    by_rule: HashMap<(usize, usize), u64>,
}

impl Budget {
    /// A budget that nothing was used of. The limits of the rules lower `limits` further.
    pub fn new(limits: Limits) -> Self {
        Self { limits, used: Mutex::default() }
    }

    /// Takes a request of `bytes` bytes that `rules` let pass. Returns the limits that hold for it.
    ///
    /// # Errors
    /// When it is too large, or one too many. Nothing is taken then.
    pub(crate) fn take(&self, rules: &[(usize, &HttpRule)], bytes: u64) -> Result<Limits, LimitExceeded> {
        let limits = rules.iter().fold(self.limits.clone(), |limits, (_, rule)| under_rule(&limits, rule));
        if bytes > limits.get(LimitKind::HttpRequestBytes) {
            return Err(limits.exceeded(LimitKind::HttpRequestBytes, Some(bytes)));
        }
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let all = used.all + 1;
        if all > self.limits.get(LimitKind::HttpRequests) {
            return Err(self.limits.exceeded(LimitKind::HttpRequests, Some(all)));
        }
        let keys = || rules.iter().enumerate().map(|(set, (place, rule))| ((set, *place), *rule));
        for (key, rule) in keys() {
            let by_rule = used.by_rule.get(&key).copied().unwrap_or(0) + 1;
            // Not more than `limits` in any case, since all requests are not.
            if rule.requests.is_some_and(|most| by_rule > most.get()) {
                let limits = under_rule(&self.limits, rule);
                return Err(limits.exceeded(LimitKind::HttpRequests, Some(by_rule)));
            }
        }
        used.all = all;
        for (key, _) in keys() {
            *used.by_rule.entry(key).or_default() += 1;
        }
        Ok(limits)
    }

    /// Requests that were sent so far, redirects among them.
    pub fn requests(&self) -> u64 {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).all
    }
}

fn under_rule(limits: &Limits, rule: &HttpRule) -> Limits {
    [
        (LimitKind::HttpRequests, rule.requests),
        (LimitKind::HttpRequestBytes, rule.request_bytes),
        (LimitKind::HttpResponseBytes, rule.response_bytes),
        (LimitKind::HttpTime, rule.time_ms),
    ]
    .into_iter()
    .fold(limits.clone(), |limits, (kind, value)| limits.under_rule(kind, value.map(NonZeroU64::get)))
}

/// When a request has to be over. Each redirect can bring that nearer, never push it off.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    started: Instant,
    end: Option<(Instant, LimitExceeded)>,
}

impl Clock {
    /// Starts now.
    pub(crate) fn start() -> Self {
        Self { started: Instant::now(), end: None }
    }

    /// From now on `limits` hold as well.
    pub(crate) fn tighten(&mut self, limits: &Limits) {
        let time = Duration::from_millis(limits.get(LimitKind::HttpTime));
        // A time that the clock cannot add up to is no limit.
        let Some(end) = self.started.checked_add(time) else { return };
        if self.end.as_ref().is_none_or(|(earlier, _)| end < *earlier) {
            self.end = Some((end, limits.exceeded(LimitKind::HttpTime, None)));
        }
    }

    /// What `work` results in, if that is in time.
    pub(crate) async fn within<T>(&self, work: impl Future<Output = T>) -> Result<T, LimitExceeded> {
        let Some((end, exceeded)) = &self.end else { return Ok(work.await) };
        tokio::time::timeout_at(*end, work).await.map_err(|_| exceeded.clone())
    }
}

/// Counts bytes of a response as they arrive.
#[derive(Clone, Debug)]
pub(crate) struct Counter {
    limits: Limits,
    used: u64,
}

impl Counter {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, used: 0 }
    }

    /// Counts `bytes` more.
    pub(crate) fn add(&mut self, bytes: usize) -> Result<(), LimitExceeded> {
        self.used = self.used.saturating_add(bytes as u64);
        match self.used > self.limits.get(LimitKind::HttpResponseBytes) {
            true => Err(self.limits.exceeded(LimitKind::HttpResponseBytes, Some(self.used))),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use ringfence_core::LimitSet;
    use ringfence_core::grant::Methods;
    use ringfence_core::limit::SetBy;

    use super::*;

    fn limits(kind: LimitKind, value: u64) -> Limits {
        Limits::effective(&LimitSet::default(), &LimitSet::default().with(kind, value))
    }

    fn rule() -> HttpRule {
        HttpRule::new("https://x.com/**".parse().unwrap(), Methods::All)
    }

    #[test]
    fn requests_are_counted_over_all_rules_and_for_each() {
        let budget = Budget::new(limits(LimitKind::HttpRequests, 3));
        let scarce = HttpRule { requests: NonZeroU64::new(1), ..rule() };
        assert!(budget.take(&[(0, &scarce)], 1).is_ok());
        let exceeded = budget.take(&[(0, &scarce)], 1).unwrap_err();
        assert_eq!((exceeded.limit.as_str(), exceeded.allowed, exceeded.set_by), ("http_requests", 1, SetBy::HttpRule));
        assert!(budget.take(&[(1, &rule())], 1).is_ok() && budget.take(&[(1, &rule())], 1).is_ok());
        let exceeded = budget.take(&[(1, &rule())], 1).unwrap_err();
        assert_eq!((exceeded.allowed, exceeded.set_by), (3, SetBy::Operator));
        assert_eq!(budget.requests(), 3, "what is refused is not taken");
    }

    #[test]
    fn a_rule_lowers_the_limits_and_never_raises_them() {
        let budget = Budget::new(limits(LimitKind::HttpRequestBytes, 100));
        let narrow = HttpRule { request_bytes: NonZeroU64::new(10), ..rule() };
        let wide = HttpRule { request_bytes: NonZeroU64::new(1000), ..rule() };
        for (rule, bytes, set_by) in [(narrow, 11, SetBy::HttpRule), (wide, 101, SetBy::Operator)] {
            assert!(budget.take(&[(0, &rule)], bytes - 1).is_ok());
            let exceeded = budget.take(&[(0, &rule)], bytes).unwrap_err();
            assert_eq!((exceeded.limit.as_str(), exceeded.set_by), ("http_request", set_by));
        }
    }

    #[test]
    fn response_bytes_are_counted_as_they_arrive() {
        let narrow = HttpRule { response_bytes: NonZeroU64::new(10), ..rule() };
        let mut counter = Counter::new(under_rule(&Limits::default(), &narrow));
        assert!(counter.add(6).is_ok() && counter.add(4).is_ok());
        let exceeded = counter.add(1).unwrap_err();
        assert_eq!((exceeded.limit.as_str(), exceeded.used), ("http_response", Some(11)));
        assert!(exceeded.remedy("weather", "config.toml").contains("the HTTP rule of `weather`"));
    }

    #[tokio::test(start_paused = true)]
    async fn time_runs_from_the_start_and_the_tightest_limit_holds() {
        let mut clock = Clock::start();
        clock.tighten(&limits(LimitKind::HttpTime, 1000));
        tokio::time::sleep(Duration::from_millis(600)).await;
        clock.tighten(&limits(LimitKind::HttpTime, 5000));
        let exceeded = clock.within(tokio::time::sleep(Duration::from_millis(500))).await.unwrap_err();
        assert_eq!((exceeded.limit.as_str(), exceeded.allowed), ("http_time", 1000));
        clock.tighten(&limits(LimitKind::HttpTime, 700));
        assert_eq!(clock.within(tokio::time::sleep(Duration::from_millis(500))).await.unwrap_err().allowed, 700);
        assert!(clock.within(async {}).await.is_ok(), "what is ready at once needs no time");
    }
}
