//! The operator's grants: a file for each source, `grants/SOURCE.toml` beside the configuration, theirs to edit.
//!
//! - [`file`]: one of them, read;
//! - [`change`]: what `ringfence grant` writes into it;
//! - [`holder`]: to whose package it was given.

mod change;
mod error;
mod file;
mod holder;
#[cfg(test)]
mod tests;

use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use ringfence_core::name::SourceName;
use ringfence_package::Granted;
use ringfence_package::grant::{Capabilities, unused};
use ringfence_package::reading;
use ringfence_store::{StoreError, check_own, make_own, remove_temporary_files, write_atomically};

pub(crate) use change::GrantChange;
pub(crate) use error::GrantFileError;
pub(crate) use file::GrantFile;
pub(crate) use holder::{GrantHolders, Suspended};

/// What narrows and gives nothing, and so stays when all is taken back.
const CEILING: [&str; 2] = ["limits", "rate"];

/// What tells a file from what it was before. The time is that of its last change of any kind, which nobody sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    inode: u64,
    length: u64,
    changed: (i64, i64),
}

/// The folder of grants.
pub(crate) struct Grants {
    folder: PathBuf,
}

impl Grants {
    /// Those in `folder`, which need not be there. Only for whoever owns the state: what a kill left half written is
    /// removed.
    ///
    /// # Errors
    /// When others can write the folder, or it cannot be read.
    pub(crate) fn open(folder: PathBuf) -> Result<Self, StoreError> {
        check_own(&folder)?;
        if folder.exists() {
            remove_temporary_files(&folder)?;
        }
        Ok(Self { folder })
    }

    /// What `source` is granted; nothing where there is no file.
    ///
    /// # Errors
    /// When there is one that cannot be used.
    pub(crate) fn load(&self, source: &SourceName) -> Result<GrantFile, GrantFileError> {
        let path = self.path(source);
        check_own(&self.folder)?;
        check_own(&path)?;
        match reading::text_if_there(&path)? {
            Some(text) => GrantFile::parse(path, text),
            None => Ok(GrantFile { path, ..GrantFile::default() }),
        }
    }

    /// What the file of `source` is now, so that another one is told from it without reading it; `None` where there is none
    /// that can be looked at.
    pub(crate) fn stamp(&self, source: &SourceName) -> Option<Stamp> {
        let found = fs_err::metadata(self.path(source)).ok()?;
        Some(Stamp { inode: found.ino(), length: found.len(), changed: (found.ctime(), found.ctime_nsec()) })
    }

    /// The file of `source`, where there is one.
    pub(crate) fn file(&self, source: &SourceName) -> Option<PathBuf> {
        Some(self.path(source)).filter(|path| path.exists())
    }

    /// Grants more, leaving what stands in the file as it is, comments included.
    ///
    /// # Errors
    /// When the change means nothing or gives what is not `requested`, or the file cannot be written.
    pub(crate) fn extend(
        &self,
        source: &SourceName,
        requested: &Capabilities,
        change: &GrantChange,
    ) -> Result<GrantFile, GrantFileError> {
        let file = self.load(source)?;
        let text = change.written_into(file.document()?, &file.granted, requested)?;
        let extended = GrantFile::parse(file.path.clone(), text).map_err(GrantFileError::of_change)?;
        let before = unused(requested, &file.granted);
        let added: Vec<_> =
            unused(requested, &extended.granted).into_iter().filter(|what| !before.contains(what)).collect();
        if !added.is_empty() {
            return Err(GrantFileError::NotAsked { source_name: source.clone(), unused: added });
        }
        self.write(&extended)?;
        Ok(extended)
    }

    /// Takes back all that `source` was granted. Whether there was anything. Its limits and rate stay: whoever takes
    /// back does not want to give.
    ///
    /// # Errors
    /// When the file is no TOML at all, or cannot be changed.
    pub(crate) fn remove(&self, source: &SourceName) -> Result<bool, GrantFileError> {
        let path = self.path(source);
        let Some(text) = reading::text_if_there(&path)? else { return Ok(false) };
        let file = GrantFile { path, text, granted: Granted::default() };
        let mut document = file.document()?;
        let entries = document.len();
        document.as_table_mut().retain(|key, _| CEILING.contains(&key));
        match document.len() {
            left if left == entries => return Ok(false),
            0 => fs_err::remove_file(&file.path)?,
            _ => self.write(&GrantFile { text: document.to_string(), ..file })?,
        }
        Ok(true)
    }

    /// The file of `source`, whether it is there or not.
    pub(crate) fn path(&self, source: &SourceName) -> PathBuf {
        self.folder.join(format!("{source}.toml"))
    }

    /// At every moment there is the old file or the new one.
    fn write(&self, file: &GrantFile) -> Result<(), GrantFileError> {
        make_own(&self.folder)?;
        Ok(write_atomically(&file.path, &[file.text.as_bytes()])?)
    }
}
