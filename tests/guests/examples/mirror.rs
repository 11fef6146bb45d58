//! Gives back its parameters, as any tool with serde would. The benchmarks call it.

use ringfence_sdk::prelude::*;
use ringfence_sdk::serde_json::{Map, Value};

/// Gives back its parameters.
#[tool(pure, read_only)]
fn run(parameters: Map<String, Value>) -> Json<Map<String, Value>> {
    Json(parameters)
}

export_tools!(run);
