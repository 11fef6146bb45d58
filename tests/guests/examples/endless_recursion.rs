//! Calls itself for ever.

use ringfence_sdk::prelude::*;

/// Calls itself for ever.
#[tool]
fn run() -> String {
    dive(0).to_string()
}

/// The multiplication behind the call keeps it from becoming a loop.
fn dive(depth: u64) -> u64 {
    if depth == 100 {
        progress::report(100.0, None, None);
    }
    if depth == u64::MAX { 0 } else { dive(depth + 1).wrapping_mul(3) ^ depth }
}

export_tools!(run);
