//! How a command ends: its exit code, and how an error is shown. The only place that knows either.

use std::process::ExitCode;

use ringfence_core::error::CallError;
use serde_json::json;

use super::session::{Session, printable};
use crate::request::{ErrorKind, RequestError};

/// It was tried and did not work.
const FAILED: u8 = 1;
/// The arguments make no sense (clap's own code is the same).
const USAGE: u8 = 2;
/// A rule refused it: policy, signature, rate, approval.
const REFUSED: u8 = 3;
/// A call was stopped at a limit.
const LIMIT: u8 = 4;
/// What was named does not exist.
const NOT_FOUND: u8 = 5;
/// Not now; a retry may work.
const UNAVAILABLE: u8 = 6;

/// What `--help` says about it.
pub(super) const HELP: &str = "\
Exit codes: 0 done, 1 failed, 2 wrong arguments, 3 refused by a rule, 4 stopped at a limit, 5 no such thing,
6 not available now.

`ringfence demo` shows the main job in one go.";

/// Wrong use of a command that clap cannot see.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct UsageError(pub(super) String);

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
    if session.json {
        let document = json!({"error": {"code": code, "message": text}});
        anstream::println!("{document:#}");
    } else {
        anstream::eprintln!("{}error:{} {}", session.paint("\x1b[1;31m"), session.paint("\x1b[0m"), printable(&text));
    }
    ExitCode::from(exit)
}

fn describe(error: &anyhow::Error) -> (u8, String, String) {
    if let Some(error) = error.downcast_ref::<CallError>() {
        return (of_call(error), error.code().into_owned(), error.for_operator());
    }
    let told = error.downcast_ref::<Reported>().map(|Reported(error)| error);
    if let Some(error) = error.downcast_ref::<RequestError>().or(told) {
        let exit = match error.kind {
            ErrorKind::NotFound => NOT_FOUND,
            ErrorKind::Refused => REFUSED,
            ErrorKind::Failed => FAILED,
        };
        return (exit, error.code.clone(), error.message.clone());
    }
    if let Some(error) = error.downcast_ref::<UsageError>() {
        return (USAGE, "usage".into(), error.0.clone());
    }
    // Our errors tell their causes themselves.
    (FAILED, "failed".into(), error.to_string())
}

fn of_call(error: &CallError) -> u8 {
    match error {
        CallError::NotFound { .. } | CallError::NotOffered { .. } => NOT_FOUND,
        CallError::InvalidParams { .. } => USAGE,
        CallError::Denied { .. } | CallError::NeedsApproval { .. } | CallError::ApprovalTimeout { .. } => REFUSED,
        CallError::RateLimited { .. } => REFUSED,
        CallError::LimitExceeded { .. } => LIMIT,
        CallError::Unavailable { .. } => UNAVAILABLE,
        CallError::Trapped { .. }
        | CallError::Cancelled { .. }
        | CallError::AuthRequired { .. }
        | CallError::Failed { .. } => FAILED,
    }
}
