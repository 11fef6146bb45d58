//! What tools reach beyond their instances: asked for in the manifest, granted by the operator, and no further.

mod files;
mod grants;
mod network;
mod secrets;
mod wasi_http;

pub use network::EXCEEDED;

use serde_json::Value;

use crate::support::binary::{Home, Run};
use crate::support::guests;

/// A home with `guest` installed as `reach`, whose manifest asks for `capabilities`, a text in TOML. Rates are off.
fn home(guest: &str, capabilities: &str, config: &str) -> Home {
    let home = Home::new();
    home.file("home/config.toml", format!("{config}\n[rate]\nunlimited = true\n"));
    let file = home.file("reach.wasm", guests::package_with(guest, "reach", capabilities));
    home.args(&["install", file.to_str().unwrap(), "--allow-unsigned"]).ok();
    home
}

/// Calls a tool of it.
fn call(home: &Home, tool: &str, params: &Value) -> Run {
    home.args(&["call", &format!("reach__{tool}"), &params.to_string()])
}
