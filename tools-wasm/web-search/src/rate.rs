//! When the API takes requests again.

use std::time::Duration;

use ringfence_sdk::http::Response;

/// How long to wait until no quota is used up. There are several, of a second and of a month; each header has a number
/// for each, with commas between them.
pub(crate) fn wait(answer: &Response) -> Option<Duration> {
    let remaining = numbers(answer.header("x-ratelimit-remaining")?);
    let reset = numbers(answer.header("x-ratelimit-reset")?);
    let used_up = remaining.zip(reset).filter(|(remaining, _)| *remaining == Some(0));
    used_up.filter_map(|(_, seconds)| seconds).max().map(Duration::from_secs)
}

fn numbers(list: &str) -> impl Iterator<Item = Option<u64>> {
    list.split(',').map(|number| number.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn seconds(remaining: &str, reset: &str) -> Option<u64> {
        let answer = Response::new(429, "").with_header("X-RateLimit-Remaining", remaining);
        wait(&answer.with_header("X-RateLimit-Reset", reset)).map(|wait| wait.as_secs())
    }

    #[test]
    fn the_longest_wait_of_what_is_used_up() {
        assert_eq!(seconds("0, 14832", "1, 1419704"), Some(1));
        assert_eq!(seconds("0, 0", "1, 1419704"), Some(1_419_704));
        assert_eq!(seconds("1, 14832", "1, 1419704"), None);
        assert_eq!(seconds("0", "soon"), None);
        assert_eq!(seconds("", ""), None);
        assert_eq!(wait(&Response::new(429, "")), None);
    }

    proptest! {
        #[test]
        fn any_headers_are_read(remaining in "[0-9, x-]{0,20}", reset in "[0-9, x-]{0,20}") {
            let _ = seconds(&remaining, &reset);
        }
    }
}
