//! `ringfence sign`: signs a component.

use std::path::{Path, PathBuf};

use clap::Args;
use ringfence_package::{Component, PackageFile, SecretKey, SigningError, signature};
use serde_json::json;

use super::exit::UsageError;
use super::files::{self, FileError};
use super::session::{Session, hold_secrets, password};

/// Sign a component that `ringfence build` or `ringfence pack` made.
///
/// The signature goes beside it.
#[derive(Args)]
pub(super) struct Sign {
    /// The component.
    file: PathBuf,
    /// The secret key, as `ringfence key generate` or minisign made it.
    #[arg(long, value_name = "FILE.key")]
    key: PathBuf,
}

impl Sign {
    pub(super) fn run(self, session: &Session) -> anyhow::Result<()> {
        hold_secrets()?;
        files::file(&self.file)?;
        let component = PackageFile::read_component(&self.file)?;
        let manifest = Component::read(&component)?.manifest()?.ok_or(ringfence_package::ComponentError::NoManifest)?;
        let key = secret_key(&self.key)?;
        let file_name = self.file.file_name().and_then(|name| name.to_str());
        let file_name = file_name.ok_or_else(|| UsageError("the file's name is not UTF-8".into()))?;
        let text = key.sign(&component, file_name, &manifest.package.version.to_string())?;
        let beside = format!("{}.{}", self.file.display(), signature::EXTENSION);
        fs_err::write(&beside, text)?;
        session.answer(&json!({"signature": beside}), |_| {
            format!("Signed: {beside}.\nNext: give {file_name} and its signature to operators, who run `ringfence install {file_name}`.")
        })
    }
}

/// The key in the file at `path`. Where it is encrypted, its password is asked for.
pub(super) fn secret_key(path: &Path) -> anyhow::Result<SecretKey> {
    files::not_a_folder(path)?;
    match SecretKey::read(path, None) {
        Err(SigningError::PasswordNeeded(_)) => Ok(SecretKey::read(path, Some(&password("Password of the key: ")?))?),
        Err(SigningError::Io(error)) => Err(FileError::from(error).into()),
        other => Ok(other?),
    }
}
