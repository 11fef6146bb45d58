//! Calls itself as often as it is told.

use std::hint::black_box;

use ringfence_sdk::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct Depth {
    /// How often.
    depth: u32,
}

/// How deep it came.
#[tool]
fn run(args: Depth) -> Json<u32> {
    Json(below(args.depth))
}

#[inline(never)]
fn below(depth: u32) -> u32 {
    // Something that has to stay on the stack.
    let frame = black_box([depth; 16]);
    if depth == 0 { 0 } else { below(depth - 1) + black_box(frame)[0] / depth }
}

export_tools!(run);
