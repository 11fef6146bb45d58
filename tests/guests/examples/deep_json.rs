//! Returns 200,000 nested arrays as its structured result: a parser that descends on its stack falls.

use ringfence_sdk::prelude::*;

const DEPTH: usize = 200_000;

/// Returns 200,000 nested arrays.
#[tool]
fn run() -> Output {
    let nested = format!("{}{}", "[".repeat(DEPTH), "]".repeat(DEPTH));
    Output { structured: Some(nested), ..Output::text("deep") }
}

export_tools!(run);
