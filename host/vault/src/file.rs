//! The encrypted file: all secrets in one, written anew with each change.
//!
//! Nothing decrypted is kept: every use reads the file, opens it and wipes it. [`sealed`] is its form on the disk,
//! [`entries`] the form of what is inside, [`key`] where its key comes from.

mod entries;
mod error;
pub(crate) mod key;
mod sealed;

use std::io;
use std::path::{Path, PathBuf};

use ringfence_core::Secret;
use zeroize::Zeroizing;

use self::entries::Entries;
pub use self::error::FileError;
use self::key::MasterKey;
use crate::atomic_file;
use crate::backend::Backend;
use crate::error::{VaultError, at};
use crate::name::SecretName;
use crate::place::FileKey;
use crate::value::read_bounded;

/// Its name in the vault's folder.
pub(crate) const SECRETS_FILE: &str = "secrets.sealed";

/// The longest file: [`MAX_SECRETS`](crate::MAX_SECRETS) secrets of [`MAX_VALUE`](crate::MAX_VALUE) bytes, and 1 MiB for
/// all the rest.
const MAX_FILE: u64 = (crate::MAX_SECRETS * crate::MAX_VALUE + (1 << 20)) as u64;

/// The encrypted file, opened.
pub(crate) struct SecretsFile {
    folder: PathBuf,
    key: MasterKey,
}

impl SecretsFile {
    /// Opens the file in `folder`, or makes one without secrets where there is none.
    pub(crate) fn create_or_open(folder: &Path, key: &FileKey) -> Result<Self, VaultError> {
        if exists(folder)? {
            return Self::open(folder, key);
        }
        let file = Self { folder: folder.to_owned(), key: MasterKey::create(folder, key)? };
        file.write(&Entries::default())?;
        Ok(file)
    }

    /// Opens the file in `folder`. One that is gone, damaged or locked with another key is an error and stays as it is.
    pub(crate) fn open(folder: &Path, key: &FileKey) -> Result<Self, VaultError> {
        let bytes = read(folder)?;
        let head = sealed::head(&folder.join(SECRETS_FILE), &bytes)?;
        let file = Self { folder: folder.to_owned(), key: MasterKey::open(folder, key, head)? };
        file.unseal(bytes)?;
        Ok(file)
    }

    fn read(&self) -> Result<Entries, VaultError> {
        self.unseal(read(&self.folder)?)
    }

    fn unseal(&self, bytes: Zeroizing<Vec<u8>>) -> Result<Entries, VaultError> {
        let path = self.folder.join(SECRETS_FILE);
        let plain = sealed::open(&path, bytes, &self.key)?;
        Ok(Entries::decode(&plain).ok_or(FileError::Tampered(path))?)
    }

    fn write(&self, entries: &Entries) -> Result<(), VaultError> {
        let bytes = sealed::seal(entries.encode(sealed::TAG), &self.key)?;
        atomic_file::replace(&self.folder, SECRETS_FILE, &bytes)
    }
}

impl Backend for SecretsFile {
    fn get(&self, names: &[&SecretName]) -> Result<Vec<Option<Secret>>, VaultError> {
        let mut entries = self.read()?;
        Ok(names.iter().map(|name| entries.take(name)).collect())
    }

    fn put(&self, secrets: &[(&SecretName, &Secret)]) -> Result<(), VaultError> {
        let mut entries = self.read()?;
        for (name, value) in secrets {
            entries.insert((*name).clone(), (*value).clone());
        }
        self.write(&entries)
    }

    fn remove(&self, names: &[&SecretName]) -> Result<(), VaultError> {
        let mut entries = self.read()?;
        let removed = names.iter().filter(|name| entries.take(name).is_some()).count();
        if removed == 0 { Ok(()) } else { self.write(&entries) }
    }

    fn names(&self) -> Result<Option<Vec<SecretName>>, VaultError> {
        Ok(Some(self.read()?.into_names()))
    }
}

/// Whether there is such a file in `folder`.
pub(crate) fn exists(folder: &Path) -> Result<bool, VaultError> {
    let path = folder.join(SECRETS_FILE);
    path.try_exists().map_err(at("read", &path))
}

/// The bytes of the file; they are decrypted where they lie, so they are wiped.
fn read(folder: &Path) -> Result<Zeroizing<Vec<u8>>, VaultError> {
    let path = folder.join(SECRETS_FILE);
    let file = match fs_err::File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(FileError::Gone(path).into()),
        Err(error) => return Err(at("read", &path)(error)),
    };
    let length = file.metadata().map_err(at("read", &path))?.len();
    if length > MAX_FILE {
        return Err(FileError::TooLong(path).into());
    }
    let length = usize::try_from(length).map_err(|_| FileError::TooLong(path.clone()))?;
    // A file that grows meanwhile is not ours: we are the only writer and replace it whole.
    Ok(read_bounded(file, length).map_err(at("read", &path))?.ok_or(FileError::TooLong(path))?)
}

#[cfg(test)]
mod tests;
