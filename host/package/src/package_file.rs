//! Reading a package and the signature beside it.

use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

use crate::component::{self, ComponentError};
use crate::error::PackageError;
use crate::reading;
use crate::signature::{self, SignatureError};

/// A package as it came. Nothing about it was checked but its size.
#[derive(Clone)]
pub struct PackageFile {
    /// The component.
    pub component: Vec<u8>,
    /// The signature file, where there is one.
    pub signature: Option<Vec<u8>>,
}

impl PackageFile {
    /// Reads the package at `path`, and the signature from the file beside it whose name ends in `.minisig` besides.
    ///
    /// # Errors
    /// When one of them is too large, or cannot be read. A signature that is not there is no error yet.
    pub fn read(path: &Path) -> Result<Self, PackageError> {
        let component = read_at_most(path, component::MAX_BYTES)?;
        if component.len() > component::MAX_BYTES {
            return Err(ComponentError::TooLarge { size: component.len() }.into());
        }
        let mut beside = path.as_os_str().to_owned();
        beside.push(".");
        beside.push(signature::EXTENSION);
        let signature = match read_at_most(Path::new(&beside), signature::MAX_BYTES) {
            Ok(bytes) if bytes.len() > signature::MAX_BYTES => return Err(SignatureError::TooLarge(bytes.len()).into()),
            Ok(bytes) => Some(bytes),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error.into()),
        };
        Ok(Self { component, signature })
    }
}

/// Reads a file, but only one byte more than `limit`, which tells that it is too large.
pub(crate) fn read_at_most(path: &Path, limit: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reading::open(path)?.take(limit as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
