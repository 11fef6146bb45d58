//! `ringfence completions`: prints completions for a shell.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use super::Arguments;

/// Print completions for a shell, to be sourced by it.
#[derive(Args)]
#[command(after_help = "Example: source <(ringfence completions bash)")]
pub(super) struct Completions {
    /// The shell.
    shell: Shell,
}

impl Completions {
    pub(super) fn run(self) -> anyhow::Result<()> {
        clap_complete::generate(self.shell, &mut Arguments::command(), "ringfence", &mut std::io::stdout());
        Ok(())
    }
}
