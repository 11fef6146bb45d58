//! The command line: one file a command. This file says which commands there are and how they end.

mod audit;
mod build;
mod call;
mod completions;
mod config;
mod demo;
mod exit;
mod explain;
mod files;
mod grant;
mod grants;
mod import_capabilities;
mod inspect;
mod install;
mod key;
mod list;
mod log;
mod network;
mod new;
mod pack;
mod publish;
mod remove;
mod revoke;
mod schema;
mod search;
mod secret;
mod serve;
mod session;
mod show;
mod sign;
mod state;
mod test;
mod tools;
mod trust;
mod update;
mod verify;
mod wit;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue};
use clap::{Parser, Subcommand};

use session::Session;

/// The host where an AI agent's tool calls happen safely.
#[derive(Parser)]
#[command(name = "ringfence", version, propagate_version = true, after_help = exit::HELP)]
struct Arguments {
    /// Print JSON, one document, instead of text.
    #[arg(long, global = true)]
    json: bool,

    /// Keep configuration and state in this folder (as RINGFENCE_HOME does).
    #[arg(long, global = true, value_name = "DIR")]
    home: Option<PathBuf>,

    #[command(subcommand)]
    command: Command,
}

// What the help says of each stands at its type: a comment here would take its place.
#[derive(Subcommand)]
enum Command {
    Demo(demo::Demo),
    Call(call::Call),
    Tools(tools::Tools),
    Serve(serve::Serve),

    Install(install::Install),
    Update(update::Update),
    Search(search::Search),
    List(list::List),
    Remove(remove::Remove),
    Trust(trust::Trust),
    Grant(Box<grant::Grant>),
    Revoke(revoke::Revoke),
    Grants(grants::Grants),
    Explain(explain::Explain),
    Secret(secret::SecretArgs),
    State(state::State),
    Audit(audit::Audit),
    Config(config::ConfigCommand),
    Schema(schema::SchemaCommand),

    New(new::New),
    Build(build::Build),
    Pack(pack::Pack),
    Wit(wit::Wit),
    ImportCapabilities(import_capabilities::ImportCapabilities),
    Test(test::Test),
    Inspect(inspect::Inspect),
    Key(key::Key),
    Sign(sign::Sign),
    Publish(publish::Publish),
    Verify(verify::Verify),

    Completions(completions::Completions),
}

/// Runs the command that the process's arguments name.
pub fn run() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return exit::end_unparsed(&nearest_first(error), asks_for_json(std::env::args_os())),
    };
    log::init(matches!(arguments.command, Command::Serve(_)));
    let session = Session { json: arguments.json, home: arguments.home };
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return exit::end(&session, Err(error.into())),
    };
    let result = runtime.block_on(dispatch(arguments.command, &session));
    // A read of standard input that nobody answers would keep the process.
    runtime.shutdown_background();
    exit::end(&session, result)
}

/// `error`, with the commands that it suggests in the order of their likeness: clap has the nearest one last.
fn nearest_first(mut error: clap::Error) -> clap::Error {
    if let Some(ContextValue::Strings(names)) = error.remove(ContextKind::SuggestedSubcommand) {
        let names = names.into_iter().rev().collect();
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(names));
    }
    error
}

/// Whether `--json` is among `arguments`, which could not be parsed.
fn asks_for_json(arguments: impl Iterator<Item = OsString>) -> bool {
    arguments.take_while(|argument| argument != "--").any(|argument| argument == "--json")
}

async fn dispatch(command: Command, session: &Session) -> anyhow::Result<()> {
    match command {
        Command::Demo(command) => command.run(session).await,
        Command::Call(command) => command.run(session).await,
        Command::Tools(command) => command.run(session).await,
        Command::Serve(command) => command.run(session).await,
        Command::Install(command) => command.run(session).await,
        Command::Update(command) => command.run(session).await,
        Command::Search(command) => command.run(session).await,
        Command::List(command) => command.run(session).await,
        Command::Remove(command) => command.run(session).await,
        Command::Trust(command) => command.run(session).await,
        Command::Grant(command) => command.run(session).await,
        Command::Revoke(command) => command.run(session).await,
        Command::Grants(command) => command.run(session).await,
        Command::Explain(command) => command.run(session).await,
        Command::Secret(command) => command.run(session).await,
        Command::State(command) => command.run(session).await,
        Command::Audit(command) => command.run(session).await,
        Command::Config(command) => command.run(session).await,
        Command::Schema(command) => command.run(session),
        Command::New(command) => command.run(session),
        Command::Build(command) => command.run(session).await,
        Command::Pack(command) => command.run(session).await,
        Command::Wit(command) => command.run(session),
        Command::ImportCapabilities(command) => command.run(session),
        Command::Test(command) => command.run(session).await,
        Command::Inspect(command) => command.run(session).await,
        Command::Key(command) => command.run(session),
        Command::Sign(command) => command.run(session),
        Command::Publish(command) => command.run(session).await,
        Command::Verify(command) => command.run(session).await,
        Command::Completions(command) => command.run(session),
    }
}
