//! Nothing of a call is left for the next, whoever makes it and however fast they follow each other.

use serde_json::json;

use crate::support::host::{caller, with_guests};

#[tokio::test(flavor = "multi_thread")]
async fn an_instance_serves_one_call() {
    let host = with_guests(&["counter"], "").await;
    for _ in 0..200 {
        let output = host.run("counter", json!({})).await.unwrap();
        assert_eq!(output.structured, Some(json!(1)));
        // Lets a spare instance get ready, and lets it be missing, in turn.
        tokio::task::yield_now().await;
    }
    let calls = (0..64).map(|i| {
        let host = host.host.clone();
        tokio::spawn(async move { host.call("counter__run", json!({}), caller(&format!("user-{i}"))).await })
    });
    for call in calls.collect::<Vec<_>>() {
        assert_eq!(call.await.unwrap().unwrap().structured, Some(json!(1)));
    }
}
