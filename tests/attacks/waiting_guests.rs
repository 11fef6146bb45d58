//! A guest that waits occupies no thread, dies at its deadline wherever it waits, and takes no place from others.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use crate::support::host::{caller, with_guests};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_hour_in_poll_ends_at_the_deadline() {
    let host = with_guests(&["wait_an_hour", "mirror"], "[limits]\ndeadline_ms = 1500\n").await;
    let error = host.beside_neighbours("wait_an_hour", json!({})).await;
    assert_eq!(error.code(), "limit.deadline");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_waiting_calls_of_a_hundred_callers_stop_nobody() {
    let host = with_guests(&["wait_an_hour", "mirror"], "[limits]\ndeadline_ms = 6000\n").await;
    // Compiled code is loaded by now, so that all of them do wait.
    host.sixty_four_neighbours().await;
    let ended = Arc::new(AtomicUsize::new(0));
    let waiting: Vec<_> = (0..1000)
        .map(|i| {
            let (host, ended) = (host.host.clone(), ended.clone());
            tokio::spawn(async move {
                let result = host.call("wait-an-hour__run", json!({}), caller(&format!("waiter-{}", i % 100))).await;
                ended.fetch_add(1, Ordering::SeqCst);
                result.unwrap_err().code().into_owned()
            })
        })
        .collect();
    host.sixty_four_neighbours().await;
    assert_eq!(ended.load(Ordering::SeqCst), 0, "none of them ended before the neighbours did");
    for call in waiting {
        assert_eq!(call.await.unwrap(), "limit.deadline");
    }
}
