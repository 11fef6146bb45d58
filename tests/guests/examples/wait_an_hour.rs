//! Waits an hour in WASI's poll.

use ringfence_sdk::prelude::*;

mod bindings {
    wit_bindgen::generate!({
        path: ["wit/io.wit", "wit/clocks.wit"],
        inline: "package ringfence:guests;
            world wait-an-hour { import wasi:io/poll@0.2.0; import wasi:clocks/monotonic-clock@0.2.0; }",
        generate_all,
    });
}

/// An hour in nanoseconds.
const HOUR: u64 = 3_600_000_000_000;

/// Waits an hour.
#[tool]
fn run() -> &'static str {
    bindings::wasi::clocks::monotonic_clock::subscribe_duration(HOUR).block();
    "an hour later"
}

export_tools!(run);
