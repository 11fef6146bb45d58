//! Asks WASI for 100 MiB of random bytes at once.

use ringfence_sdk::prelude::*;

mod bindings {
    wit_bindgen::generate!({
        path: ["wit/random.wit"],
        inline: "package ringfence:guests; world random-flood { import wasi:random/random@0.2.0; }",
        generate_all,
    });
}

/// Asks for 100 MiB of random bytes at once.
#[tool]
fn run() -> String {
    bindings::wasi::random::random::get_random_bytes(100 << 20).len().to_string()
}

export_tools!(run);
