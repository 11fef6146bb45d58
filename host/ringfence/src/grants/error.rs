//! Why a grant cannot be used or changed.

use std::path::PathBuf;

use ringfence_core::name::SourceName;
use ringfence_package::reading::ReadError;
use ringfence_store::StoreError;
use thiserror::Error;

use crate::request::ErrorKind;

/// Why a grant cannot be used. Its source gets nothing then.
#[derive(Debug, Error)]
pub(crate) enum GrantFileError {
    /// The file cannot be read or written.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// Others can write it, or the folder that it is in.
    #[error("the grant is not safe: {0}")]
    Unsafe(#[from] StoreError),
    /// It is not what a grant looks like.
    #[error("{}", .error.in_file(.path))]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and where.
        error: ReadError,
    },
    /// Something in it means nothing.
    #[error("{place}: {problem}")]
    Meaningless {
        /// The file, and the line where it is known.
        place: String,
        /// What is wrong.
        problem: String,
    },
    /// What is asked for is no rule.
    #[error("{text:?} is no request: write it like \"GET https://api.example.org/v1/**\" ({problem})")]
    Request {
        /// What was said.
        text: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A client belongs to a credential of that kind only.
    #[error("the package asks for no OAuth 2.0 credential `{0}`: `ringfence grants` shows what it asks for")]
    NoOAuth2(String),
    /// Now it would have no effect, and with some update of the package it would have one.
    #[error(
        "`{source_name}` does not ask for: {}. An update that does would get it unseen, so it is not granted; `ringfence \
         grants` shows what the package asks for", .unused.join("; ")
    )]
    NotAsked {
        /// The source.
        source_name: SourceName,
        /// What it does not ask for, in words.
        unused: Vec<String>,
    },
    /// With what is asked for the file would make no sense. It is as it was.
    #[error("this cannot be granted: {0}")]
    Change(String),
}

impl GrantFileError {
    /// What kind of no it is to whoever wanted to grant.
    pub(crate) fn kind(&self) -> ErrorKind {
        match self {
            Self::Io(_) | Self::Unsafe(_) => ErrorKind::Failed,
            Self::Malformed { .. } | Self::Meaningless { .. } => ErrorKind::Refused,
            Self::Request { .. } | Self::NoOAuth2(_) | Self::Change(_) => ErrorKind::Usage,
            Self::NotAsked { .. } => ErrorKind::Refused,
        }
    }

    /// The error of a file that was not written yet, in which no place means anything.
    pub(super) fn of_change(self) -> Self {
        match self {
            Self::Malformed { error, .. } => Self::Change(error.problem),
            Self::Meaningless { problem, .. } => Self::Change(problem),
            other => other,
        }
    }
}
