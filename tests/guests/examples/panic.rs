//! Panics with a message.

use ringfence_sdk::prelude::*;

/// Panics with a message.
#[tool]
fn run() {
    progress::report(0.0, None, None);
    panic!("seven is no colour");
}

export_tools!(run);
