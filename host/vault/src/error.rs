//! What can go wrong with secrets. No text repeats a value.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::file::FileError;
use crate::name::SecretName;
use crate::place::{KeySource, Place};
use crate::value::ValueError;

/// Why an operation on secrets was refused or failed. Each text says what is wrong and what to do about it.
#[derive(Debug, Error)]
pub enum VaultError {
    /// The value is none.
    #[error("secret `{name}` is refused: {source}")]
    Value {
        /// Whose value.
        name: SecretName,
        /// Why.
        source: ValueError,
    },
    /// Secrets of these names are there already.
    #[error("{} already: nothing was stored; `ringfence secret rotate NAME` replaces a value", there_is(.0))]
    Exists(Vec<SecretName>),
    /// Names come twice in one import.
    #[error("{} more than once in what is to be imported: nothing was stored; keep one value of each", come(.0))]
    Repeated(Vec<SecretName>),
    /// There is no such secret.
    #[error("there is no secret `{0}`: `ringfence secret list` shows those that there are")]
    Unknown(SecretName),
    /// More than [`MAX_SECRETS`](crate::MAX_SECRETS).
    #[error("there would be {0} secrets, and {most} are the most: remove some first", most = crate::MAX_SECRETS)]
    TooMany(usize),
    /// The index lists a secret whose value is gone from its place.
    #[error(
        "secret `{name}` has no value any more in {place}: give one again with `ringfence secret rotate {name}`, or \
         forget the name with `ringfence secret remove {name}`"
    )]
    Lost {
        /// The name.
        name: SecretName,
        /// Where its value was.
        place: Place,
    },
    /// Something else than a secret of ours stands in the place under its name.
    #[error(
        "what {place} holds for secret `{name}` was not stored by ringfence: give a value again with \
         `ringfence secret rotate {name}`"
    )]
    Foreign {
        /// The name.
        name: SecretName,
        /// Where.
        place: Place,
    },
    /// The place takes shorter values only.
    #[error("secret `{name}` has {length} bytes, and the kernel keyring takes {allowed} at most: nothing was stored")]
    TooLongForKernel {
        /// The name.
        name: SecretName,
        /// Its value's length in bytes.
        length: usize,
        /// The most.
        allowed: usize,
    },
    /// The place was chosen, and it is another one.
    #[error(
        "secrets live in {recorded}, so {wanted} cannot be used: that is chosen once; to choose again, \
         move {} away and set the secrets again",
        .folder.display()
    )]
    Chosen {
        /// What is recorded.
        recorded: String,
        /// What was asked for.
        wanted: String,
        /// The vault's folder.
        folder: PathBuf,
    },
    /// An encrypted file is there, and the record that belongs to it is not.
    #[error(
        "{} holds secrets, but its vault.json is gone: restore that from a backup, choose the encrypted file, or move \
         it away",
        .path.display()
    )]
    Orphaned {
        /// The encrypted file.
        path: PathBuf,
    },
    /// The encrypted file is there, but nobody said what opens it.
    #[error("the secrets in {} are locked: their key comes from {key}; give it first", .path.display())]
    Locked {
        /// The encrypted file.
        path: PathBuf,
        /// What opens it.
        key: KeySource,
    },
    /// The place does not answer. Nothing else is tried.
    #[error("{place} does not answer ({cause}): {remedy}; no other place is used instead")]
    Unavailable {
        /// Which.
        place: Place,
        /// What it said.
        cause: String,
        /// What helps.
        remedy: &'static str,
    },
    /// The record of the vault makes no sense.
    #[error(
        "{} is damaged ({cause}): restore it from a backup; without it the secrets cannot be told from others",
        .path.display()
    )]
    RecordDamaged {
        /// The record.
        path: PathBuf,
        /// What is wrong with it.
        cause: String,
    },
    /// A later version of ringfence wrote the record.
    #[error("{} has format {found}, this ringfence knows {known}: use the newer ringfence that wrote it", .path.display())]
    RecordNewer {
        /// The record.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// Ours.
        known: u32,
    },
    /// Something is wrong with the encrypted file or its key.
    #[error(transparent)]
    File(#[from] FileError),
    /// The system's randomness failed.
    #[error("nothing can be stored: the system gives no randomness")]
    Randomness(#[source] getrandom::Error),
    /// A file operation failed.
    #[error("cannot {action} {}: {source}", .path.display())]
    Io {
        /// What was to be done.
        action: &'static str,
        /// With which file or folder.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
}

impl VaultError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Value { source, .. } => source.code(),
            Self::Exists(_) => "secret.exists",
            Self::Repeated(_) => "secret.repeated",
            Self::Unknown(_) => "secret.unknown",
            Self::TooMany(_) => "secret.too_many",
            Self::Lost { .. } => "secret.lost",
            Self::Foreign { .. } => "secret.foreign",
            Self::TooLongForKernel { .. } => "secret.too_long_for_kernel",
            Self::Chosen { .. } => "vault.chosen",
            Self::Orphaned { .. } => "vault.orphaned",
            Self::Locked { .. } => "vault.locked",
            Self::Unavailable { .. } => "vault.unavailable",
            Self::RecordDamaged { .. } => "vault.damaged",
            Self::RecordNewer { .. } => "vault.newer",
            Self::File(error) => error.code(),
            Self::Randomness(_) => "vault.randomness",
            Self::Io { .. } => "vault.io",
        }
    }
}

/// Makes the error of a failed file operation. `fs_err` names the path in its own text; the cause below is enough.
pub(crate) fn at(action: &'static str, path: &Path) -> impl Fn(io::Error) -> VaultError {
    move |error| VaultError::Io { action, path: path.to_owned(), source: plain(error) }
}

/// The system's own error, without the path that a wrapper put around it.
pub(crate) fn plain(error: io::Error) -> io::Error {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&error);
    while let Some(inner) = cause {
        if let Some(code) = inner.downcast_ref::<io::Error>().and_then(io::Error::raw_os_error) {
            return io::Error::from_raw_os_error(code);
        }
        cause = inner.source();
    }
    error
}

fn quoted(names: &[SecretName]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn there_is(names: &[SecretName]) -> String {
    match names {
        [name] => format!("there is a secret `{name}`"),
        names => format!("there are secrets {}", quoted(names)),
    }
}

fn come(names: &[SecretName]) -> String {
    format!("{} {}", quoted(names), if names.len() == 1 { "comes" } else { "come" })
}
