//! The durable state of one ringfence host.
//!
//! Everything lives in one [`StateFolder`], which one process owns at a time. [`Store`] opens it: the lock, the
//! [`HostKey`], and the SQLite [`Database`] with a file for each kind of row. The record of calls stands apart, in
//! [`audit`]: it is written too often for SQL and has to be provable.
//!
//! This crate stores what it is given. It decides nothing: which key may sign what, which version may replace which,
//! is `ringfence-package`'s business.

mod atomic_file;
pub mod audit;
mod database;
mod digest;
mod error;
mod folder;
mod grant_holders;
mod host_key;
mod installed;
mod pins;
mod rate;
mod rotations;
mod time;
mod tool_state;
mod trusted_keys;

pub use atomic_file::write_atomically;
pub use audit::{AuditFile, Durability};
pub use database::Database;
pub use digest::{Digest, DigestError, from_hex, to_hex};
pub use error::StoreError;
pub use folder::{SOCKET, StateFolder, check_own, make_own, remove_temporary_files};
pub use grant_holders::GrantHolder;
pub use host_key::HostKey;
pub use installed::{InstalledRow, Signed};
pub use pins::Pin;
pub use rotations::RotationRow;
pub use time::unix_milliseconds;
pub use tool_state::StateRow;
pub use trusted_keys::{Revocation, TrustedKeyRow};

use std::path::Path;
use std::sync::Arc;

use ringfence_core::tool_state::ToolState;

/// The state of one host, opened. Whoever holds it is the folder's only owner.
pub struct Store {
    folder: StateFolder,
    key: HostKey,
    database: Arc<Database>,
}

impl Store {
    /// Opens the state folder at `path`, and makes what is missing in it; but no database where one has been: what the new
    /// one does not speak of would be removed as left over. And no host key: what the old one vouched for would be called
    /// forged.
    ///
    /// # Errors
    /// [`StoreError::Busy`] when another process owns it; else what is wrong with the folder, the key or the database.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let folder = StateFolder::open(path)?;
        let (used, path) = (folder.is_used()?, folder.database());
        let key = if used { HostKey::load(&folder.host_key())? } else { HostKey::load_or_create(&folder.host_key())? };
        let database = if used { Database::reopen(&path)? } else { Database::open(&path)? };
        Ok(Self { folder, key, database: Arc::new(database) })
    }

    /// Where things are.
    pub fn folder(&self) -> &StateFolder {
        &self.folder
    }

    /// The key that authenticates what this host wrote.
    pub fn key(&self) -> &HostKey {
        &self.key
    }

    /// The rows.
    pub fn database(&self) -> &Database {
        &self.database
    }

    /// What tools keep. It lasts longer than the ownership of the folder where somebody holds it longer.
    pub fn tool_state(&self) -> Arc<dyn ToolState> {
        self.database.clone()
    }
}

#[cfg(test)]
mod tests;
