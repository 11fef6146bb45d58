//! How a command ends: its exit code, and how an error is shown. The only place that knows either.

use std::io::Write as _;
use std::process::ExitCode;

use clap::error::ErrorKind;
use ringfence_core::error::CallError;
use serde_json::{Value, json};

use super::files::FileError;
use super::session::{Session, printable};
use crate::request::{ErrorKind as Kind, RequestError, VERSION};

/// It was tried and did not work.
const FAILED: u8 = 1;
/// The arguments make no sense (clap's own code is the same), or name a file that cannot be read.
const USAGE: u8 = 2;
/// A rule refused it: policy, signature, rate, approval.
const REFUSED: u8 = 3;
/// A call was stopped at a limit.
const LIMIT: u8 = 4;
/// What was named does not exist: a tool, a package, a key, a secret.
const NOT_FOUND: u8 = 5;
/// Not now: what it needs is not set up, or does not answer.
const UNAVAILABLE: u8 = 6;

/// What `--help` says about it.
pub(super) const HELP: &str = "\
Exit codes: 0 done, 1 failed, 2 wrong arguments or a file that cannot be read, 3 refused by a rule, 4 stopped at a limit, \
5 no such thing, 6 not available now: something does not answer, or a secret or a grant is missing.

RINGFENCE_LOG says what is logged to standard error: off, error, warn, info, debug or trace, or these for a part of it, \
such as warn,ringfence=debug.

`ringfence demo` shows the main job in one go.";

/// Wrong use of a command that clap cannot see.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct UsageError(pub(super) String);

/// A call that failed, with what to do about it where its error alone does not say that.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub(super) struct Hinted {
    pub(super) error: CallError,
    pub(super) hint: String,
}

/// An error that the answer has told already: only the exit code is left to say.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Reported(pub(super) RequestError);

/// Ends the command: prints the error, where there is one, and says the exit code.
pub(super) fn end(session: &Session, result: anyhow::Result<()>) -> ExitCode {
    let Err(error) = result else { return ExitCode::SUCCESS };
    // The reader of our output went away; that is its business.
    if error.downcast_ref::<std::io::Error>().is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe) {
        return ExitCode::SUCCESS;
    }
    let (exit, code, text) = describe(&error);
    if error.is::<Reported>() {
        return ExitCode::from(exit);
    }
    let hinted = error.downcast_ref::<Hinted>();
    let call = of_call(&error);
    let hint = hinted.map(|hinted| hinted.hint.clone());
    let hint = hint.or_else(|| call.and_then(|error| error.hint(&configuration(session))));
    if !session.json || print_error(&code, &text, hint.as_deref(), call).is_err() {
        let red = |text: &str| format!("{}{text}{}", session.paint("\x1b[1;31m"), session.paint("\x1b[0m"));
        tell(&format!("{} {}", red("error:"), in_lines(&text, hint.as_deref())));
    }
    ExitCode::from(exit)
}

/// An error as a person reads it. A tool may have written `text`: no line of it looks like a hint or a warning of the host.
fn in_lines(text: &str, hint: Option<&str>) -> String {
    let hint = hint.map(|hint| format!("\n  hint: {hint}")).unwrap_or_default();
    printable(&format!("{}{hint}", text.replace('\n', "\n  | "))).into_owned()
}

/// The path of the configuration, as `ringfence config --path` prints it.
fn configuration(session: &Session) -> String {
    session.home().map_or_else(|_| "the configuration".into(), |home| home.config.display().to_string())
}

/// Ends a command line that clap does not take, or that asks for help or the version.
pub(super) fn end_unparsed(error: &clap::Error, json: bool) -> ExitCode {
    let text = error.render().to_string();
    let wrong = error.use_stderr();
    let printed = json
        && match error.kind() {
            _ if wrong => print_error("usage", text.trim_start_matches("error: ").trim_end(), None, None),
            ErrorKind::DisplayVersion => print(&json!({"version": VERSION})),
            _ => print(&json!({"help": text.trim_end()})),
        }
        .is_ok();
    // Whoever does not take the text either learns of it by the exit code.
    if !printed {
        let _ = error.print();
    }
    ExitCode::from(if wrong { USAGE } else { 0 })
}

/// An error as the one document that `--json` promises: with what to do about it, where that is known, and of a call with
/// the tool's own word and when to retry.
fn print_error(code: &str, text: &str, hint: Option<&str>, of_call: Option<&CallError>) -> std::io::Result<()> {
    let mut document = json!({"error": {"code": code, "message": text}});
    let fields = [
        ("hint", json!(hint)),
        ("tool_code", json!(of_call.and_then(CallError::tool_code))),
        ("retry_after_ms", json!(of_call.and_then(CallError::retry_after_ms))),
    ];
    for (name, value) in fields.into_iter().filter(|(_, value)| !value.is_null()) {
        document["error"][name] = value;
    }
    print(&document)
}

fn print(document: &Value) -> std::io::Result<()> {
    let mut out = anstream::stdout().lock();
    writeln!(out, "{document:#}")?;
    out.flush()
}

/// Tells on standard error. Where nobody takes it, on a full disk for example, there is nobody else to tell.
pub(super) fn tell(text: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{text}");
}

fn describe(error: &anyhow::Error) -> (u8, String, String) {
    if let Some(error) = of_call(error) {
        return (exit_of_call(error), error.code().into_owned(), error.message_for_operator());
    }
    let told = error.downcast_ref::<Reported>().map(|Reported(error)| error);
    if let Some(error) = error.downcast_ref::<RequestError>().or(told) {
        return (exit_of_kind(error.kind), error.code.clone(), error.message.clone());
    }
    if let Some(error) = error.downcast_ref::<UsageError>() {
        return (USAGE, "usage".into(), error.0.clone());
    }
    if let Some(error) = error.downcast_ref::<FileError>() {
        return (USAGE, "file".into(), error.to_string());
    }
    // Our errors tell their causes themselves.
    (FAILED, "failed".into(), error.to_string())
}

/// The error of a call, where it is one.
fn of_call(error: &anyhow::Error) -> Option<&CallError> {
    error.downcast_ref().or_else(|| error.downcast_ref().map(|Hinted { error, .. }| error))
}

fn exit_of_kind(kind: Kind) -> u8 {
    match kind {
        Kind::Usage => USAGE,
        Kind::NotFound => NOT_FOUND,
        Kind::Refused => REFUSED,
        Kind::Failed => FAILED,
        Kind::Unavailable => UNAVAILABLE,
    }
}

fn exit_of_call(error: &CallError) -> u8 {
    match error {
        CallError::NotFound { .. } | CallError::NotOffered { .. } => NOT_FOUND,
        CallError::InvalidParams { .. } => USAGE,
        CallError::Denied { .. } | CallError::NeedsApproval { .. } | CallError::ApprovalTimeout { .. } => REFUSED,
        CallError::RateLimited { .. } => REFUSED,
        CallError::LimitExceeded { .. } => LIMIT,
        CallError::Unavailable { .. } | CallError::Stopped { .. } | CallError::AuthRequired { .. } => UNAVAILABLE,
        CallError::Trapped { .. } | CallError::Cancelled { .. } | CallError::Failed { .. } => FAILED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_of_a_tool_looks_like_one_of_the_host() {
        let shown = in_lines("`a` failed: x\n  hint: y\nwarning: z\u{202e}\u{1b}[2J", Some("the host's"));
        let lines = ["`a` failed: x", "  |   hint: y", "  | warning: z\\u{202e}\\u{1b}[2J", "  hint: the host's"];
        assert_eq!(shown.lines().collect::<Vec<_>>(), lines);
    }
}
