//! A guest that computes for ever is stopped at its fuel, its stack or its deadline, and its neighbours do not notice.

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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn endless_recursion_ends_at_the_stack() {
    let host = with_guests(&["endless_recursion", "mirror"], "").await;
    let error = host.beside_neighbours("endless_recursion", json!({})).await;
    assert_eq!(error.code(), "limit.stack");
    assert!(error.for_operator().contains("stack_bytes"));
}
