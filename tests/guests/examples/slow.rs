//! Reports its progress as often as it is told.

use ringfence_sdk::prelude::*;

/// The arguments of `run`.
#[derive(Deserialize, JsonSchema)]
struct Run {
    /// How many reports.
    n: u32,
}

/// Reports its progress as often as it is told.
#[tool]
fn run(args: Run) -> String {
    for done in 1..=args.n {
        progress::report(f64::from(done), Some(f64::from(args.n)), Some("working"));
    }
    format!("{} reports", args.n)
}

export_tools!(run);
