//! What a call costs, as ratios from one run: `cargo bench`.
//!
//! Every comparison is measured in turn, round by round, so that a machine whose speed drifts drifts for both sides; the
//! figure is the median of the rounds. The guest gives back 1 KiB of JSON through serde_json.

#![allow(missing_docs, unreachable_pub, reason = "a benchmark has no readers of its API")]
#![allow(clippy::disallowed_methods, reason = "it starts the programs that it measures")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a benchmark that cannot run says so")]

#[path = "../support/authority.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
mod authority;
#[path = "../support/guests.rs"]
mod guests;
mod hosts;
mod mcp;
mod memory;
mod neighbours;
mod network;
mod raw;
#[path = "../support/server.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
mod server;
mod startup;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// That of the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Rounds of each comparison. Odd, so that there is a median.
const ROUNDS: usize = 21;

fn main() {
    let mode = std::env::args().nth(1).unwrap_or_default();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    match mode.as_str() {
        // The benchmark starts itself as a server that is nothing but rmcp.
        "bare-rmcp" => runtime.block_on(mcp::bare_server()),
        // For a profiler: calls of one guest, for ever.
        "profile" => runtime.block_on(hosts::profile(&std::env::args().nth(2).unwrap())),
        "network" => runtime.block_on(network::run()),
        "waiting" => runtime.block_on(memory::report_waiting()),
        _ => runtime.block_on(all()),
    }
}

async fn all() {
    println!("One call, the guest an echo of 1 KiB with serde_json:");
    hosts::run().await;
    println!("\nThrough MCP over standard input and output:");
    mcp::run().await;
    println!("\nStart-up and memory:");
    startup::run();
    memory::run();
    println!("\nThe network:");
    network::run().await;
    println!("\n64 callers at once:");
    neighbours::run().await;
}

/// 1 KiB for the guest to give back.
fn payload() -> Value {
    json!({"text": "The quick brown fox. ".repeat(48)})
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

/// The median, in microseconds.
fn median(mut samples: Vec<Duration>) -> f64 {
    samples.sort();
    samples[samples.len() / 2].as_secs_f64() * 1e6
}

/// Mean time of one of `count` calls.
async fn each<F: Future>(count: u32, mut call: impl FnMut() -> F) -> Duration {
    let started = Instant::now();
    for _ in 0..count {
        call().await;
    }
    started.elapsed() / count
}

/// Prints a ratio beside the bound that it has to keep.
fn ratio(what: &str, a: f64, b: f64, bound: f64) {
    let value = a / b;
    let verdict = if value <= bound { "" } else { "  OVER" };
    println!("  {what:<66} {value:>6.2}  (at most {bound}){verdict}");
}
