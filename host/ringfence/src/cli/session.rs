//! What all commands share: how to answer, and the door to the host.

use std::borrow::Cow;
use std::io::{BufRead as _, IsTerminal as _, Read as _};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ringfence_distribution::{Location, Watcher};
use serde::Serialize;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use ringfence_core::Secret;

use super::exit::UsageError;
use super::files;
use crate::config::Home;
use crate::door::{Door, DoorError};
use crate::dumps;
use crate::request::{EVENT_QUEUE, Event, PackageRequest, Reply, Request, RequestError};

/// How long a download may take before a bar shows how far it is: before that, it would be gone before it is read.
const BAR_AFTER: Duration = Duration::from_secs(1);

/// The longest line that is read as a password, in bytes: as long as Linux lets a line at a terminal be.
const MAX_PASSWORD: u64 = 4096;

/// Ctrl-C came before the end.
#[derive(Debug, thiserror::Error)]
#[error("interrupted")]
pub(super) struct Interrupted;

/// One run of the command line.
pub(super) struct Session {
    /// Whether answers are JSON.
    pub(super) json: bool,
    /// `--home`.
    pub(super) home: Option<PathBuf>,
}

impl Session {
    /// Where configuration and state live.
    pub(super) fn home(&self) -> anyhow::Result<Home> {
        if let Some(folder) = self.home.as_deref()
            && folder.exists()
        {
            files::folder(folder)?;
        }
        Ok(Home::find(self.home.as_deref())?)
    }

    /// Asks the host one thing, showing what it does meanwhile, and leaves it.
    pub(super) async fn ask(&self, request: impl Into<Request>) -> anyhow::Result<Reply> {
        let door = Door::open(self.home()?).await?;
        let reply = self.ask_through(&door, request.into()).await;
        door.close().await?;
        reply
    }

    /// Asks through an open door. Ctrl-C takes the request back.
    pub(super) async fn ask_through(&self, door: &Door, request: Request) -> anyhow::Result<Reply> {
        let (events, incoming) = mpsc::channel(EVENT_QUEUE);
        let cancel = CancellationToken::new();
        let spinner = self.spinner();
        let asked = door.ask(request, events, cancel.clone());
        tokio::pin!(asked);
        let shown = show_events(incoming, &spinner);
        tokio::pin!(shown);
        let reply = loop {
            tokio::select! {
                reply = &mut asked => break reply,
                () = &mut shown => {}
                _ = tokio::signal::ctrl_c(), if !cancel.is_cancelled() => cancel.cancel(),
            }
        };
        spinner.finish_and_clear();
        Ok(reply?)
    }

    /// Prints the answer: `value` as JSON, or what `text` makes of it.
    pub(super) fn answer<T: Serialize>(&self, value: &T, text: impl FnOnce(&T) -> String) -> anyhow::Result<()> {
        use std::io::Write as _;
        let text = if self.json { serde_json::to_string_pretty(value)? } else { text(value) };
        let mut out = anstream::stdout().lock();
        if !text.is_empty() {
            let text = text.trim_end_matches('\n');
            let shown = if std::io::stdout().is_terminal() { printable(text) } else { text.into() };
            writeln!(out, "{shown}")?;
        }
        out.flush()?;
        Ok(())
    }

    /// Something that turns while the user waits; invisible where standard error is no terminal.
    pub(super) fn spinner(&self) -> ProgressBar {
        if !std::io::stderr().is_terminal() {
            return ProgressBar::hidden();
        }
        let style = ProgressStyle::with_template("{spinner} {msg} {elapsed}")
            .unwrap_or_else(|_| ProgressStyle::default_spinner());
        let spinner = ProgressBar::new_spinner().with_style(style);
        spinner.enable_steady_tick(Duration::from_millis(120));
        spinner
    }

    /// A bar for a download that takes longer than a second; invisible where standard error is no terminal.
    pub(super) fn watcher(&self) -> Watcher {
        let bar = ProgressBar::hidden();
        let (started, shown) = (Instant::now(), std::io::stderr().is_terminal());
        Box::new(move |what, done, total| {
            if !shown || started.elapsed() < BAR_AFTER {
                return;
            }
            if bar.is_hidden() {
                bar.set_draw_target(ProgressDrawTarget::stderr());
                let style = ProgressStyle::with_template("{bar:30} {bytes}/{total_bytes} {bytes_per_sec} {msg}");
                bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
                bar.set_message(printable(what).into_owned());
            }
            bar.set_length(total.unwrap_or(done));
            bar.set_position(done);
        })
    }

    /// What `work` results in, unless Ctrl-C ends it first. Whatever it holds is dropped then.
    pub(super) async fn until_interrupted<T>(&self, work: impl Future<Output = T>) -> Result<T, Interrupted> {
        tokio::select! {
            done = work => Ok(done),
            _ = tokio::signal::ctrl_c() => Err(Interrupted),
        }
    }

    /// The ids of the keys that count, where `location` may have several signatures to choose from.
    pub(super) async fn trusted_keys(&self, location: &Location) -> anyhow::Result<Vec<String>> {
        let Location::Oci(_) = location else { return Ok(Vec::new()) };
        let Reply::Keys(keys) = self.ask(PackageRequest::TrustList).await? else { return Err(other_build()) };
        Ok(keys.into_iter().filter(|key| key.revoked.is_none()).map(|key| key.key_id).collect())
    }

    /// A colour, where standard error shows colours.
    pub(super) fn paint(&self, code: &'static str) -> &'static str {
        if std::io::stderr().is_terminal() { code } else { "" }
    }
}

/// For an answer that is none to what was asked: a host of this build gives none such.
pub(super) fn other_build() -> anyhow::Error {
    RequestError::other_build().into()
}

/// A text without control characters but line breaks and tabs, and without what hides or turns others: a tool's
/// words must not steer the terminal, nor show themselves as others.
pub(super) fn printable(text: &str) -> Cow<'_, str> {
    let steers = |c: char| (c.is_control() && c != '\n' && c != '\t') || ringfence_package::hides(c);
    if !text.contains(steers) {
        return text.into();
    }
    text.chars().map(|c| if steers(c) { c.escape_default().to_string() } else { c.into() }).collect::<String>().into()
}

async fn show_events(mut incoming: mpsc::Receiver<Event>, spinner: &ProgressBar) {
    while let Some(event) = incoming.recv().await {
        match event {
            Event::Step(step) => spinner.set_message(step),
            Event::Progress(progress) => {
                let total = progress.total.map(|total| format!("/{total}")).unwrap_or_default();
                let message = progress.message.unwrap_or_default();
                spinner.set_message(format!("{}{total} {message}", progress.done));
            }
            Event::Changed => {}
        }
    }
    // Asked further, a select would turn in circles.
    std::future::pending::<()>().await;
}

/// From now on this process leaves no core dump: for commands that read a secret without opening the [`Door`], before it.
pub(super) fn hold_secrets() -> anyhow::Result<()> {
    Ok(dumps::prevent().map_err(DoorError::Dumps)?)
}

/// Asks for a password without showing it; where there is no terminal, takes a line of standard input.
pub(super) fn password(prompt: &str) -> anyhow::Result<Secret> {
    if std::io::stdin().is_terminal() {
        return Ok(Secret::new(rpassword::prompt_password(prompt)?));
    }
    let mut line = String::new();
    std::io::stdin().lock().take(MAX_PASSWORD).read_line(&mut line)?;
    Ok(Secret::new(line.trim_end_matches(['\r', '\n']).to_owned()))
}

/// Asks for a new password, or whatever `kind` of it, twice where somebody types it.
pub(super) fn new_password(prompt: &str, kind: &str) -> anyhow::Result<Secret> {
    let first = password(prompt)?;
    if std::io::stdin().is_terminal() && password("The same again: ")?.expose() != first.expose() {
        return Err(UsageError(format!("the two {kind}s differ")).into());
    }
    Ok(first)
}
