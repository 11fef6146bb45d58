//! `ringfence config`: prints the configuration's keys, or where it lives.

use clap::Args;
use serde_json::json;

use super::session::Session;
use crate::config::{Config, DEFAULTS};
use crate::request::Request;

/// Print every key of the configuration with its default, check yours, or say where it and the state live.
#[derive(Args)]
pub(super) struct ConfigCommand {
    /// Print where the configuration and the state live.
    #[arg(long)]
    path: bool,
    /// Check the configuration file and say whether it can be used.
    #[arg(long, conflicts_with = "path")]
    check: bool,
}

impl ConfigCommand {
    pub(super) async fn run(self, session: &Session) -> anyhow::Result<()> {
        let home = session.home()?;
        if self.path {
            let places = json!({"config": home.config, "state": home.state});
            return session
                .answer(&places, |_| format!("config  {}\nstate   {}", home.config.display(), home.state.display()));
        }
        if self.check {
            Config::load(&home.config)?;
            // The policy is checked against the tools that there are.
            session.ask(Request::Tools).await?;
            let (path, there) = (home.config.display(), home.config.exists());
            return session.answer(&json!({"ok": true, "file": there}), |_| match there {
                true => format!("{path} can be used."),
                false => format!("{path} is not there: every key has its default."),
            });
        }
        session.answer(&json!({"defaults": DEFAULTS}), |_| DEFAULTS.to_owned())
    }
}
