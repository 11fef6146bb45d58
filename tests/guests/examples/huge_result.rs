//! Returns a text of 48 MiB.

use ringfence_sdk::prelude::*;

/// Returns a text of 48 MiB.
#[tool]
fn run() -> String {
    let result = "x".repeat(48 << 20);
    progress::report(0.0, None, None);
    result
}

export_tools!(run);
