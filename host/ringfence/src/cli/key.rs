//! `ringfence key`: makes a key to sign with.

use std::path::Path;

use clap::{Args, Subcommand};
use ringfence_package::{SigningError, signing};
use serde_json::json;

use super::exit::UsageError;
use super::session::{Session, hold_secrets, new_password};

/// Make a key to sign with.
#[derive(Args)]
pub(super) struct Key {
    #[command(subcommand)]
    command: KeyCommand,
}

#[derive(Subcommand)]
enum KeyCommand {
    /// Make a key pair: NAME.key, to be kept secret, and NAME.pub, to be given away. Both are minisign's.
    Generate {
        /// The name of the two files.
        name: String,
        /// Do not protect the secret key with a password.
        #[arg(long)]
        no_password: bool,
    },
}

impl Key {
    pub(super) fn run(self, session: &Session) -> anyhow::Result<()> {
        hold_secrets()?;
        let KeyCommand::Generate { name, no_password } = self.command;
        let password = if no_password { None } else { Some(new_password()?) };
        let key = signing::generate(Path::new("."), &name, password.as_ref()).map_err(|error| match error {
            SigningError::Name(_) => UsageError(error.to_string()).into(),
            other => anyhow::Error::from(other),
        })?;
        let made = json!({"key_id": key.id().to_string(), "public_key": key.as_base64(), "secret": format!("{name}.key"), "public": format!("{name}.pub")});
        session.answer(&made, |_| {
            format!(
                "Made {name}.key (keep it secret) and {name}.pub (give it away), key {}.\n\
                 Next: `ringfence sign FILE.wasm --key {name}.key`.",
                key.id()
            )
        })
    }
}
