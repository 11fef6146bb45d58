//! `ringfence demo`: the main job in one go, from the source of a stranger's tool to a call that is stopped.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use ringfence_core::caller::Caller;
use ringfence_core::error::CallError;
use ringfence_core::output::ToolOutput;
use ringfence_package::{SecretKey, signature, signing};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::call::{shown, used};
use super::exit::UsageError;
use super::session::Session;
use super::show;
use crate::author::{package, scaffold};
use crate::config::Home;
use crate::door::Door;
use crate::request::{EVENT_QUEUE, InstallRequest, PackageRequest, Reply, Request, RequestError};

/// See the main job: a stranger's tool built, signed, installed, called, and stopped at its limit.
///
/// All of it happens in a throw-away folder.
#[derive(Args)]
pub(super) struct Demo {
    /// Leave everything in this folder, which must not exist yet.
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

/// The stranger's tool. It does real work, and as much of it as it is asked for.
const SOURCE: &str = r#"//! A tool by a stranger.

use ringfence_sdk::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct Below {
    /// Count the primes below this number.
    limit: u64,
}

/// Counts prime numbers.
#[tool(read_only, pure)]
fn count(args: Below) -> Result<String, Failure> {
    let is_prime = |n: &u64| (2..).take_while(|d| d * d <= *n).all(|d| n % d != 0);
    Ok((2..args.limit).filter(is_prime).count().to_string())
}

export_tools!(count);
"#;

impl Demo {
    pub(super) async fn run(self, session: &Session) -> anyhow::Result<()> {
        match self.keep {
            Some(folder) => {
                fs_err::create_dir(&folder).map_err(|error| unusable(&folder, error))?;
                Story::new(session, &std::path::absolute(&folder)?).tell(true).await
            }
            None => {
                let folder = tempfile::tempdir()?;
                Story::new(session, folder.path()).tell(false).await
            }
        }
    }
}

/// Why `folder` cannot be the one that is kept.
fn unusable(folder: &Path, error: std::io::Error) -> anyhow::Error {
    let why = match error.kind() {
        std::io::ErrorKind::AlreadyExists => "it is there already: name one that is not".to_owned(),
        std::io::ErrorKind::NotFound => "the folder above it is not there: make that first".to_owned(),
        _ => error.to_string(),
    };
    UsageError(format!("`{}` cannot be made: {why}", folder.display())).into()
}

struct Story<'a> {
    session: &'a Session,
    folder: PathBuf,
    told: Vec<String>,
}

impl<'a> Story<'a> {
    fn new(session: &'a Session, folder: &Path) -> Self {
        Self { session, folder: folder.to_owned(), told: Vec::new() }
    }

    async fn tell(mut self, kept: bool) -> anyhow::Result<()> {
        let component = self.author().await?;
        let door = Door::open(Home::at(&self.folder.join("home"))).await?;
        let told = self.operator(&door, &component).await;
        door.close().await?;
        told?;
        let next = if kept { "Look around: ringfence --home DIR/home list. " } else { "" };
        self.say(&format!("{next}Next: ringfence new mytool, cd mytool, ringfence build; or read README.md."))?;
        if self.session.json {
            return self.session.answer(&json!({"story": self.told}), |_| String::new());
        }
        Ok(())
    }

    /// A stranger writes a tool, builds it and signs it.
    async fn author(&mut self) -> anyhow::Result<PathBuf> {
        let project = scaffold::create(&self.folder, "primes")?;
        fs_err::write(project.join("src/lib.rs"), SOURCE)?;
        self.say("A stranger writes a tool, `primes`, in 20 lines of Rust.")?;
        let spinner = self.session.spinner();
        let built = package::build(&project, &mut |line| spinner.set_message(line.trim().to_owned())).await;
        spinner.finish_and_clear();
        let built = built?;
        let component = self.folder.join("primes.wasm");
        fs_err::write(&component, &built.bytes)?;
        let size = show::bytes(built.bytes.len() as u64);
        self.say(&format!("It is built with {}: a component of {size}.", built.toolchain))?;
        let public = signing::generate(&self.folder, "stranger", None)?;
        let key = SecretKey::read(&self.folder.join("stranger.key"), None)?;
        let text = key.sign(&built.bytes, "primes.wasm", &built.manifest.package.version.to_string())?;
        fs_err::write(format!("{}.{}", component.display(), signature::EXTENSION), text)?;
        self.say(&format!("It is signed with the stranger's minisign key {}.", public.id()))?;
        Ok(component)
    }

    /// You install it, call it, and see it stopped.
    async fn operator(&mut self, door: &Door, component: &Path) -> anyhow::Result<()> {
        let refused = refusal(ask(door, install(component)).await)?;
        self.say(&format!("You install it and are refused: {}.", first_clause(&refused.message)))?;
        let key = fs_err::read_to_string(self.folder.join("stranger.pub"))?;
        ask(door, PackageRequest::TrustAdd { key, publisher: "stranger".into(), names: vec!["primes".into()] }).await?;
        self.say("You trust that key, for the name `primes` only.")?;

        let tampered = self.folder.join("tampered.wasm");
        let mut bytes = fs_err::read(component)?;
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs_err::write(&tampered, bytes)?;
        let beside = |file: &Path| format!("{}.{}", file.display(), signature::EXTENSION);
        fs_err::copy(beside(component), beside(&tampered))?;
        let refused = refusal(ask(door, install(&tampered)).await)?;
        self.say(&format!("A copy with one bit changed is refused: {}.", first_clause(&refused.message)))?;

        let Reply::Installed(report) = ask(door, install(component)).await? else { anyhow::bail!("no report") };
        let tool = report.package.tools.first().cloned().unwrap_or_default();
        self.say(&format!("The real one is verified, compiled and installed: `{tool}`."))?;
        let output = call(door, &tool, json!({"limit": 1000})).await??;
        self.say(&format!("An agent asks for the primes below 1,000: {} ({}).", shown(&output), used(&output)))?;
        let Err(stopped) = call(door, &tool, json!({"limit": 100_000_000})).await? else {
            anyhow::bail!("a call without end was not stopped")
        };
        self.say(&format!("An agent asks for too much: {stopped}."))?;
        let Reply::AuditWhole { events } = ask(door, Request::AuditVerify).await? else { anyhow::bail!("no audit") };
        self.say(&format!("Every call is on record: {}, sealed and chained.", show::count(events, "event")))?;
        Ok(())
    }

    /// Tells the next line at once.
    fn say(&mut self, line: &str) -> std::io::Result<()> {
        if !self.session.json {
            writeln!(anstream::stdout().lock(), "{:>2}. {line}", self.told.len() + 1)?;
        }
        self.told.push(line.to_owned());
        Ok(())
    }
}

fn install(file: &Path) -> PackageRequest {
    PackageRequest::Install(InstallRequest { file: file.to_owned(), ..InstallRequest::default() })
}

async fn ask(door: &Door, request: impl Into<Request>) -> Result<Reply, RequestError> {
    let (events, _nobody) = mpsc::channel(EVENT_QUEUE);
    door.ask(request.into(), events, CancellationToken::new()).await
}

async fn call(door: &Door, tool: &str, params: Value) -> Result<Result<ToolOutput, CallError>, RequestError> {
    let caller = Caller { agent: Some("demo".into()), ..Caller::default() };
    match ask(door, Request::Call { tool: tool.to_owned(), params, caller }).await? {
        Reply::Called(called) => Ok(called),
        _ => Err(RequestError::other_build()),
    }
}

/// The refusal that has to come; anything else ends the story.
fn refusal(result: Result<Reply, RequestError>) -> anyhow::Result<RequestError> {
    match result {
        Err(error) => Ok(error),
        Ok(_) => anyhow::bail!("something was installed that must not be"),
    }
}

/// What was refused and why, without the remedy, which the story tells itself.
fn first_clause(message: &str) -> &str {
    message.split([':', ';']).next().unwrap_or(message)
}
