//! Counts its calls, in memory that must not outlive one.

use std::sync::atomic::{AtomicU32, Ordering};

use ringfence_sdk::prelude::*;

static CALLS: AtomicU32 = AtomicU32::new(0);

/// How many calls this instance has served.
#[tool]
fn run() -> Json<u32> {
    Json(CALLS.fetch_add(1, Ordering::Relaxed) + 1)
}

export_tools!(run);
