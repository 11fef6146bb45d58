//! Never returns.

use std::hint::black_box;

use ringfence_sdk::prelude::*;

/// Never returns.
#[tool]
fn run() {
    loop {
        black_box(());
    }
}

export_tools!(run);
