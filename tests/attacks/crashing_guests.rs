//! A guest that crashes takes nothing with it, and its last words reach the caller.

use serde_json::json;

use crate::support::host::with_guests;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trap_is_an_error_of_its_own() {
    let host = with_guests(&["trap", "mirror"], "").await;
    let error = host.beside_neighbours("trap", json!({})).await;
    assert_eq!(error.code(), "trapped");
    assert!(error.to_string().contains("unreachable"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_panic_says_its_message() {
    let host = with_guests(&["panic", "mirror"], "").await;
    let error = host.beside_neighbours("panic", json!({})).await;
    assert_eq!(error.code(), "trapped");
    assert!(error.to_string().contains("panic.rs"), "{error}");
}
