//! Reports its progress for ever, each time with 31 MiB of text.

use ringfence_sdk::prelude::*;

/// Reports its progress for ever.
#[tool]
fn run() {
    let text = "x".repeat(31 << 20);
    loop {
        progress::report(0.0, None, Some(&text));
    }
}

export_tools!(run);
