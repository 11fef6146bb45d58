//! A guest that computes for ever is stopped at its fuel, its stack or its deadline, and its neighbours do not notice.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::host::with_guests;

/// Enough fuel to be busy for longer than 64 calls take.
const SECONDS_OF_FUEL: &str = "[limits]\nfuel = 4000000000\n";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_endless_loop_ends_with_its_fuel() {
    let host = with_guests(&["endless_loop", "mirror"], SECONDS_OF_FUEL).await;
    let error = host.beside_neighbours("endless_loop", json!({})).await;
    assert_eq!(error.code(), "limit.fuel");
    assert!(error.for_operator().contains("the operator can raise `fuel`"), "{}", error.for_operator());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_endless_loop_ends_at_its_deadline_where_fuel_is_off() {
    let config = "[engine]\nmetering = \"epoch\"\n[limits]\ndeadline_ms = 1500\n";
    let host = with_guests(&["endless_loop", "mirror"], config).await;
    let error = host.beside_neighbours("endless_loop", json!({})).await;
    assert_eq!(error.code(), "limit.deadline");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_deadline_ends_a_loop_that_has_fuel_left() {
    let config = "[limits]\nfuel = 1000000000000\ndeadline_ms = 1500\n";
    let host = with_guests(&["endless_loop", "mirror"], config).await;
    let error = host.beside_neighbours("endless_loop", json!({})).await;
    assert_eq!(error.code(), "limit.deadline");
}

/// On one thread, which the guest would have for itself between two of its yields: what the host does for it burns no fuel.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_guest_that_keeps_the_host_busy_lets_others_run() {
    for metering in ["fuel", "epoch"] {
        let config = format!("[engine]\nmetering = \"{metering}\"\n[limits]\ndeadline_ms = 5000\n");
        let host = with_guests(&["report_flood", "mirror"], &config).await;
        let started = Instant::now();
        let error = host.beside_neighbours("report_flood", json!({})).await;
        assert_eq!(error.code(), "limit.deadline");
        assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn endless_recursion_ends_at_the_stack() {
    let host = with_guests(&["endless_recursion", "mirror"], "").await;
    let error = host.beside_neighbours("endless_recursion", json!({})).await;
    assert_eq!(error.code(), "limit.stack");
    assert!(error.for_operator().contains("stack_bytes"));
}
