//! Promises a list of numbers and returns one of two million texts.

use ringfence_sdk::prelude::*;

#[derive(Serialize, JsonSchema)]
struct Numbers {
    list: Vec<u32>,
}

/// Returns two million texts instead of numbers.
#[tool(output = Numbers)]
fn run() -> Output {
    let list = vec!["\"\""; 2_000_000].join(",");
    Output { structured: Some(format!("{{\"list\":[{list}]}}")), ..Output::text("numbers") }
}

export_tools!(run);
