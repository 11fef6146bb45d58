//! A folder of packages, for sites without a network: the files, their signatures, and an index.

use std::fs::Permissions;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use fs_err as fs;
use ringfence_package::{Manifest, PackageFile, reading, signature};
use ringfence_store::Digest;

use crate::error::DistributionError;
use crate::index::{Entry, FILE, Index, MAX_BYTES};

/// Held by whoever changes the index, so that two publications at once both stand in it.
const LOCK: &str = ".index.lock";

/// The text of the index in `folder`.
pub(crate) fn read_index(folder: &Path) -> Result<Vec<u8>, DistributionError> {
    let mut bytes = Vec::new();
    reading::open(&folder.join(FILE))?.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > MAX_BYTES {
        return Err(DistributionError::TooLarge { what: folder.display().to_string(), most: MAX_BYTES as u64 });
    }
    Ok(bytes)
}

/// Puts a package into `folder`, which is made where it is not there, and says where it is then. The index comes last:
/// what stands in it is there.
pub(crate) fn publish(
    folder: &Path,
    package: &PackageFile,
    signature: &[u8],
    manifest: &Manifest,
) -> Result<PathBuf, DistributionError> {
    fs::create_dir_all(folder)?;
    let lock = fs::File::create(folder.join(LOCK))?;
    lock.file().lock()?;
    let digest = Digest::of(&package.component);
    let entry = Entry::new(manifest, &digest);
    let mut index = present_index(folder)?;
    if let Some(other) = index.find(&entry.name, Some(&entry.version)).filter(|other| other.sha256 != entry.sha256) {
        let what = format!("`{}` {} in {}", other.name, other.version, folder.display());
        return Err(DistributionError::Published { what });
    }
    let path = folder.join(&entry.file);
    write(folder, &entry.file, &package.component)?;
    write_signature(folder, &entry.file, signature)?;
    index.put(entry);
    let text = serde_json::to_vec_pretty(&index).map_err(std::io::Error::other)?;
    write(folder, FILE, &text)?;
    Ok(path)
}

/// Writes the signature of `file` beside it, in the place of one of any kind: of two, nobody could tell which one counts.
fn write_signature(folder: &Path, file: &str, bytes: &[u8]) -> std::io::Result<()> {
    let written = signature::extension_of(bytes);
    write(folder, &format!("{file}.{written}"), bytes)?;
    for other in signature::EXTENSIONS.into_iter().filter(|other| *other != written) {
        match fs::remove_file(folder.join(format!("{file}.{other}"))) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Writes a file as a whole or not at all. Others may read it: what is published is for them.
fn write(folder: &Path, name: &str, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = tempfile::Builder::new().permissions(Permissions::from_mode(0o644)).tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(folder.join(name)).map(drop).map_err(|failed| failed.error)
}

fn present_index(folder: &Path) -> Result<Index, DistributionError> {
    let wrong = |problem| DistributionError::Index { index: folder.display().to_string(), problem };
    match read_index(folder) {
        Ok(bytes) => Index::parse(&bytes).map_err(wrong),
        Err(DistributionError::Io(error)) if error.kind() == std::io::ErrorKind::NotFound => Ok(Index::default()),
        Err(error) => Err(error),
    }
}
