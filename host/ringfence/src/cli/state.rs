//! `ringfence state`: shows and clears what tools keep between calls.

use clap::{Args, Subcommand};
use serde_json::json;

use super::session::{Session, other_build};
use super::show;
use crate::request::{Reply, Request, StateEntry};

/// List, give and clear what tools keep between calls.
#[derive(Args)]
pub(super) struct State {
    #[command(subcommand)]
    command: StateCommand,
}

#[derive(Subcommand)]
enum StateCommand {
    /// List how much each package keeps for each user. What it is stays the package's and the user's own.
    List,
    /// Give what the package of another signer kept to the one that is installed.
    Give {
        /// The source name that `ringfence list` shows.
        source: String,
        /// Who signed the other, as `state list` shows it.
        #[arg(long, value_name = "SIGNER")]
        from: String,
    },
    /// Forget what a package keeps. Removing the package does so as well.
    Clear {
        /// The source name that `ringfence list` shows.
        source: String,
        /// For this user only.
        #[arg(long)]
        user: Option<String>,
    },
}

impl State {
    pub(super) async fn run(self, session: &Session) -> anyhow::Result<()> {
        match self.command {
            StateCommand::List => {
                let Reply::State(entries) = session.ask(Request::StateList).await? else { return Err(other_build()) };
                session.answer(&entries, |entries| text(entries))
            }
            StateCommand::Give { source, from } => {
                let Reply::StateGiven { keys } = session.ask(Request::StateGive { source, from }).await? else {
                    return Err(other_build());
                };
                session.answer(&json!({"given": keys}), |_| format!("Gave {}.", number(keys)))
            }
            StateCommand::Clear { source, user } => {
                let Reply::StateCleared { keys } = session.ask(Request::StateClear { source, user }).await? else {
                    return Err(other_build());
                };
                session.answer(&json!({"cleared": keys}), |_| format!("Cleared {}.", number(keys)))
            }
        }
    }
}

fn number(keys: usize) -> String {
    if keys == 1 { "one key".into() } else { format!("{keys} keys") }
}

fn text(entries: &[StateEntry]) -> String {
    if entries.is_empty() {
        return "No tool keeps anything.".into();
    }
    let rows = entries.iter().map(|entry| {
        let user = entry.user.clone().unwrap_or_else(|| "(nobody named)".into());
        let StateEntry { source, signer, package, keys, bytes, .. } = entry.clone();
        [source, signer, package, user, keys.to_string(), show::bytes(bytes)]
    });
    show::table(["SOURCE", "SIGNER", "PACKAGE", "USER", "KEYS", "SIZE"], rows)
}
