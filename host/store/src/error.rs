//! What can be wrong with the stored state.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// What to do about a database, or a host key, that cannot be used any more.
const BEGIN_ANEW: &str = "restore it from a backup; to begin anew, move `state.db*`, `audit` and `tools` out of that \
    folder, which keeps your secrets, then trust your publishers and install the tools again";

/// Why the state cannot be used. Each text says what is wrong and what to do about it.
#[derive(Debug, Error)]
pub enum StoreError {
    /// Another process holds the lock.
    #[error("another process{} owns the state folder {}: use that one, or stop it first", process(*.pid), .folder.display())]
    Busy {
        /// The folder.
        folder: PathBuf,
        /// The owner, where the lock file names it.
        pid: Option<u32>,
    },
    /// Other users of the machine can read or write it.
    #[error("{} is open to other users (mode {mode:o}): run `chmod {wanted} {}`", .path.display(), .path.display())]
    TooOpen {
        /// The file or folder.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
        /// What they should be, as `chmod` takes it.
        wanted: &'static str,
    },
    /// Another user of the machine owns it, and so can change it.
    #[error(
        "{} belongs to user {owner}, and ringfence runs as user {user}: run it as that user, or give the file away with \
         `chown {user} {}`", .path.display(), .path.display()
    )]
    ForeignOwner {
        /// The file or folder.
        path: PathBuf,
        /// The number of its owner.
        owner: u32,
        /// The number of the user of this process.
        user: u32,
    },
    /// Something that is not a folder or file of ours stands in its place.
    #[error("{} is not a {wanted}: move it away", .path.display())]
    WrongKind {
        /// Where.
        path: PathBuf,
        /// What should be there.
        wanted: &'static str,
    },
    /// The host key has the wrong length.
    #[error(
        "the host key {} has {length} bytes instead of 32: restore it from a backup; a new one makes the audit log unverifiable",
        .path.display()
    )]
    HostKeyLength {
        /// The key file.
        path: PathBuf,
        /// Its length.
        length: u64,
    },
    /// The host key is not there, although the folder is not new.
    #[error(
        "the host key {} is gone, although audit log or installed tools are beside it, and nothing else can tell whether \
         they are genuine: {BEGIN_ANEW}", .path.display()
    )]
    HostKeyLost {
        /// Where it should be.
        path: PathBuf,
    },
    /// A later version of ringfence wrote the database.
    #[error(
        "{} has schema version {found}, this ringfence knows up to {known}: use the newer ringfence that wrote it",
        .path.display()
    )]
    NewerSchema {
        /// The database.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// Ours.
        known: u32,
    },
    /// The database is not one, or its contents make no sense.
    #[error("the database {} is damaged: {BEGIN_ANEW}", .path.display())]
    Damaged {
        /// The database.
        path: PathBuf,
        /// What SQLite says.
        source: rusqlite::Error,
    },
    /// The database is not there, although the folder is not new.
    #[error(
        "the database {} {found}, although audit log or installed tools are beside it: {BEGIN_ANEW}", .path.display()
    )]
    DatabaseLost {
        /// Where it should be.
        path: PathBuf,
        /// What is there instead, as `is gone`.
        found: &'static str,
    },
    /// SQLite failed for another reason, such as a full disk.
    #[error("the database {} cannot be used: check that its disk has room and its files can be written", .path.display())]
    Database {
        /// The database.
        path: PathBuf,
        /// What SQLite says.
        source: rusqlite::Error,
    },
    /// The system's randomness failed, so no key could be made.
    #[error("no host key can be made: the system gives no randomness")]
    Randomness(#[source] getrandom::Error),
    /// A file operation failed; the cause names the file.
    #[error("the state folder cannot be used: {0}")]
    Io(#[from] io::Error),
}

impl StoreError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Busy { .. } => "state.busy",
            Self::TooOpen { .. } => "state.too_open",
            Self::ForeignOwner { .. } => "state.foreign_owner",
            Self::WrongKind { .. } => "state.wrong_kind",
            Self::HostKeyLength { .. } | Self::HostKeyLost { .. } => "state.host_key",
            Self::NewerSchema { .. } => "state.newer",
            Self::Damaged { .. } | Self::DatabaseLost { .. } => "state.damaged",
            Self::Database { .. } => "state.database",
            Self::Randomness(_) => "state.randomness",
            Self::Io(_) => "state.io",
        }
    }
}

fn process(pid: Option<u32>) -> String {
    pid.map(|pid| format!(" (number {pid})")).unwrap_or_default()
}
