//! Why a request was not fulfilled.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Why a request was not fulfilled.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
#[error("{message}")]
pub struct RequestError {
    /// What kind of no it is.
    pub kind: ErrorKind,
    /// A stable code.
    pub code: String,
    /// What was refused, why, and what to do.
    pub message: String,
}

/// What kind of no a [`RequestError`] is. Each has an exit code of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// It makes no sense as it was asked.
    Usage,
    /// What was asked for does not exist.
    NotFound,
    /// A rule forbids it.
    Refused,
    /// It was tried and did not work.
    Failed,
}

impl RequestError {
    /// An error of `kind` whose text is that of `error` with all that is behind it.
    pub fn new(kind: ErrorKind, code: &str, error: &dyn std::error::Error) -> Self {
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
