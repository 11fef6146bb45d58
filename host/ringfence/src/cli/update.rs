//! `ringfence update`: installs what is newer where the packages came from.

use clap::Args;
use ringfence_distribution::{Location, Wanted};
use serde::Serialize;

use super::exit::{Reported, UsageError};
use super::network::Network;
use super::session::{Interrupted, Session, other_build};
use crate::distribution::Distribution;
use crate::request::{Changes, ErrorKind, InstallRequest, PackageEntry, PackageRequest, Reply, RequestError};

/// Look where packages were installed from, and install what is newer.
///
/// Nothing more is granted by that.
#[derive(Args)]
#[command(
    after_help = "What an update asks for beyond the old version is shown, and granted by `ringfence grant` only."
)]
pub(super) struct Update {
    /// The packages, as `ringfence list` shows them; all without names.
    names: Vec<String>,
    /// Only say what is newer and what it would change.
    #[arg(long)]
    check: bool,
    /// Take packages that nobody signed.
    #[arg(long)]
    allow_unsigned: bool,
    /// Believe what their tools say of their effects, also where they say more than before.
    #[arg(long)]
    accept_effects: bool,
    #[command(flatten)]
    network: Network,
}

/// How it stands with one package.
#[derive(Serialize)]
struct Outcome {
    source: String,
    location: Option<String>,
    version: String,
    #[serde(flatten)]
    state: State,
}

#[derive(Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
enum State {
    /// The newest is installed.
    Current,
    /// The location names the very bytes.
    Pinned,
    /// Nobody knows where it came from.
    NoLocation,
    /// There is a newer one.
    Available { changes: Changes },
    /// The newer one is installed now.
    Updated { changes: Changes, grant: Vec<String> },
    /// It could not be fetched, or is not taken.
    Failed { error: RequestError },
}

impl State {
    /// It was on its way.
    fn of(interrupted: Interrupted) -> Self {
        let error = RequestError::new(ErrorKind::Failed, "interrupted", &interrupted);
        Self::Failed { error }
    }
}

impl Update {
    pub(super) async fn run(self, session: &Session) -> anyhow::Result<()> {
        let Reply::Packages(installed) = session.ask(PackageRequest::List).await? else { return Err(other_build()) };
        if let Some(unknown) = self.names.iter().find(|name| installed.iter().all(|entry| entry.source != **name)) {
            let message = format!("nothing is installed as `{unknown}`: `ringfence list` shows what is");
            return Err(
                RequestError { kind: ErrorKind::NotFound, code: "install.not_installed".into(), message }.into()
            );
        }
        let Self { names, check, allow_unsigned, accept_effects, network } = self;
        let options = InstallRequest {
            allow_unsigned,
            accept_effects,
            keep_effects: true,
            check_only: check,
            ..InstallRequest::default()
        };
        let distribution = network.distribution(session)?;
        let mut outcomes = Vec::new();
        for entry in installed.into_iter().filter(|entry| names.is_empty() || names.contains(&entry.source)) {
            let (state, interrupted) = match one(session, &distribution, &entry, &options).await {
                Ok(state) => (state, false),
                // What was done so far is told all the same.
                Err(error) => (State::of(error.downcast::<Interrupted>()?), true),
            };
            let PackageEntry { source, location, version, .. } = entry;
            outcomes.push(Outcome { source, location, version, state });
            if interrupted {
                break;
            }
        }
        session.answer(&outcomes, |outcomes| text(outcomes))?;
        let failed = outcomes.into_iter().find_map(|outcome| match outcome.state {
            State::Failed { error } => Some(error),
            _ => None,
        });
        failed.map_or(Ok(()), |error| Err(Reported(error).into()))
    }
}

async fn one(
    session: &Session,
    distribution: &Distribution,
    entry: &PackageEntry,
    options: &InstallRequest,
) -> anyhow::Result<State> {
    let Some(remembered) = &entry.location else { return Ok(State::NoLocation) };
    let location = remembered.parse::<Location>().map_err(|error| UsageError(error.to_string()))?;
    if location.is_pinned() {
        return Ok(State::Pinned);
    }
    let have = entry.digest.parse().ok();
    let trusted = session.trusted_keys(&location).await?;
    let wanted = Wanted { trusted, have, ..Wanted::default() };
    let fetched = session.until_interrupted(distribution.fetch(&location, wanted, session.watcher())).await?;
    let staged = match fetched {
        Ok(Some(staged)) => staged,
        Ok(None) => return Ok(State::Current),
        Err(error) => return Ok(State::Failed { error }),
    };
    let request = InstallRequest {
        file: staged.file.clone(),
        location: Some(remembered.clone()),
        name: Some(entry.source.clone()),
        ..options.clone()
    };
    match session.ask(PackageRequest::Install(request)).await.map_err(|error| error.downcast::<RequestError>()) {
        Ok(Reply::Planned(changes)) => Ok(State::Available { changes }),
        Ok(Reply::Installed(report)) => Ok(State::Updated { changes: report.changes, grant: report.grant }),
        Ok(_) => Err(other_build()),
        Err(Ok(error)) => Ok(State::Failed { error }),
        Err(Err(error)) => Err(error),
    }
}

fn text(outcomes: &[Outcome]) -> String {
    if outcomes.is_empty() {
        return "Nothing is installed. Next: `ringfence install LOCATION`.".into();
    }
    outcomes.iter().map(lines).collect::<Vec<_>>().join("\n")
}

fn lines(outcome: &Outcome) -> String {
    let Outcome { source, version, location, state } = outcome;
    let place = location.as_deref().unwrap_or_default();
    match state {
        State::Current => format!("{source} {version} is the newest at {place}."),
        State::Pinned => format!("{source} {version} was installed as just this one: {place}."),
        State::NoLocation => {
            format!("{source} {version}: where it came from is not known; `ringfence install LOCATION` says it.")
        }
        State::Available { changes } => {
            format!("{source} {version}: there is {}.{}", changes.version, told(source, changes))
        }
        State::Updated { changes, grant } => {
            let notes: String = grant.iter().map(|note| format!("\n  note     {note}")).collect();
            format!("{source} {version} is now {}.{}{notes}", changes.version, told(source, changes))
        }
        State::Failed { error } => format!("{source} {version} stays: {error}"),
    }
}

/// What an update changes, a line each.
fn told(source: &str, changes: &Changes) -> String {
    let mut lines: Vec<String> = changes.tools.iter().map(|change| format!("\n  tools    {change}")).collect();
    lines.extend(changes.asks_more.iter().map(|more| format!("\n  asks for {more}")));
    if !changes.asks_more.is_empty() {
        lines.push(format!("\n  It asks for more than before, and none of that is granted: `ringfence grants` shows what, `ringfence grant {source} --all` grants it."));
    }
    lines.concat()
}
