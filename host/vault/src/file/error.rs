//! What can be wrong with the encrypted file and its key.

use std::path::PathBuf;

use thiserror::Error;

use crate::place::KeySource;

/// Why the encrypted file cannot be used. It is never overwritten then.
#[derive(Debug, Error)]
pub enum FileError {
    /// It is not there although secrets were stored.
    #[error("{} is gone: restore it from a backup", .0.display())]
    Gone(PathBuf),
    /// It is longer than all secrets together can be.
    #[error("{} is longer than any file of secrets: restore it from a backup", .0.display())]
    TooLong(PathBuf),
    /// It is something else.
    #[error("{} is not a file of secrets: restore it from a backup", .0.display())]
    NotSecrets(PathBuf),
    /// A later version of ringfence wrote it.
    #[error("{} has format {found}, this ringfence knows {known}: use the newer ringfence that wrote it", .path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u8,
        /// Ours.
        known: u8,
    },
    /// It ends early, or goes on.
    #[error("{} has {length} bytes instead of {expected}: restore it from a backup", .path.display())]
    Length {
        /// The file.
        path: PathBuf,
        /// How many bytes it has.
        length: usize,
        /// How many it says it has.
        expected: usize,
    },
    /// Another kind of key locks it.
    #[error("{} is locked with {recorded}, not with {given}: give that", .path.display())]
    OtherSource {
        /// The file.
        path: PathBuf,
        /// What locks it.
        recorded: KeySource,
        /// What was given.
        given: KeySource,
    },
    /// The key does not fit.
    #[error("this is not the key of {}: give {source_of_key} with which it was made", .path.display())]
    WrongKey {
        /// The file.
        path: PathBuf,
        /// What was given.
        source_of_key: KeySource,
    },
    /// The key fits, and the content is not what was written.
    #[error("{} was altered since ringfence wrote it: restore it from a backup", .0.display())]
    Tampered(PathBuf),
    /// The key file is not there although the encrypted file is.
    #[error("the key file {} is gone: restore it from a backup; without it the secrets cannot be read", .0.display())]
    KeyFileGone(PathBuf),
    /// The key file can be read by others, so they may have the key.
    #[error(
        "the key file {} is open to other users (mode {mode:o}): run `chmod 600 {}`, and rotate the secrets if somebody \
         may have read it",
        .path.display(), .path.display()
    )]
    KeyFileOpen {
        /// The key file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The key file is no plain file of the right length.
    #[error("the key file {} is not a plain file of {} bytes: restore it from a backup", .0.display(), super::key::LENGTH)]
    KeyFileDamaged(PathBuf),
    /// The credential is no plain file, or others can read it.
    #[error("the credential {} cannot be a key: {reason}", .path.display())]
    Credential {
        /// The file of the credential.
        path: PathBuf,
        /// Why.
        reason: &'static str,
    },
    /// The passphrase or credential is so short that it can be guessed.
    #[error("{0} of fewer than {least} bytes is too easily guessed: choose a longer one", least = super::key::MIN_PASSPHRASE)]
    TooShort(KeySource),
    /// The key cannot be derived: there is too little memory.
    #[error("the key cannot be derived from {0}: {mib} MiB of memory must be free", mib = super::key::ARGON2_KIB >> 10)]
    NoMemory(KeySource),
}

impl FileError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Gone(_) => "vault.file.gone",
            Self::TooLong(_) | Self::NotSecrets(_) => "vault.file.not_secrets",
            Self::Newer { .. } => "vault.file.newer",
            Self::Length { .. } => "vault.file.length",
            Self::OtherSource { .. } => "vault.file.other_source",
            Self::WrongKey { .. } => "vault.file.wrong_key",
            Self::Tampered(_) => "vault.file.tampered",
            Self::KeyFileGone(_) => "vault.key.gone",
            Self::KeyFileOpen { .. } => "vault.key.too_open",
            Self::KeyFileDamaged(_) => "vault.key.damaged",
            Self::Credential { .. } => "vault.key.credential",
            Self::TooShort(_) => "vault.key.too_short",
            Self::NoMemory(_) => "vault.key.no_memory",
        }
    }
}
