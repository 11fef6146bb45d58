//! What a guest logs is bounded, stands on one line each, and reaches neither the model nor standard output.

use serde_json::json;

use crate::support::host::with_guests;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_flood_ends_at_the_limit_of_the_log() {
    let host = with_guests(&["log_flood", "mirror"], "").await;
    let (error, _) = host.beside_neighbours("log_flood", json!({})).await;
    assert_eq!(error.code(), "limit.log");
}

#[tokio::test]
async fn records_are_counted_as_well_as_bytes() {
    let host = with_guests(&["log_flood"], "[limits]\nlog_records = 5\n").await;
    let error = host.run("log_flood", json!({})).await.unwrap_err();
    assert_eq!(error.code(), "limit.log_records");
}
