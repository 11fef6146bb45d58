//! Ends by an instruction that traps.

use ringfence_sdk::prelude::*;

/// Ends by an instruction that traps.
#[tool]
fn run() {
    std::process::abort();
}

export_tools!(run);
