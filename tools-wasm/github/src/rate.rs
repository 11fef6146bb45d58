//! When GitHub takes requests again.

use std::time::{Duration, UNIX_EPOCH};

use ringfence_sdk::http::Response;

/// How long to wait where GitHub does not say (its documentation, under "Rate limits for the REST API").
const UNKNOWN: Duration = Duration::from_secs(60);

/// How long to wait, where a limit of GitHub's own is why it refuses.
///
/// It answers with 403 or 429 then, and headers say the rest: how many seconds, or that nothing remains until a moment.
/// A component has no clock, so it takes the time from the answer's own date.
pub(crate) fn wait(answer: &Response) -> Option<Duration> {
    let nothing_remains = answer.header("x-ratelimit-remaining") == Some("0");
    match (answer.status, answer.retry_after()) {
        (403 | 429, Some(wait)) => Some(wait),
        (403 | 429, None) if nothing_remains => Some(until_reset(answer).unwrap_or(UNKNOWN)),
        (429, None) => Some(UNKNOWN),
        _ => None,
    }
}

fn until_reset(answer: &Response) -> Option<Duration> {
    let reset: u64 = answer.header("x-ratelimit-reset")?.trim().parse().ok()?;
    let now = httpdate::parse_http_date(answer.header("date")?).ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(Duration::from_secs(reset.saturating_sub(now.as_secs()).max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, headers: &[(&str, &str)]) -> Option<u64> {
        let answer = headers.iter().fold(Response::new(status, ""), |a, (name, value)| a.with_header(*name, *value));
        wait(&answer).map(|wait| wait.as_secs())
    }

    const DATE: (&str, &str) = ("date", "Mon, 30 Nov 2026 10:00:00 GMT");
    const NONE: (&str, &str) = ("x-ratelimit-remaining", "0");

    #[test]
    fn github_says_when() {
        // 2026-11-30T10:00:00Z is 1796032800.
        let reset = |at| ("x-ratelimit-reset", at);
        assert_eq!(answer(403, &[("retry-after", "30"), NONE, DATE, reset("1796032900")]), Some(30));
        assert_eq!(answer(403, &[NONE, DATE, reset("1796032900")]), Some(100));
        assert_eq!(answer(429, &[NONE, DATE, reset("1796032000")]), Some(1));
        assert_eq!(answer(429, &[NONE, DATE]), Some(60));
        assert_eq!(answer(403, &[NONE, reset("1796032900")]), Some(60));
        assert_eq!(answer(403, &[NONE, ("date", "today"), reset("soon")]), Some(60));
        assert_eq!(answer(429, &[]), Some(60));
    }

    #[test]
    fn other_refusals_are_no_limits() {
        assert_eq!(answer(403, &[("x-ratelimit-remaining", "4999"), DATE]), None);
        assert_eq!(answer(404, &[NONE, ("retry-after", "30")]), None);
        assert_eq!(answer(500, &[NONE]), None);
    }
}
