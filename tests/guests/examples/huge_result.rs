//! Returns a text of 48 MiB.

use ringfence_sdk::prelude::*;

/// Returns a text of 48 MiB.
#[tool]
fn run() -> String {
    "x".repeat(48 << 20)
}

export_tools!(run);
