//! The key that tells what this host wrote from what somebody else put there.

use std::io::{ErrorKind, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use fs_err::os::unix::fs::OpenOptionsExt as _;
use hmac::{Hmac, KeyInit as _, Mac as _};
use rustix::fs::OFlags;
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::atomic_file::write_atomically;
use crate::error::StoreError;
use crate::folder::check_owner;

const LENGTH: usize = 32;

/// A secret of 32 random bytes, made with the state folder and never leaving it.
///
/// Compiled code, audit events and argument digests are authenticated with it. It protects against whoever can write
/// one of those files but not read this one; against the same user it protects nothing.
///
/// What is held is the state of HMAC behind the key, made once; it is wiped when the value is dropped.
pub struct HostKey(Hmac<Sha256>);

impl HostKey {
    /// Reads the key at `path`, and makes one when there is none.
    ///
    /// # Errors
    /// When others can read the file or it is theirs, when it is no file of 32 bytes, or when it cannot be made.
    pub fn load_or_create(path: &Path) -> Result<Self, StoreError> {
        if !path.try_exists()? {
            let mut key = Zeroizing::new([0; LENGTH]);
            getrandom::fill(key.as_mut_slice()).map_err(StoreError::Randomness)?;
            write_atomically(path, &[key.as_slice()])?;
        }
        Self::load(path)
    }

    /// HMAC-SHA-256 over `parts`. Each `purpose` is a realm of its own, and so is each division into parts: what was
    /// authenticated as one thing is never accepted as another.
    pub fn mac(&self, purpose: &str, parts: &[&[u8]]) -> [u8; 32] {
        let mut mac = self.0.clone();
        for part in std::iter::once(&purpose.as_bytes()).chain(parts) {
            mac.update(&(part.len() as u64).to_le_bytes());
            mac.update(part);
        }
        mac.finalize().into_bytes().into()
    }

    /// Reads the key at `path`.
    ///
    /// # Errors
    /// [`StoreError::HostKeyLost`] when there is none; those of [`load_or_create`](Self::load_or_create).
    pub(crate) fn load(path: &Path) -> Result<Self, StoreError> {
        let mut options = fs_err::OpenOptions::new();
        let mut file = match options.read(true).custom_flags(OFlags::NOFOLLOW.bits().cast_signed()).open(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(StoreError::HostKeyLost { path: path.to_owned() });
            }
            file => file?,
        };
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(StoreError::WrongKind { path: path.to_owned(), wanted: "plain file" });
        }
        check_owner(path, &metadata)?;
        let mode = metadata.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            return Err(StoreError::TooOpen { path: path.to_owned(), mode, wanted: "600" });
        }
        if metadata.len() != LENGTH as u64 {
            return Err(StoreError::HostKeyLength { path: path.to_owned(), length: metadata.len() });
        }
        let mut key = Zeroizing::new([0; LENGTH]);
        file.read_exact(key.as_mut_slice())?;
        Ok(Self::of(&key))
    }

    fn of(key: &[u8; LENGTH]) -> Self {
        Self(Hmac::new_from_slice(key).expect("HMAC takes keys of any length"))
    }
}

impl std::fmt::Debug for HostKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("HostKey(…)")
    }
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;

    use super::*;

    #[test]
    fn is_made_once_and_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("host.key");
        let first = HostKey::load_or_create(&path).unwrap().mac("test", &[b"x"]);
        assert_eq!(HostKey::load_or_create(&path).unwrap().mac("test", &[b"x"]), first);
        assert_eq!(fs_err::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn is_refused_when_others_can_read_it_or_its_length_is_wrong() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("host.key");
        HostKey::load_or_create(&path).unwrap();
        fs_err::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        assert!(matches!(HostKey::load_or_create(&path), Err(StoreError::TooOpen { mode: 0o640, .. })));
        fs_err::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        for wrong in [0, 31, 33] {
            fs_err::write(&path, vec![7; wrong]).unwrap();
            assert!(matches!(HostKey::load_or_create(&path), Err(StoreError::HostKeyLength { .. })));
        }
    }

    #[test]
    fn is_not_followed_through_a_link() {
        let dir = tempfile::tempdir().unwrap();
        fs_err::write(dir.path().join("elsewhere"), [0; LENGTH]).unwrap();
        std::os::unix::fs::symlink(dir.path().join("elsewhere"), dir.path().join("host.key")).unwrap();
        assert!(matches!(HostKey::load_or_create(&dir.path().join("host.key")), Err(StoreError::Io(_))));
    }

    #[test]
    fn purposes_and_divisions_are_realms_of_their_own() {
        let key = HostKey::of(&[7; LENGTH]);
        let macs = [
            key.mac("a", &[b"bc"]),
            key.mac("ab", &[b"c"]),
            key.mac("a", &[b"b", b"c"]),
            key.mac("a", &[b"bc", b""]),
            key.mac("a", &[]),
        ];
        for (i, one) in macs.iter().enumerate() {
            assert!(macs[i + 1..].iter().all(|other| other != one));
        }
    }
}
