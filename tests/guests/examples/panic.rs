//! Panics with a message.

use ringfence_sdk::prelude::*;

/// Panics with a message.
#[tool]
fn run() {
    panic!("seven is no colour");
}

export_tools!(run);
