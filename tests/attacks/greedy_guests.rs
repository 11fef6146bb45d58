//! A guest gets no more memory, table elements or randomness than it may have.

use serde_json::json;

use crate::support::host::with_guests;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_memory_bomb_ends_at_the_limit_over_all_memories() {
    let host = with_guests(&["memory_bomb", "mirror"], "").await;
    let error = host.beside_neighbours("memory_bomb", json!({})).await;
    assert_eq!(error.code(), "limit.memory");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_bomb_ends_at_the_limit_over_all_tables() {
    let host = with_guests(&["table_bomb", "mirror"], "").await;
    let error = host.beside_neighbours("table_bomb", json!({})).await;
    assert_eq!(error.code(), "limit.table");
}

#[tokio::test]
async fn a_large_table_that_keeps_to_the_limit_is_no_bomb() {
    let host = with_guests(&["big_table_ok"], "").await;
    let output = host.run("big_table_ok", json!({})).await.unwrap();
    assert_eq!(output.content, [ringfence::Content::text("7")]);
}

#[tokio::test]
async fn a_flood_of_insecure_randomness_is_refused_before_it_is_made() {
    let host = with_guests(&["insecure_flood"], "").await;
    let error = host.run("insecure_flood", json!({})).await.unwrap_err();
    assert_eq!(error.code(), "limit.random");
}

#[tokio::test]
async fn a_flood_of_randomness_is_refused() {
    let host = with_guests(&["random_flood"], "").await;
    let error = host.run("random_flood", json!({})).await.unwrap_err();
    assert_eq!(error.code(), "limit.random");
}
