//! The key of the encrypted file of secrets, where it does not lie beside that file.

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use ringfence_core::Secret;
use ringfence_vault::{Choice, FileKey, KeySource, ValueError, Vault, VaultError, read_value};
use thiserror::Error;

use crate::config::{PASSPHRASE_VARIABLE, credential_file, passphrase_file};

/// Asks a person for the passphrase; `None` where there is none to ask.
pub(crate) type AskPassphrase = fn() -> io::Result<Option<Secret>>;

/// Why the key is of no use.
#[derive(Debug, Error)]
pub enum UnlockError {
    /// The file of the passphrase cannot be read.
    #[error("the file that {PASSPHRASE_VARIABLE} names cannot be read: {0}")]
    Read(#[from] io::Error),
    /// Others can read it.
    #[error("{} holds the passphrase and is open to other users: run `chmod 600 {}`", .0.display(), .0.display())]
    Open(PathBuf),
    /// There is no passphrase in it.
    #[error("the passphrase in the file that {PASSPHRASE_VARIABLE} names: {0}")]
    Value(#[from] ValueError),
    /// The key does not fit.
    #[error(transparent)]
    Vault(#[from] VaultError),
}

/// Gives `vault` the key of its file, where that comes from elsewhere and is there. Without it the file stays locked,
/// and whoever needs a secret is told so.
///
/// # Errors
/// When the key is there and does not fit.
pub(crate) fn unlock(vault: &Vault, ask: Option<AskPassphrase>) -> Result<(), UnlockError> {
    let key = match vault.location().and_then(|location| location.key) {
        Some(KeySource::Credential) => credential_file().map(FileKey::Credential),
        Some(KeySource::Passphrase) => match given_passphrase()? {
            Some(passphrase) => Some(FileKey::Passphrase(passphrase)),
            None => ask.map_or(Ok(None), |ask| ask())?.map(FileKey::Passphrase),
        },
        Some(KeySource::KeyFile) | None => None,
    };
    key.map_or(Ok(()), |key| Ok(vault.choose(Choice::File(key))?))
}

/// The passphrase in the file that the environment names. `/dev/fd/3` is the descriptor 3, which can be read once.
///
/// # Errors
/// When there should be one, and it cannot be read.
pub(crate) fn given_passphrase() -> Result<Option<Secret>, UnlockError> {
    passphrase_file().as_deref().map(read).transpose()
}

fn read(path: &Path) -> Result<Secret, UnlockError> {
    let file = fs_err::File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_file() && metadata.permissions().mode() & 0o077 != 0 {
        return Err(UnlockError::Open(path.to_owned()));
    }
    Ok(read_value(file)?)
}
