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
    /// Reads the package at `path`, and the signature from the file beside it whose name ends in `.minisig` or
    /// `.sigstore.json` besides.
    ///
    /// # Errors
    /// When one of them is too large, or cannot be read, or both signatures are there. One that is not there is no error yet.
    pub fn read(path: &Path) -> Result<Self, PackageError> {
        let component = Self::read_component(path)?;
        match signature::EXTENSIONS.map(|extension| beside(path, extension)) {
            [Err(error), _] | [_, Err(error)] => Err(error),
            // Each could be somebody else's, and the package would be theirs.
            [Ok(Some(_)), Ok(Some(_))] => Err(SignatureError::Two.into()),
            [Ok(one), Ok(other)] => Ok(Self { component, signature: one.or(other) }),
        }
    }

    /// Reads the component at `path` alone.
    ///
    /// # Errors
    /// When it is too large, or cannot be read.
    pub fn read_component(path: &Path) -> Result<Vec<u8>, PackageError> {
        let component = read_at_most(path, component::MAX_BYTES)?;
        match component.len() {
            size if size > component::MAX_BYTES => Err(ComponentError::TooLarge { size }.into()),
            _ => Ok(component),
        }
    }
}

/// The signature beside the package at `path`, where there is one.
fn beside(path: &Path, extension: &str) -> Result<Option<Vec<u8>>, PackageError> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".");
    beside.push(extension);
    match read_at_most(Path::new(&beside), signature::MAX_BYTES) {
        Ok(bytes) => Ok(signature::check_size(&bytes).map(|()| Some(bytes))?),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Reads a file, but only one byte more than `limit`, which tells that it is too large.
pub(crate) fn read_at_most(path: &Path, limit: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reading::open(path)?.take(limit as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
