//! Writes 1,000 log records of 1 MiB.

use ringfence_sdk::prelude::*;

/// Writes 1,000 log records of 1 MiB.
#[tool]
fn run() {
    let record = "x".repeat(1 << 20);
    for _ in 0..1000 {
        log::info(&record);
    }
}

export_tools!(run);
