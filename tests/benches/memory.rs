//! What a live instance of the `text` guest takes: a thousand of them waiting in poll, in a process of its own.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ringfence::core::call::{CallContext, ProgressSink, ToolCall};
use ringfence::{Caller, Progress};
use serde_json::json;

use super::hosts::Whole;

const MANY: u64 = 1000;

/// Calls before the first look: what a start leaves behind, the compiler above all, is then given back.
const WARM: u64 = 200;

pub fn run() {
    let output = Command::new(std::env::current_exe().unwrap()).arg("waiting").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let each: f64 = String::from_utf8(output.stdout).unwrap().trim().parse().unwrap();
    super::ratio("a live instance of `text` that waits in poll, in KiB", each, 1.0, 64.0);
}

/// Prints the KiB that this process holds more for each call that waits.
pub async fn report_waiting() {
    let whole = Whole::with(&["text_waiting"]).await;
    for _ in 0..WARM {
        whole.call("text-waiting__count", json!({"text": "Its code is there before."})).await;
    }
    let none = resident().await;
    let waiting = Arc::new(Waiting::default());
    let calls: Vec<_> = (0..MANY)
        .map(|i| {
            let (host, waiting) = (whole.host.clone(), waiting.clone());
            tokio::spawn(async move {
                let caller = Caller { user: Some(format!("waiter-{}", i % 100)), ..Caller::default() };
                let mut context = CallContext::of(caller);
                context.progress = Some(waiting);
                host.call_with(ToolCall::new("text-waiting__wait_an_hour", json!({}), context)).await
            })
        })
        .collect();
    let live = || calls.iter().all(|call| !call.is_finished());
    while live() && waiting.0.load(Ordering::SeqCst) < MANY {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let many = resident().await;
    assert!(live(), "a call ended before it was counted");
    println!("{}", many.saturating_sub(none) as f64 / MANY as f64 / 1024.0);
    std::process::exit(0);
}

/// Bytes that this process holds, once it is at rest: from its report until it waits a guest takes microseconds.
async fn resident() -> u64 {
    tokio::time::sleep(Duration::from_millis(500)).await;
    let statm = fs_err::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = statm.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4096
}

/// Counts the guests that say that they are about to wait.
#[derive(Default)]
struct Waiting(AtomicU64);

impl ProgressSink for Waiting {
    fn report(&self, _: Progress) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}
