//! Takes all the memory it gets.

use std::hint::black_box;

use ringfence_sdk::prelude::*;

/// Takes all the memory it gets.
#[tool]
fn run() {
    let mut blocks = Vec::new();
    loop {
        blocks.push(vec![1_u8; 1 << 20]);
        if blocks.len() == 32 {
            progress::report(32.0, None, None);
        }
        black_box(&blocks);
    }
}

export_tools!(run);
