//! Where secrets live: OS keyring, kernel keyring, encrypted file.
//!
//! [`Vault`] is the way in. A value is a [`Secret`](ringfence_core::Secret) from the first line that reads it
//! ([`read_value`], [`Import`]) to the last; no `Debug` form, error or file of this crate shows one, except encrypted.
//! Buffers that held one are wiped; those inside the libraries that talk to a keyring are beyond our reach.
//!
//! What is absent: a fallback. The place is chosen once, and a place that does not answer is an error. Nor does this
//! crate read the environment or ask a person.

mod atomic_file;
mod backend;
mod choosing;
mod deadline;
mod error;
mod file;
mod import;
mod keyring;
mod name;
mod place;
mod record;
mod session;
mod signing;
mod value;
mod vault;

pub use error::VaultError;
pub use file::FileError;
pub use import::{BadLine, Import, ImportError, LineFault, Renamed};
pub use name::{MAX_SECRET_NAME, SecretName, SecretNameError};
pub use place::{Choice, FileKey, KeySource, Location, Place};
pub use signing::{Algorithm, Unsuitable, sign};
pub use value::{MAX_VALUE, ValueError, read_value};
pub use vault::{Held, Imported, Listed, Vault};

/// The most secrets of one vault.
pub const MAX_SECRETS: usize = 1024;
