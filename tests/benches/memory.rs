//! What a live instance takes: a thousand of them waiting in poll, in a process of its own.

use std::process::Command;
use std::time::Duration;

use ringfence::Caller;
use serde_json::json;

use super::hosts::Whole;

const MANY: u64 = 1000;

pub fn run() {
    let (none, many) = (resident_with(0), resident_with(MANY));
    let each = many.saturating_sub(none) as f64 / MANY as f64 / 1024.0;
    super::ratio("a live instance that waits in poll, in KiB", each, 1.0, 64.0);
}

/// Bytes that a fresh process holds with `count` calls waiting.
fn resident_with(count: u64) -> u64 {
    let output = Command::new(std::env::current_exe().unwrap()).args(["waiting", &count.to_string()]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().parse().unwrap()
}

/// Prints the bytes that this process holds once `count` calls wait.
pub async fn report_waiting(count: u64) {
    let whole = Whole::with(&["mirror", "wait_an_hour"]).await;
    whole.call("guest__run", json!({})).await;
    for i in 0..count {
        let host = whole.host.clone();
        tokio::spawn(async move {
            let caller = Caller { user: Some(format!("waiter-{}", i % 100)), ..Caller::default() };
            let _ = host.call("wait-an-hour__run", json!({}), caller).await;
        });
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    let statm = fs_err::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = statm.split(' ').nth(1).unwrap().parse().unwrap();
    println!("{}", pages * 4096);
    std::process::exit(0);
}
