//! 64 callers at once, with and without a neighbour that computes for ever.

use std::time::{Duration, Instant};

use ringfence::Caller;
use serde_json::json;

use super::hosts::Whole;
use super::{payload, ratio};

const CALLERS: usize = 64;
const CALLS_EACH: usize = 200;

pub async fn run() {
    let whole = Whole::with(&["mirror", "endless_loop"]).await;
    let started = Instant::now();
    let alone = latencies(&whole).await;
    let rate = (CALLERS * CALLS_EACH) as f64 / started.elapsed().as_secs_f64();
    println!("  {:<66} {rate:>6.0} calls/s", "SDK guest through the pipeline");

    let host = whole.host.clone();
    let hostile = tokio::spawn(async move {
        loop {
            let caller = Caller { user: Some("hostile".into()), ..Caller::default() };
            let _ = host.call("endless-loop__run", json!({}), caller).await;
        }
    });
    let beside = latencies(&whole).await;
    hostile.abort();
    let (alone, beside) = (percentile_99(alone), percentile_99(beside));
    println!("  {:<66} {alone:>6.0} µs", "99th percentile alone");
    println!("  {:<66} {beside:>6.0} µs", "99th percentile beside an endless loop");
    ratio("99th percentile beside an endless loop / alone", beside, alone, 2.0);
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
