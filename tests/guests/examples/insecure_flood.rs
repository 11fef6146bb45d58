//! Asks WASI for 64 TiB of random bytes that need not be good.

use ringfence_sdk::prelude::*;

mod bindings {
    wit_bindgen::generate!({
        path: ["wit/random.wit"],
        inline: "package ringfence:guests; world insecure-flood { import wasi:random/insecure@0.2.0; }",
        generate_all,
    });
}

/// Asks for 64 TiB of random bytes at once.
#[tool]
fn run() -> String {
    bindings::wasi::random::insecure::get_insecure_random_bytes(64 << 40).len().to_string()
}

export_tools!(run);
