//! Compiled code, kept so that starting compiles nothing.
//!
//! Loading compiled code is trusting it with the whole process, so each file is authenticated with the host key for the
//! component and the engine that it belongs to. What does not prove right is compiled again, never loaded.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;

use ringfence_store::{Digest, Store, check_own, write_atomically};
use subtle::ConstantTimeEq as _;

use crate::error::PackageError;
use crate::reading;

const EXTENSION: &str = "bin";
const MAC_LENGTH: usize = 32;

/// The longest file that is read: many times what a large component compiles to.
const MAX_BYTES: usize = 1 << 30;

/// The files of compiled code in a state folder.
pub struct CompiledCache {
    store: Arc<Store>,
}

impl CompiledCache {
    /// The files in the folder of `store`.
    pub fn new(store: Arc<Store>) -> Self {
        Self { store }
    }

    /// The code of the component with this digest for this engine; `None` when there is none that this host made.
    pub fn get(&self, component: &Digest, engine: &Digest) -> Option<Vec<u8>> {
        let path = self.path(component, engine);
        let refuse = |reason: &str| {
            tracing::warn!(path = %path.display(), reason, "compiled code is not used; it is compiled again");
            None
        };
        if let Err(error) = check_own(&path) {
            return refuse(&error.to_string());
        }
        let mut code = match reading::bytes(&path, MAX_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                tracing::info!(%component, "there is no compiled code for this engine yet");
                return None;
            }
            Err(error) => return refuse(&error.to_string()),
        };
        let Some(length) = code.len().checked_sub(MAC_LENGTH) else { return refuse("it is too short") };
        let mac = self.mac(component, engine, &code[..length]);
        if !bool::from(mac.ct_eq(&code[length..])) {
            return refuse("this host did not make it, or it was altered");
        }
        code.truncate(length);
        Some(code)
    }

    /// Keeps `code`, in place of what another engine made of the component.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn put(&self, component: &Digest, engine: &Digest, code: &[u8]) -> Result<(), PackageError> {
        let path = self.path(component, engine);
        write_atomically(&path, &[code, &self.mac(component, engine, code)])?;
        self.retain(|other, file| other != component || *file == path)
    }

    /// Removes the code of all components that are not `wanted`.
    pub(crate) fn sweep(&self, wanted: impl Fn(&Digest) -> bool) -> Result<(), PackageError> {
        self.retain(|component, _| wanted(component))
    }

    fn retain(&self, keep: impl Fn(&Digest, &PathBuf) -> bool) -> Result<(), PackageError> {
        for entry in fs_err::read_dir(self.store.folder().compiled())? {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let component = name.split('-').next().and_then(|digits| digits.parse().ok());
            // What is not named as our files are is not ours to remove; half-written ones look like that, too.
            if component.is_some_and(|component| !keep(&component, &path)) {
                fs_err::remove_file(&path)?;
            }
        }
        Ok(())
    }

    fn path(&self, component: &Digest, engine: &Digest) -> PathBuf {
        self.store.folder().compiled().join(format!("{component}-{engine}.{EXTENSION}"))
    }

    fn mac(&self, component: &Digest, engine: &Digest, code: &[u8]) -> [u8; MAC_LENGTH] {
        self.store.key().mac("compiled code", &[component.as_bytes(), engine.as_bytes(), code])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Kept {
        cache: CompiledCache,
        component: Digest,
        engine: Digest,
        _dir: tempfile::TempDir,
    }

    fn kept(code: &[u8]) -> Kept {
        let dir = tempfile::tempdir().unwrap();
        let cache = CompiledCache::new(Arc::new(Store::open(dir.path()).unwrap()));
        let (component, engine) = (Digest::of(b"component"), Digest::of(b"engine"));
        cache.put(&component, &engine, code).unwrap();
        Kept { cache, component, engine, _dir: dir }
    }

    #[test]
    fn code_comes_back() {
        let kept = kept(b"code");
        assert_eq!(kept.cache.get(&kept.component, &kept.engine).as_deref(), Some(b"code".as_slice()));
    }

    #[test]
    fn no_altered_byte_and_no_cut_is_accepted() {
        let kept = kept(b"code");
        let path = kept.cache.path(&kept.component, &kept.engine);
        let good = fs_err::read(&path).unwrap();
        for i in 0..good.len() {
            let mut altered = good.clone();
            altered[i] ^= 1;
            fs_err::write(&path, &altered).unwrap();
            assert_eq!(kept.cache.get(&kept.component, &kept.engine), None, "byte {i}");
            fs_err::write(&path, &good[..i]).unwrap();
            assert_eq!(kept.cache.get(&kept.component, &kept.engine), None, "cut at {i}");
        }
    }

    #[test]
    fn code_of_another_component_engine_or_host_is_not_accepted() {
        let (kept, foreign) = (kept(b"code"), kept(b"code"));
        let path = kept.cache.path(&kept.component, &kept.engine);
        let other = Digest::of(b"other");
        for (component, engine) in [(&other, &kept.engine), (&kept.component, &other)] {
            fs_err::copy(&path, kept.cache.path(component, engine)).unwrap();
            assert_eq!(kept.cache.get(component, engine), None);
        }
        fs_err::copy(foreign.cache.path(&kept.component, &kept.engine), &path).unwrap();
        assert_eq!(kept.cache.get(&kept.component, &kept.engine), None);
    }

    #[test]
    fn code_in_a_file_of_another_user_is_not_accepted() {
        use std::os::unix::fs::{MetadataExt as _, chown};
        let kept = kept(b"code");
        let path = kept.cache.path(&kept.component, &kept.engine);
        // Only root can give files away.
        if fs_err::metadata(&path).unwrap().uid() == 0 {
            chown(&path, Some(4242), None).unwrap();
            assert_eq!(kept.cache.get(&kept.component, &kept.engine), None);
        }
    }

    #[test]
    fn a_new_engine_replaces_the_old_ones_code() {
        let kept = kept(b"code");
        let other = Digest::of(b"other engine");
        kept.cache.put(&Digest::of(b"neighbour"), &other, b"x").unwrap();
        kept.cache.put(&kept.component, &other, b"new").unwrap();
        assert_eq!(kept.cache.get(&kept.component, &kept.engine), None);
        assert!(kept.cache.get(&kept.component, &other).is_some());
        assert!(kept.cache.get(&Digest::of(b"neighbour"), &other).is_some());
    }
}
