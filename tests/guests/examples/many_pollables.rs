//! Holds a hundred pollables at once.

use ringfence_sdk::prelude::*;

mod bindings {
    wit_bindgen::generate!({
        path: ["wit/io.wit", "wit/clocks.wit"],
        inline: "package ringfence:guests;
            world many-pollables { import wasi:io/poll@0.2.0; import wasi:clocks/monotonic-clock@0.2.0; }",
        generate_all,
    });
}

/// Holds a hundred pollables at once.
#[tool]
fn run() -> String {
    let subscribe = |_| bindings::wasi::clocks::monotonic_clock::subscribe_duration(1);
    let held: Vec<_> = (0..100).map(subscribe).collect();
    held.len().to_string()
}

export_tools!(run);
