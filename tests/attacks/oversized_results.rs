//! What a guest gives back cannot exhaust the host, however it is spelled.

use ringfence::CallError;
use serde_json::json;

use crate::support::host::with_guests;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_million_strings_that_alias_one_region_are_not_copied() {
    let host = with_guests(&["alias_strings", "mirror"], "").await;
    let before = resident_bytes();
    let error = host.beside_neighbours("alias_strings", json!({})).await;
    assert_eq!(error.code(), "limit.host_call");
    assert!(resident_bytes().saturating_sub(before) < 256 << 20);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_huge_result_names_the_limit_and_the_size() {
    let host = with_guests(&["huge_result", "mirror"], "[limits]\nhost_call_bytes = 100000000\n").await;
    let error = host.beside_neighbours("huge_result", json!({})).await;
    assert_eq!(error.code(), "limit.result");
    assert!(error.to_string().contains("50331680"), "{error}");
}

#[tokio::test]
async fn deep_json_is_an_error_and_no_stack_overflow() {
    let host = with_guests(&["deep_json"], "").await;
    let error = host.run("deep_json", json!({})).await.unwrap_err();
    assert_eq!(error.code(), "failed");
    assert!(error.to_string().contains("recursion limit"), "{error}");
}

#[tokio::test]
async fn a_result_that_is_wrong_in_two_million_places_is_refused_without_naming_them() {
    let host = with_guests(&["wrong_list"], "").await;
    let error = host.run("wrong_list", json!({})).await.unwrap_err();
    assert!(matches!(&error, CallError::Failed { code, .. } if code == "invalid_output"), "{error}");
    assert!(error.to_string().contains("too large for the places to be named"), "{error}");
}

/// Bytes of this process that are in memory now.
fn resident_bytes() -> u64 {
    let pages: u64 = std::fs::read_to_string("/proc/self/statm").unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4096
}
