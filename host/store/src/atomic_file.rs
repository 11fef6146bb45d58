//! Files that are either there in full or not at all.

use std::fs::Permissions;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// How files begin that are being written. One that is there when the folder is opened is left over from a kill.
pub(crate) const TEMPORARY_PREFIX: &str = ".tmp-";

/// Writes `parts`, one behind the other, to `path`, readable by the owner only. When it returns, the file is on the
/// disk under its name; when the process dies before, what stood there stands there still.
///
/// # Errors
/// When a file operation fails. What stood at `path` is then unchanged.
pub fn write_atomically(path: &Path, parts: &[&[u8]]) -> io::Result<()> {
    let folder = path.parent().ok_or_else(|| io::Error::other(format!("{} is not in a folder", path.display())))?;
    let named = |error: io::Error| io::Error::new(error.kind(), format!("cannot write {}: {error}", path.display()));
    let mut file = tempfile::Builder::new().prefix(TEMPORARY_PREFIX).tempfile_in(folder).map_err(named)?;
    file.as_file().set_permissions(Permissions::from_mode(0o600)).map_err(named)?;
    for part in parts {
        file.write_all(part).map_err(named)?;
    }
    file.as_file().sync_all().map_err(named)?;
    file.persist(path).map_err(|failed| named(failed.error))?;
    sync_folder(folder)
}

/// Makes the names in `folder` durable: a rename is not on the disk before its folder is.
fn sync_folder(folder: &Path) -> io::Result<()> {
    fs_err::File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_in_full_and_leaves_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        write_atomically(&path, &[b"old"]).unwrap();
        write_atomically(&path, &[b"ne", b"w"]).unwrap();
        assert_eq!(fs_err::read(&path).unwrap(), b"new");
        assert_eq!(fs_err::read_dir(folder.path()).unwrap().count(), 1);
        assert_eq!(fs_err::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
