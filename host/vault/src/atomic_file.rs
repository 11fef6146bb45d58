//! Files that are either there in full or not at all.

use std::fs::Permissions;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::error::{VaultError, at};

/// How files begin that are being written. One that is there when the vault is opened is left over from a kill.
const TEMPORARY_PREFIX: &str = ".tmp-";

/// Replaces the file `name` in `folder`, readable by the owner only. When it returns, the new file is on the disk
/// under its name; when it fails or the process dies, what stood there stands there still.
pub(crate) fn replace(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), VaultError> {
    let path = folder.join(name);
    let failed = at("write", &path);
    let mut file = tempfile::Builder::new().prefix(TEMPORARY_PREFIX).tempfile_in(folder).map_err(&failed)?;
    file.as_file().set_permissions(Permissions::from_mode(0o600)).map_err(&failed)?;
    file.write_all(bytes).map_err(&failed)?;
    file.as_file().sync_all().map_err(&failed)?;
    file.persist(&path).map_err(|error| failed(error.error))?;
    // A rename is not on the disk before its folder is.
    fs_err::File::open(folder).and_then(|folder| folder.sync_all()).map_err(at("write", folder))
}

/// Removes what a kill left half written. Nobody else writes here: one process owns the state.
pub(crate) fn remove_left_over(folder: &Path) -> Result<(), VaultError> {
    for entry in fs_err::read_dir(folder).map_err(at("read", folder))? {
        let entry = entry.map_err(at("read", folder))?;
        if entry.file_name().as_encoded_bytes().starts_with(TEMPORARY_PREFIX.as_bytes()) {
            fs_err::remove_file(entry.path()).map_err(at("remove", &entry.path()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_in_full_and_leaves_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        replace(folder.path(), "file", b"old").unwrap();
        replace(folder.path(), "file", b"new").unwrap();
        assert_eq!(fs_err::read(folder.path().join("file")).unwrap(), b"new");
        assert_eq!(fs_err::read_dir(folder.path()).unwrap().count(), 1);
        assert_eq!(fs_err::metadata(folder.path().join("file")).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn half_written_files_are_removed_and_others_are_not() {
        let folder = tempfile::tempdir().unwrap();
        fs_err::write(folder.path().join(".tmp-abc"), "x").unwrap();
        fs_err::write(folder.path().join("other"), "x").unwrap();
        remove_left_over(folder.path()).unwrap();
        assert_eq!(fs_err::read_dir(folder.path()).unwrap().count(), 1);
    }
}
