//! Ends by an instruction that traps.

use ringfence_sdk::prelude::*;

/// Ends by an instruction that traps.
#[tool]
fn run() {
    progress::report(0.0, None, None);
    std::process::abort();
}

export_tools!(run);
