//! What the tests share: guests built once, hosts in throw-away folders, the real binary.

pub mod authority;
pub mod binary;
pub mod figures;
pub mod guests;
pub mod host;
pub mod leaves;
pub mod packages;
pub mod registry;
pub mod server;
pub mod terminal;

use std::path::{Path, PathBuf};

/// The root of the repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}
