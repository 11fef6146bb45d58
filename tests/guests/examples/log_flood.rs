//! Writes 1,000 log records of 1 MiB.

use ringfence_sdk::prelude::*;

/// Writes 1,000 log records of 1 MiB.
#[tool]
fn run() {
    let record = "x".repeat(1 << 20);
    for written in 0..1000 {
        if written == 10 {
            progress::report(10.0, None, None);
        }
        log::info(&record);
    }
}

export_tools!(run);
