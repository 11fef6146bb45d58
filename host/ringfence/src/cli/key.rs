//! `ringfence key`: makes a key to sign with, and gives its place to a new one.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use ringfence_core::Secret;
use ringfence_package::{PublicKey, SigningError, signature, signing};
use serde_json::json;

use super::exit::UsageError;
use super::files;
use super::session::{Session, hold_secrets, new_password};
use super::sign::secret_key;

/// Make a key to sign with, or give its place to a new one.
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
    /// Give a key's place to a new one: writes a statement that the old key signs. Whoever takes it with `ringfence trust
    /// rotate` trusts the new key as the old one.
    Rotate {
        /// The new public key.
        new: PathBuf,
        /// The secret key that is given up.
        #[arg(long, value_name = "FILE.key")]
        key: PathBuf,
        /// Where the statement goes; without it, beside the new key, as NEW.rotation.
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
}

impl Key {
    pub(super) fn run(self, session: &Session) -> anyhow::Result<()> {
        hold_secrets()?;
        match self.command {
            KeyCommand::Generate { name, no_password } => generate(session, &name, no_password),
            KeyCommand::Rotate { new, key, out } => rotate(session, &new, &key, out),
        }
    }
}

fn generate(session: &Session, name: &str, no_password: bool) -> anyhow::Result<()> {
    files::target(Path::new(name))?;
    let password = if no_password { None } else { Some(key_password()?) };
    let key = signing::generate(Path::new("."), name, password.as_ref()).map_err(|error| match error {
        SigningError::Name(_) | SigningError::Exists(_) => UsageError(error.to_string()).into(),
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

fn rotate(session: &Session, new: &Path, old: &Path, out: Option<PathBuf>) -> anyhow::Result<()> {
    let out = out.unwrap_or_else(|| new.with_extension("rotation"));
    files::target(&out)?;
    let to = PublicKey::parse(&files::text(new)?)?;
    let (statement, signature) = secret_key(old)?.sign_rotation(to)?;
    let beside = format!("{}.{}", out.display(), signature::EXTENSION);
    fs_err::write(&out, &statement)?;
    fs_err::write(&beside, signature)?;
    session.answer(&json!({"statement": out, "signature": beside}), |_| {
        format!(
            "Wrote {} and {beside}. Keep the old key until the operators have both.\n\
             Next: give both to operators, who run `ringfence trust rotate {}`; sign with the new key from then on.",
            out.display(),
            out.display()
        )
    })
}

fn key_password() -> anyhow::Result<Secret> {
    let password = new_password("Password for the secret key: ", "password")?;
    match password.expose().is_empty() {
        false => Ok(password),
        true => Err(UsageError("the password is empty; say --no-password if you want none".into()).into()),
    }
}
