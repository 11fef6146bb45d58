//! Why a request was not fulfilled.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Why a request was not fulfilled.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
#[error("{message}")]
pub(crate) struct RequestError {
    /// What kind of no it is.
    pub(crate) kind: ErrorKind,
    /// A stable code.
    pub(crate) code: String,
    /// What was refused, why, and what to do.
    pub(crate) message: String,
}

/// What kind of no a [`RequestError`] is. Each has an exit code of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ErrorKind {
    /// It makes no sense as it was asked.
    Usage,
    /// What was asked for does not exist.
    NotFound,
    /// A rule forbids it.
    Refused,
    /// It was tried and did not work.
    Failed,
    /// What it needs does not answer, or is not set up.
    Unavailable,
}

/// The version of this ringfence.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

impl RequestError {
    /// That the owner of the state is a ringfence of the version `owner`, and so may mean something else by the same words.
    pub(crate) fn other_version(owner: &str) -> Self {
        let message =
            format!("the ringfence that owns the state is {owner}, this is {VERSION}: restart `ringfence serve`");
        Self { kind: ErrorKind::Unavailable, code: "owner_version".into(), message }
    }

    /// The same, where the owner says that it is of this version and its words show that it is not.
    pub(crate) fn other_build() -> Self {
        Self::other_version(&format!("another build of {VERSION}"))
    }

    /// An error of `kind` whose text is that of `error` with all that is behind it.
    pub(crate) fn new(kind: ErrorKind, code: &str, error: &dyn std::error::Error) -> Self {
        let mut message = error.to_string();
        let mut source = error.source();
        while let Some(error) = source {
            let text = error.to_string();
            // Transparent wrappers would say the same twice.
            if !message.contains(&text) {
                message.push_str(": ");
                message.push_str(&text);
            }
            source = error.source();
        }
        Self { kind, code: code.to_owned(), message }
    }
}
