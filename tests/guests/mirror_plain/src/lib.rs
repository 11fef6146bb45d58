//! Gives back its parameters. The SDK's allocator is turned off, so the memory of an instance grows as in any other
//! Rust guest: a measure of what the allocator saves.

use ringfence_sdk::prelude::*;
use ringfence_sdk::serde_json::{Map, Value};

/// Gives back its parameters.
#[tool(pure, read_only)]
fn run(parameters: Map<String, Value>) -> Json<Map<String, Value>> {
    Json(parameters)
}

export_tools!(run);
