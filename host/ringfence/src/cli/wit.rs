//! `ringfence wit`: prints the contract with tools.

use clap::Args;
use serde_json::json;

use super::session::Session;

/// Print the contract with tools, in WIT, for tools in other languages than Rust.
#[derive(Args)]
#[command(
    after_help = "Next: make a component of your tool with what its language has for that, and `ringfence pack` it."
)]
pub(super) struct Wit {}

impl Wit {
    pub(super) fn run(self, session: &Session) -> anyhow::Result<()> {
        let (version, text) = (ringfence_wit::VERSION, ringfence_wit::TOOL_WIT);
        session.answer(&json!({"version": version, "wit": text}), |_| text.trim_end().to_owned())
    }
}
