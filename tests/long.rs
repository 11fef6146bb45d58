//! Suites that take 20 minutes each: `tests/run --long`. RINGFENCE_LONG_SECONDS makes them shorter.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::attacks::stopped_guests;
use crate::support::figures::{Random, resident_bytes};
use crate::support::guests;
use crate::support::host::{TestHost, caller, with_guests};

/// How long each suite goes on.
fn duration() -> Duration {
    let seconds = std::env::var("RINGFENCE_LONG_SECONDS").ok().map_or(1200, |text| text.parse().unwrap());
    Duration::from_secs(seconds)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes 20 minutes"]
async fn soak_of_hostile_and_honest_guests_leaves_the_host_as_it_was() {
    const HOSTILE: [&str; 7] =
        ["endless_recursion", "memory_bomb", "table_bomb", "log_flood", "trap", "panic", "huge_result"];
    let mut names = HOSTILE.to_vec();
    names.push("mirror");
    let host = with_guests(&names, "[limits]\nfuel = 50000000\n").await;
    round(&host, &HOSTILE).await;
    let (before, end) = (resident_bytes(), Instant::now() + duration());
    while Instant::now() < end {
        round(&host, &HOSTILE).await;
    }
    let grown = resident_bytes().saturating_sub(before);
    assert!(grown < 256 << 20, "the host has grown by {grown} bytes");
}

/// Each hostile guest once, beside 64 honest calls.
async fn round(host: &TestHost, hostile: &[&'static str]) {
    let calls: Vec<_> = hostile
        .iter()
        .map(|guest| {
            let (host, tool) = (host.host.clone(), format!("{}__run", guest.replace('_', "-")));
            tokio::spawn(async move { host.call(&tool, json!({}), caller("hostile")).await.is_err() })
        })
        .collect();
    host.sixty_four_neighbours().await;
    for call in calls {
        assert!(call.await.unwrap());
    }
}

#[test]
#[ignore = "takes 20 minutes"]
fn fuzz_of_packages_is_refused_or_taken_but_never_crashes() {
    let whole = guests::package("mirror", "mirror", "1.0.0");
    let (mut random, end) = (Random::new(), Instant::now() + duration());
    while Instant::now() < end {
        let mut bytes = whole.clone();
        for _ in 0..=random.below(8) {
            let place = random.below(bytes.len());
            match random.below(3) {
                0 => bytes[place] ^= 1 << random.below(8),
                1 => bytes.truncate(place.max(1)),
                _ => bytes.insert(place, random.below(256) as u8),
            }
        }
        if let Ok(component) = ringfence_package::Component::read(&bytes) {
            let _ = component.contract();
            let _ = component.manifest();
        }
    }
}

#[test]
#[ignore = "takes minutes"]
fn ten_thousand_stopped_guests_leave_nothing_behind() {
    stopped_guests::stop(10_000);
}
