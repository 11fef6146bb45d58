//! The files and folders that arguments name. One that cannot be used is a slip in the use of the command, and is told
//! before anything is done.

use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

use ringfence_package::reading;

/// Why what an argument names cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum FileError {
    /// There is none.
    #[error("there is no `{}`: check its name, and in which folder you are", .0.display())]
    Missing(PathBuf),
    /// A folder, where a file is meant.
    #[error("`{}` is a folder: name a file", .0.display())]
    IsFolder(PathBuf),
    /// A file, where a folder is meant.
    #[error("`{}` is not a folder: name one", .0.display())]
    NoFolder(PathBuf),
    /// It cannot be opened; the cause names it.
    #[error("{0}: name a file that you can read")]
    Unreadable(io::Error),
    /// It can, and is none of those that are read here; the cause says what to do.
    #[error("{0}")]
    Unusable(io::Error),
}

impl From<io::Error> for FileError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => Self::Unusable(error),
            _ => Self::Unreadable(error),
        }
    }
}

/// Checks that a file is there and can be read. A pipe or a device is none.
pub(super) fn file(path: &Path) -> Result<(), FileError> {
    not_a_folder(path)?;
    drop(reading::open(path)?);
    Ok(())
}

/// Checks that a folder is there.
pub(super) fn folder(path: &Path) -> Result<(), FileError> {
    if metadata(path)?.is_dir() { Ok(()) } else { Err(FileError::NoFolder(path.to_owned())) }
}

/// Checks that a file can be written at `path`, whose folder is there.
pub(super) fn target(path: &Path) -> Result<(), FileError> {
    match path.parent() {
        Some(above) if !above.as_os_str().is_empty() => folder(above)?,
        _ => {}
    }
    if path.is_dir() { Err(FileError::IsFolder(path.to_owned())) } else { Ok(()) }
}

/// The text in a file.
pub(super) fn text(path: &Path) -> Result<String, FileError> {
    not_a_folder(path)?;
    Ok(reading::text(path)?)
}

/// The text in a file, or of a pipe such as a shell makes for `<(COMMAND)`.
pub(super) fn text_or_pipe(path: &Path) -> Result<String, FileError> {
    not_a_folder(path)?;
    Ok(reading::text_or_pipe(path)?)
}

/// Checks that something is there that is no folder: a file, or a pipe, which cannot be opened twice.
pub(super) fn not_a_folder(path: &Path) -> Result<(), FileError> {
    if metadata(path)?.is_dir() { Err(FileError::IsFolder(path.to_owned())) } else { Ok(()) }
}

fn metadata(path: &Path) -> Result<Metadata, FileError> {
    fs_err::metadata(path).map_err(|error| match error.kind() {
        // The second: what should be the folder above it is a file.
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => FileError::Missing(path.to_owned()),
        _ => error.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_used_is_told_as_what_it_is() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        fs_err::write(at("file"), "text").unwrap();
        std::os::unix::fs::symlink("loop", at("loop")).unwrap();
        let said = |result: Result<(), FileError>| result.unwrap_err().to_string();
        assert!(file(&at("file")).is_ok() && folder(home.path()).is_ok() && target(&at("new")).is_ok());
        for name in ["none", "file/below"] {
            assert!(said(file(&at(name))).contains("there is no `"), "{name}");
            assert!(said(folder(&at(name))).contains("there is no `"), "{name}");
        }
        assert!(said(target(&at("none/new"))).contains("none`: check its name"));
        assert!(said(target(&at("file/new"))).contains("is not a folder"));
        assert!(said(target(home.path())).contains("is a folder: name a file"));
        assert!(said(file(home.path())).contains("is a folder: name a file"));
        assert!(said(folder(&at("file"))).contains("is not a folder"));
        assert!(said(file(&at("loop"))).ends_with("name a file that you can read"));
        assert!(said(file(Path::new("/dev/zero"))).contains("/dev/zero is not a file"));
        assert_eq!(text(&at("file")).unwrap(), "text");
    }
}
