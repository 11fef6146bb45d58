//! 64 callers at once, alone and beside each of the hostile guests, which is called again and again.

use std::time::{Duration, Instant};

use ringfence::Caller;
use serde_json::json;

use super::hosts::Whole;
use super::{payload, ratio};

const CALLERS: usize = 64;
const CALLS_EACH: usize = 100;

/// Those of tests/attacks whose call is at work or ends badly, each in another way.
const HOSTILE: [&str; 10] = [
    "endless_loop",
    "endless_recursion",
    "memory_bomb",
    "table_bomb",
    "log_flood",
    "alias_strings",
    "huge_result",
    "trap",
    "panic",
    "wait_an_hour",
];

pub async fn run() {
    let whole = Whole::with(&[&["mirror"][..], &HOSTILE].concat()).await;
    latencies(&whole).await;
    let started = Instant::now();
    let alone = percentile_99(latencies(&whole).await);
    let rate = (CALLERS * CALLS_EACH) as f64 / started.elapsed().as_secs_f64();
    println!("  {:<66} {rate:>6.0} calls/s", "SDK guest through the pipeline");
    println!("  {:<66} {alone:>6.0} µs", "99th percentile alone");
    for guest in HOSTILE {
        // Measured in turn: a machine whose speed drifts drifts for both.
        let alone = percentile_99(latencies(&whole).await);
        let beside = percentile_99(beside(&whole, guest).await);
        ratio(&format!("99th percentile beside `{guest}` / alone"), beside, alone, 2.0);
    }
}

/// The times of all calls while `guest` is called again and again.
async fn beside(whole: &Whole, guest: &str) -> Vec<Duration> {
    let (host, tool) = (whole.host.clone(), format!("{}__run", guest.replace('_', "-")));
    let hostile = tokio::spawn(async move {
        loop {
            let caller = Caller { user: Some("hostile".into()), ..Caller::default() };
            let _ = host.call(&tool, json!({}), caller).await;
        }
    });
    let times = latencies(whole).await;
    hostile.abort();
    times
}

async fn latencies(whole: &Whole) -> Vec<Duration> {
    let callers: Vec<_> = (0..CALLERS)
        .map(|i| {
            let host = whole.host.clone();
            tokio::spawn(async move {
                let mut times = Vec::with_capacity(CALLS_EACH);
                for _ in 0..CALLS_EACH {
                    let caller = Caller { user: Some(format!("caller-{i}")), ..Caller::default() };
                    let started = Instant::now();
                    host.call("guest__run", payload(), caller).await.unwrap();
                    times.push(started.elapsed());
                    // Callers are independent: none goes on before the others had their turn.
                    tokio::task::yield_now().await;
                }
                times
            })
        })
        .collect();
    let mut all = Vec::new();
    for caller in callers {
        all.extend(caller.await.unwrap());
    }
    all
}

fn percentile_99(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() * 99 / 100].as_secs_f64() * 1e6
}
