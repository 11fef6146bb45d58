//! `ringfence completions`: prints completions for a shell.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;
use serde_json::json;

use super::Arguments;
use super::session::Session;

/// Print completions for a shell, to be sourced by it.
#[derive(Args)]
#[command(after_help = "Example: source <(ringfence completions bash)")]
pub(super) struct Completions {
    /// The shell.
    shell: Shell,
}

impl Completions {
    pub(super) fn run(self, session: &Session) -> anyhow::Result<()> {
        // Not to standard output directly: it would panic where nobody reads to the end.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Arguments::command(), "ringfence", &mut script);
        let script = String::from_utf8(script)?;
        session.answer(&json!({"shell": self.shell.to_string(), "script": script}), |_| script.clone())
    }
}
