//! `ringfence secret`: stores and lists secrets, which tools use and never see.

use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use ringfence_core::Secret;
use ringfence_egress::MIN_CREDENTIAL;
use ringfence_vault::{Import, ImportError, ValueError};

use super::exit::{self, UsageError};
use super::files::{self, FileError};
use super::session::{Session, new_password, other_build};
use super::show;
use crate::config::PASSPHRASE_VARIABLE;
use crate::door::Door;
use crate::request::{PlaceChoice, Reply, Request, SecretReport, SecretValue};
use crate::unlock::given_passphrase;

/// Store, renew, list, remove and import secrets, which tools use and never see.
#[derive(Args)]
pub(super) struct SecretArgs {
    #[command(subcommand)]
    command: SecretCommand,
}

#[derive(Subcommand)]
enum SecretCommand {
    /// Store a new secret. Its value, of 8 bytes or more, is typed at a prompt that does not show it, or comes from
    /// standard input.
    Set {
        /// Its name, such as github_token.
        name: String,
        #[command(flatten)]
        refused: ValueGiven,
        /// Where secrets live; decided once, with the first one. Without it: the system's keyring where one answers,
        /// else an encrypted file.
        #[arg(long, value_name = "PLACE")]
        place: Option<PlaceName>,
        /// What opens the encrypted file. A passphrase is typed at a prompt that does not show it, or stands in the
        /// file that RINGFENCE_PASSPHRASE_FILE names.
        #[arg(long, value_name = "KEY", requires = "place")]
        key: Option<KeyName>,
    },
    /// Give a secret a new value, of 8 bytes or more, in the same way.
    Rotate {
        /// Its name.
        name: String,
        #[command(flatten)]
        refused: ValueGiven,
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

/// A value among the arguments. It is taken only to be refused without being repeated.
#[derive(Args)]
struct ValueGiven {
    #[arg(hide = true)]
    values: Vec<OsString>,
}

impl ValueGiven {
    fn check(&self) -> Result<(), UsageError> {
        if self.values.is_empty() {
            return Ok(());
        }
        let text = "the value of a secret is not taken as an argument: it would stand in the list of processes and in the \
                    history of the shell. Leave it out and type it at the prompt, or give it on standard input; if this \
                    was the real value, get another one";
        Err(UsageError(text.into()))
    }
}

#[derive(Clone, Copy, ValueEnum)]
enum PlaceName {
    /// The system's keyring.
    Keyring,
    /// The kernel's keyring, which forgets with a reboot.
    Kernel,
    /// An encrypted file.
    File,
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum KeyName {
    /// A key file beside it.
    #[default]
    File,
    /// The systemd credential `ringfence`.
    Credential,
    /// A passphrase.
    Passphrase,
}

impl SecretArgs {
    pub(super) async fn run(self, session: &Session) -> anyhow::Result<()> {
        // From here on there are no core dumps, so it stands before the first value.
        let door = Door::open(session.home()?).await?;
        let removing = match &self.command {
            SecretCommand::Remove { name } => Some(name.clone()),
            _ => None,
        };
        let reply = match self.request() {
            Ok(request) => session.ask_through(&door, request).await,
            Err(error) => Err(error),
        };
        door.close().await?;
        let Reply::Secrets(report) = reply? else { return Err(other_build()) };
        session.answer(&report, |report| {
            let removed = removing.map(|name| removed(&name, &report.missed_by)).unwrap_or_default();
            removed + &list(report)
        })
    }

    fn request(self) -> anyhow::Result<Request> {
        Ok(match self.command {
            SecretCommand::Set { name, refused, place, key } => {
                refused.check()?;
                let place = place.map(|place| choice(place, key)).transpose()?;
                Request::SecretSet { value: value(&name)?, name, rotate: false, place }
            }
            SecretCommand::Rotate { name, refused } => {
                refused.check()?;
                Request::SecretSet { value: value(&name)?, name, rotate: true, place: None }
            }
            SecretCommand::List => Request::SecretList,
            SecretCommand::Remove { name } => Request::SecretRemove { name },
            SecretCommand::Import { file } => imported(&file)?,
        })
    }
}

fn choice(place: PlaceName, key: Option<KeyName>) -> anyhow::Result<PlaceChoice> {
    Ok(match (place, key) {
        (PlaceName::Keyring, None) => PlaceChoice::Keyring,
        (PlaceName::Kernel, None) => PlaceChoice::Kernel,
        (PlaceName::File, key) => match key.unwrap_or_default() {
            KeyName::File => PlaceChoice::File,
            KeyName::Credential => PlaceChoice::FileWithCredential,
            KeyName::Passphrase => PlaceChoice::FileWithPassphrase(SecretValue(new_passphrase()?)),
        },
        (_, Some(_)) => return Err(UsageError("only the encrypted file has a key: say --place file".into()).into()),
    })
}

/// A passphrase for a new file: typed twice, or given by the environment.
fn new_passphrase() -> anyhow::Result<Secret> {
    if let Some(given) = given_passphrase()? {
        return Ok(given);
    }
    if !std::io::stdin().is_terminal() {
        let text = format!("nobody can type a passphrase here: {PASSPHRASE_VARIABLE} names a file with it");
        return Err(UsageError(text).into());
    }
    new_password("Passphrase for the secrets (not shown): ", "passphrase")
}

fn value(name: &str) -> anyhow::Result<SecretValue> {
    let value = match std::io::stdin().is_terminal() {
        true => {
            let prompt = format!("Value of {name} (at least {MIN_CREDENTIAL} bytes, not shown): ");
            Secret::new(rpassword::prompt_password(prompt)?)
        }
        false => ringfence_vault::read_value(std::io::stdin().lock()).map_err(unusable)?,
    };
    Ok(SecretValue(value))
}

/// A value that is none is a slip in the use of the command.
fn unusable(error: ValueError) -> anyhow::Error {
    if matches!(error, ValueError::Io(_)) { error.into() } else { UsageError(error.to_string()).into() }
}

fn imported(file: &std::path::Path) -> anyhow::Result<Request> {
    files::not_a_folder(file)?;
    let import = Import::read(file).map_err(|error| match error {
        ImportError::Io { source, .. } => FileError::from(source).into(),
        other => anyhow::Error::from(other),
    })?;
    for renamed in &import.renamed {
        exit::tell(&format!("`{}` is called `{}` from now on", renamed.from, renamed.to.as_str()));
    }
    let secrets = import.secrets.into_iter().map(|(name, value)| (name.as_str().to_owned(), SecretValue(value)));
    Ok(Request::SecretImport { secrets: secrets.collect() })
}

/// That the secret `name` is gone, and who misses it.
fn removed(name: &str, missed_by: &[String]) -> String {
    let missed = match missed_by {
        [] => String::new(),
        sources => format!(
            " It is named by the grants of `{}`: what needs it there fails until `ringfence secret set {name}` stores it \
             again.",
            sources.join("`, `")
        ),
    };
    format!("Removed `{name}`.{missed}\n\n")
}

/// What is listed where there is nothing to list.
const NONE: &str = "There are no secrets. Next: `ringfence secret set NAME`.";

fn list(report: &SecretReport) -> String {
    let Some(place) = &report.place else {
        return NONE.into();
    };
    if report.secrets.is_empty() {
        return format!("{NONE} It will live in {place}.");
    }
    let rows = report.secrets.iter().map(|secret| {
        let rotated = secret.rotated.map_or_else(|| "never".into(), show::time);
        [secret.name.clone(), show::time(secret.created), rotated]
    });
    let mut text = format!("{}\n\nThey live in {place}.", show::table(["NAME", "STORED", "ROTATED"], rows));
    for lost in report.secrets.iter().filter(|secret| secret.lost) {
        let name = &lost.name;
        text.push_str(&format!(
            "\n`{name}` has no value any more. `ringfence secret rotate {name}` gives it one, `ringfence secret remove \
             {name}` forgets it."
        ));
    }
    text
}
