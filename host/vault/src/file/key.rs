//! Where the key of the encrypted file comes from.

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use argon2::{Algorithm, Argon2, Block, Params, Version};
use fs_err::os::unix::fs::OpenOptionsExt as _;
use hmac::{Hmac, KeyInit as _, Mac as _};
use rustix::fs::OFlags;
use sha2::Sha256;
use zeroize::{Zeroize as _, Zeroizing};

use super::SECRETS_FILE;
use super::error::FileError;
use super::sealed::{Head, SALT};
use crate::atomic_file;
use crate::error::{VaultError, at};
use crate::place::{FileKey, KeySource};
use crate::value::read_bounded;

/// The name of the key file in the vault's folder.
pub(crate) const KEY_FILE: &str = "secrets.key";

/// The length of every key, in bytes.
pub(super) const LENGTH: usize = 32;

/// The shortest passphrase and credential, in bytes: what NIST SP 800-63B asks of secrets that people choose.
pub(super) const MIN_PASSPHRASE: usize = 8;

/// The longest credential, in bytes.
const MAX_CREDENTIAL: usize = 4 << 10;

/// Memory, passes and lanes of Argon2id: the second recommended option of RFC 9106, section 4. They belong to the
/// file's format; others would be another format.
pub(super) const ARGON2_KIB: u32 = 64 << 10;
const ARGON2_PASSES: u32 = 3;
const ARGON2_LANES: u32 = 4;

/// A key with what it was derived from. The keys that are used are derived from it, one for each purpose.
pub(super) struct MasterKey {
    pub(super) source: KeySource,
    pub(super) salt: [u8; SALT],
    key: Zeroizing<[u8; LENGTH]>,
}

impl MasterKey {
    /// The key for a new encrypted file. A key file that is there already is used, so that none is ever lost.
    pub(super) fn create(folder: &Path, key: &FileKey) -> Result<Self, VaultError> {
        let path = folder.join(KEY_FILE);
        if matches!(key, FileKey::KeyFile) && !path.try_exists().map_err(at("read", &path))? {
            let mut bytes = Zeroizing::new([0; LENGTH]);
            getrandom::fill(bytes.as_mut_slice()).map_err(VaultError::Randomness)?;
            atomic_file::replace(folder, KEY_FILE, bytes.as_slice())?;
        }
        let mut salt = [0; SALT];
        getrandom::fill(&mut salt).map_err(VaultError::Randomness)?;
        Self::obtain(folder, key, salt)
    }

    /// The key for the file that begins with `head`.
    pub(super) fn open(folder: &Path, key: &FileKey, head: Head) -> Result<Self, VaultError> {
        let (recorded, given) = (head.source, key.source());
        if recorded != given {
            return Err(FileError::OtherSource { path: folder.join(SECRETS_FILE), recorded, given }.into());
        }
        Self::obtain(folder, key, head.salt)
    }

    /// The key for `purpose`, with HMAC-SHA-256 as the key derivation.
    pub(super) fn derived(&self, purpose: &str, context: &[u8]) -> Zeroizing<[u8; LENGTH]> {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.key.as_slice()).expect("HMAC takes keys of any length");
        mac.update(purpose.as_bytes());
        mac.update(context);
        let mut output = mac.finalize().into_bytes();
        let mut key = Zeroizing::new([0; LENGTH]);
        key.copy_from_slice(&output);
        output.as_mut_slice().zeroize();
        key
    }

    fn obtain(folder: &Path, key: &FileKey, salt: [u8; SALT]) -> Result<Self, VaultError> {
        let source = key.source();
        let key = match key {
            FileKey::KeyFile => read_key_file(&folder.join(KEY_FILE))?,
            FileKey::Credential(path) => stretched(source, &read_credential(path)?, &salt)?,
            FileKey::Passphrase(passphrase) => stretched(source, passphrase.expose().as_bytes(), &salt)?,
        };
        Ok(Self { source, salt, key })
    }
}

/// Reads the key file, which only its owner may be able to read.
fn read_key_file(path: &Path) -> Result<Zeroizing<[u8; LENGTH]>, VaultError> {
    let file = match open_plain(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(FileError::KeyFileGone(path.into()).into()),
        Err(error) => return Err(at("read", path)(error)),
    };
    let metadata = file.metadata().map_err(at("read", path))?;
    let mode = metadata.permissions().mode() & 0o777;
    if !metadata.is_file() {
        return Err(FileError::KeyFileDamaged(path.into()).into());
    }
    if mode & 0o077 != 0 {
        return Err(FileError::KeyFileOpen { path: path.into(), mode }.into());
    }
    let bytes = read_bounded(file, LENGTH).map_err(at("read", path))?;
    let bytes = bytes.filter(|bytes| bytes.len() == LENGTH).ok_or_else(|| FileError::KeyFileDamaged(path.into()))?;
    let mut key = Zeroizing::new([0; LENGTH]);
    key.copy_from_slice(&bytes);
    Ok(key)
}

/// Reads a credential as systemd hands it out. The group may be able to read it: systemd's access lists show there.
fn read_credential(path: &Path) -> Result<Zeroizing<Vec<u8>>, VaultError> {
    let refused = |reason| FileError::Credential { path: path.into(), reason };
    let file = open_plain(path).map_err(at("read", path))?;
    let metadata = file.metadata().map_err(at("read", path))?;
    if !metadata.is_file() {
        return Err(refused("it is no plain file; give the path of a file in $CREDENTIALS_DIRECTORY").into());
    }
    if metadata.permissions().mode() & 0o007 != 0 {
        return Err(refused("every user can read it; give one that systemd made, or run `chmod o=` on it").into());
    }
    let bytes = read_bounded(file, MAX_CREDENTIAL).map_err(at("read", path))?;
    Ok(bytes.ok_or_else(|| refused("it is longer than 4096 bytes; give a shorter one"))?)
}

/// Opens without following a link and without waiting for the other end of a pipe.
fn open_plain(path: &Path) -> io::Result<fs_err::File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    fs_err::OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)
}

/// Argon2id, in memory that is wiped.
fn stretched(source: KeySource, text: &[u8], salt: &[u8; SALT]) -> Result<Zeroizing<[u8; LENGTH]>, FileError> {
    if text.len() < MIN_PASSPHRASE {
        return Err(FileError::TooShort(source));
    }
    let params = Params::new(ARGON2_KIB, ARGON2_PASSES, ARGON2_LANES, Some(LENGTH))
        .expect("the constants above are within the bounds of Argon2");
    let mut memory = Zeroizing::new(Vec::new());
    memory.try_reserve_exact(params.block_count()).map_err(|_| FileError::NoMemory(source))?;
    memory.resize(params.block_count(), Block::default());
    let mut key = Zeroizing::new([0; LENGTH]);
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
        .hash_password_into_with_memory(text, salt, key.as_mut_slice(), memory.as_mut_slice())
        .expect("text, salt and key have lengths that Argon2 takes");
    Ok(key)
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;

    use ringfence_core::Secret;

    use super::*;

    fn key_of(folder: &Path, key: &FileKey) -> Result<[u8; LENGTH], VaultError> {
        MasterKey::obtain(folder, key, [7; SALT]).map(|key| *key.key)
    }

    /// Computed with the command of the reference implementation, `argon2 SALT -id -t 3 -k 65536 -p 4 -l 32 -r`.
    #[test]
    fn a_passphrase_is_stretched_with_the_stated_parameters() {
        let key = stretched(KeySource::Passphrase, b"correct horse", &[7; SALT]).unwrap();
        let hex: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, "b9544fd17a6791078aa071a2eb5d1e653ca9788d942f83158bb4ee9b552a2326");
    }

    #[test]
    fn the_key_file_is_made_once_closed_to_others() {
        let dir = tempfile::tempdir().unwrap();
        MasterKey::create(dir.path(), &FileKey::KeyFile).unwrap();
        let path = dir.path().join(KEY_FILE);
        let bytes = fs_err::read(&path).unwrap();
        assert_eq!(fs_err::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        MasterKey::create(dir.path(), &FileKey::KeyFile).unwrap();
        assert_eq!(fs_err::read(&path).unwrap(), bytes);
    }

    #[test]
    fn a_key_file_that_is_open_damaged_linked_or_gone_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(KEY_FILE);
        let refused = |check: fn(&VaultError) -> bool| {
            let error = key_of(dir.path(), &FileKey::KeyFile).unwrap_err();
            assert!(check(&error) && error.to_string().contains(path.to_str().unwrap()), "{error}");
        };
        refused(|error| matches!(error, VaultError::File(FileError::KeyFileGone(_))));
        MasterKey::create(dir.path(), &FileKey::KeyFile).unwrap();
        for mode in [0o640, 0o604, 0o620, 0o601] {
            fs_err::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            refused(|error| matches!(error, VaultError::File(FileError::KeyFileOpen { .. })));
        }
        for length in [0, LENGTH - 1, LENGTH + 1] {
            fs_err::remove_file(&path).unwrap();
            atomic_file::replace(dir.path(), KEY_FILE, &vec![1; length]).unwrap();
            refused(|error| matches!(error, VaultError::File(FileError::KeyFileDamaged(_))));
        }
        fs_err::rename(&path, dir.path().join("elsewhere")).unwrap();
        std::os::unix::fs::symlink(dir.path().join("elsewhere"), &path).unwrap();
        refused(|error| matches!(error, VaultError::Io { .. }));
    }

    #[test]
    fn a_credential_is_a_closed_file_of_some_length() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("credential");
        let key = FileKey::Credential(path.clone());
        let write = |bytes: &[u8], mode| {
            fs_err::write(&path, bytes).unwrap();
            fs_err::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        };
        assert!(matches!(key_of(dir.path(), &key), Err(VaultError::Io { .. })));
        write(b"correct horse", 0o440);
        let passphrase = FileKey::Passphrase(Secret::new("correct horse".into()));
        assert_eq!(key_of(dir.path(), &key).unwrap(), key_of(dir.path(), &passphrase).unwrap());
        write(b"correct horse", 0o444);
        assert!(matches!(key_of(dir.path(), &key), Err(VaultError::File(FileError::Credential { .. }))));
        write(&[b'x'; MAX_CREDENTIAL + 1], 0o400);
        assert!(matches!(key_of(dir.path(), &key), Err(VaultError::File(FileError::Credential { .. }))));
        write(b"1234567", 0o400);
        assert!(matches!(key_of(dir.path(), &key), Err(VaultError::File(FileError::TooShort(_)))));
        let folder = FileKey::Credential(dir.path().into());
        assert!(matches!(key_of(dir.path(), &folder), Err(VaultError::File(FileError::Credential { .. }))));
    }

    #[test]
    fn purposes_and_contexts_have_keys_of_their_own() {
        let dir = tempfile::tempdir().unwrap();
        let key = MasterKey::create(dir.path(), &FileKey::KeyFile).unwrap();
        let keys = [key.derived("a", b""), key.derived("b", b""), key.derived("a", b"x"), key.key.clone()];
        for (i, one) in keys.iter().enumerate() {
            assert!(keys[i + 1..].iter().all(|other| other != one));
        }
    }
}
