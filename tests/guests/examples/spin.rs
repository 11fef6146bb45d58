//! Uses the processor as long as it is told.

use std::hint::black_box;

use ringfence_sdk::prelude::*;

/// The arguments of `run`.
#[derive(Deserialize, JsonSchema)]
struct Run {
    /// How many rounds, of a handful of instructions each.
    iterations: u64,
}

/// Uses the processor as long as it is told.
#[tool]
fn run(args: Run) -> String {
    let mut value = 1_u64;
    for round in 0..args.iterations {
        value = black_box(value.wrapping_mul(31) ^ round);
    }
    value.to_string()
}

export_tools!(run);
