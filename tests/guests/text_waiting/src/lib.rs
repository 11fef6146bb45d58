//! The tools of tools-wasm/text, and one more that waits for an hour: a measure of what a real guest takes while it
//! waits. A component exports its tools once, so that crate cannot be a dependency; its modules are taken instead.

#[path = "../../../../tools-wasm/text/src/anchors.rs"]
mod anchors;
#[path = "../../../../tools-wasm/text/src/case.rs"]
pub mod case;
#[path = "../../../../tools-wasm/text/src/comparison.rs"]
mod comparison;
#[path = "../../../../tools-wasm/text/src/count.rs"]
pub mod count;
#[path = "../../../../tools-wasm/text/src/diff.rs"]
pub mod diff;
#[path = "../../../../tools-wasm/text/src/effort.rs"]
mod effort;
#[path = "../../../../tools-wasm/text/src/extract.rs"]
pub mod extract;
#[path = "../../../../tools-wasm/text/src/slug.rs"]
pub mod slug;
#[path = "../../../../tools-wasm/text/src/words.rs"]
mod words;

use ringfence_sdk::prelude::*;

mod bindings {
    wit_bindgen::generate!({
        path: ["../wit/io.wit", "../wit/clocks.wit"],
        inline: "package ringfence:guests;
            world text-waiting { import wasi:io/poll@0.2.0; import wasi:clocks/monotonic-clock@0.2.0; }",
        generate_all,
    });
}

/// An hour in nanoseconds.
const HOUR: u64 = 3_600_000_000_000;

/// Says so and waits an hour in WASI's poll.
#[tool]
fn wait_an_hour() -> &'static str {
    progress::report(0.0, None, None);
    bindings::wasi::clocks::monotonic_clock::subscribe_duration(HOUR).block();
    "an hour later"
}

export_tools!(case::case, count::count, diff::diff, extract::extract, slug::slug, wait_an_hour);
