//! `ringfence secret`: stores and lists secrets, which tools use and never see.

use std::io::IsTerminal as _;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use ringfence_core::Secret;

use super::session::Session;
use super::show;
use crate::request::{Reply, Request, SecretReport, SecretValue};

/// Store and list secrets, which tools use and never see.
#[derive(Args)]
pub(super) struct SecretArgs {
    #[command(subcommand)]
    command: SecretCommand,
}

#[derive(Subcommand)]
enum SecretCommand {
    /// Store a new secret. Its value is typed at a prompt that does not show it, or comes from standard input.
    Set {
        /// Its name, such as github_token.
        name: String,
        /// Where secrets live; decided once, with the first one. Without it: the system's keyring where one answers,
        /// else an encrypted file.
        #[arg(long, value_name = "PLACE")]
        place: Option<PlaceName>,
    },
    /// Give a secret a new value, in the same way.
    Rotate {
        /// Its name.
        name: String,
    },
    /// List the secrets, without values, and say where they live.
    List,
    /// Remove a secret.
    Remove {
        /// Its name.
        name: String,
    },
    /// Store the secrets of a .env file or a JSON object, all or none.
    Import {
        /// The file.
        file: PathBuf,
    },
}

#[derive(Clone, Copy, ValueEnum)]
enum PlaceName {
    /// The system's keyring.
    Keyring,
    /// The kernel's keyring, which forgets with a reboot.
    Kernel,
    /// An encrypted file, its key beside it.
    File,
}

impl SecretArgs {
    pub(super) async fn run(self, session: &Session) -> anyhow::Result<()> {
        let request = match self.command {
            SecretCommand::Set { name, place } => {
                let place = place.and_then(|place| place.to_possible_value()).map(|place| place.get_name().to_owned());
                Request::SecretSet { value: value(&name)?, name, rotate: false, place }
            }
            SecretCommand::Rotate { name } => {
                Request::SecretSet { value: value(&name)?, name, rotate: true, place: None }
            }
            SecretCommand::List => Request::SecretList,
            SecretCommand::Remove { name } => Request::SecretRemove { name },
            SecretCommand::Import { file } => imported(&file)?,
        };
        let Reply::Secrets(report) = session.ask(request).await? else { anyhow::bail!("the host misunderstood") };
        session.answer(&report, list)
    }
}

fn value(name: &str) -> anyhow::Result<SecretValue> {
    let value = match std::io::stdin().is_terminal() {
        true => Secret::new(rpassword::prompt_password(format!("Value of {name} (not shown): "))?),
        false => ringfence_vault::read_value(std::io::stdin().lock())?,
    };
    Ok(SecretValue(value))
}

fn imported(file: &std::path::Path) -> anyhow::Result<Request> {
    let import = ringfence_vault::Import::read(file)?;
    for renamed in &import.renamed {
        anstream::eprintln!("`{}` is called `{}` from now on", renamed.from, renamed.to.as_str());
    }
    let secrets = import.secrets.into_iter().map(|(name, value)| (name.as_str().to_owned(), SecretValue(value)));
    Ok(Request::SecretImport { secrets: secrets.collect() })
}

fn list(report: &SecretReport) -> String {
    let Some(place) = &report.place else {
        return "There are no secrets. Next: `ringfence secret set NAME`.".into();
    };
    let time = |ms: u64| {
        let time = i64::try_from(ms).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
        time.map_or_else(String::new, |time| time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string())
    };
    let rows = report
        .secrets
        .iter()
        .map(|secret| [secret.name.clone(), time(secret.created), secret.rotated.map_or_else(|| "never".into(), time)]);
    format!("{}\n\nThey live in {place}.", show::table(["NAME", "STORED", "ROTATED"], rows))
}
