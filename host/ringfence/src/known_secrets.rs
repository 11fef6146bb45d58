//! The secrets of the vault, as they were when they were read last, and what finds them: the one scanner, and the scrubber
//! of results.

use std::sync::{Arc, Mutex, PoisonError};

use ringfence_core::Secret;
use ringfence_core::finish::current::CurrentScrubber;
use ringfence_core::finish::scrub::{Scrubber, ScrubberError};
use ringfence_egress::{Scanner, ScannerError};
use ringfence_vault::{Held, SecretName, Vault, VaultError};
use thiserror::Error;

/// The vault and what was last read from it. The values are read, and the scanner is made, once for each change.
pub(crate) struct KnownSecrets {
    vault: Arc<Vault>,
    /// Those of the embedding program.
    embedded: Vec<(String, Secret)>,
    /// Knows all of them from when they are known here: what is placed is taken out of what comes back.
    scrubber: Arc<CurrentScrubber>,
    read: Mutex<Option<Arc<Secrets>>>,
}

/// Names and values, and what finds them in requests and responses.
pub(crate) struct Secrets {
    pub(crate) all: Vec<(SecretName, Secret)>,
    /// Those that have no value any more.
    pub(crate) lost: Vec<SecretName>,
    pub(crate) scanner: Scanner,
}

/// Why the secrets are not known.
#[derive(Debug, Error)]
pub(crate) enum SecretsError {
    #[error("its credentials cannot be read: {0}")]
    Vault(#[from] VaultError),
    #[error(transparent)]
    Scanner(#[from] ScannerError),
    #[error(transparent)]
    Scrubber(#[from] ScrubberError),
}

impl KnownSecrets {
    /// Those in `vault`, of which nothing is read yet, and those in `embedded`. `scrubber` will know all.
    ///
    /// # Errors
    /// When those in `embedded` cannot be searched for.
    pub(crate) fn new(
        vault: Arc<Vault>,
        embedded: Vec<(String, Secret)>,
        scrubber: Arc<CurrentScrubber>,
    ) -> Result<Self, ScrubberError> {
        scrubber.replace(Scrubber::new(embedded.clone())?)?;
        Ok(Self { vault, embedded, scrubber, read: Mutex::default() })
    }

    /// What is in the vault.
    ///
    /// # Errors
    /// When it does not answer, or holds too much to search for. It is asked again the next time.
    pub(crate) fn get(&self) -> Result<Arc<Secrets>, SecretsError> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(secrets) = &*read {
            return Ok(secrets.clone());
        }
        let secrets = Arc::new(Secrets::of(&self.vault)?);
        // Before anybody has one to place.
        let known = self.embedded.iter().cloned().chain(secrets.findable()).collect();
        self.scrubber.replace(Scrubber::new(known)?)?;
        *read = Some(secrets.clone());
        Ok(secrets)
    }

    /// The vault has changed.
    pub(crate) fn forget(&self) {
        *self.read.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl Secrets {
    fn of(vault: &Vault) -> Result<Self, SecretsError> {
        let Held { values: all, lost } = vault.all()?;
        for name in &lost {
            tracing::warn!("the secret `{name}` has no value any more: `ringfence secret rotate {name}` gives it one");
        }
        let named: Vec<_> = all.iter().map(|(name, secret)| (name.to_string(), secret.clone())).collect();
        let scanner = Scanner::new(&named)?;
        // `secret set` takes none that is too short, but a keyring can be changed from outside.
        for name in scanner.skipped() {
            tracing::warn!("the secret `{name}` is too short to be found in results, and is placed nowhere");
        }
        Ok(Self { all, lost, scanner })
    }

    /// Those that can be found in texts.
    pub(crate) fn findable(&self) -> impl Iterator<Item = (String, Secret)> {
        let short = |name: &SecretName| self.scanner.skipped().iter().any(|skipped| skipped == name.as_str());
        self.all.iter().filter(move |(name, _)| !short(name)).map(|(name, secret)| (name.to_string(), secret.clone()))
    }
}

#[cfg(test)]
mod tests {
    use ringfence_vault::{Choice, FileKey};

    use super::*;

    #[test]
    fn what_was_read_is_shared_until_the_vault_has_changed() {
        let folder = tempfile::tempdir().unwrap();
        let vault = Arc::new(Vault::open(&folder.path().join("vault")).unwrap());
        vault.choose(Choice::File(FileKey::KeyFile)).unwrap();
        let set = |name: &str, value: &str| {
            vault.set(name.to_owned().try_into().unwrap(), Secret::new(value.to_owned())).unwrap();
        };
        set("first", "a long enough value");
        let known = KnownSecrets::new(vault.clone(), Vec::new(), Arc::default()).unwrap();
        let before = known.get().unwrap();
        assert!(Arc::ptr_eq(&before, &known.get().unwrap()));
        set("second", "another value");
        set("short", "1234");
        assert_eq!(known.get().unwrap().all.len(), 1);
        known.forget();
        let after = known.get().unwrap();
        assert_eq!(after.all.len(), 3);
        let findable: Vec<String> = after.findable().map(|(name, _)| name).collect();
        assert_eq!(findable, ["first", "second"]);
        assert_eq!(after.scanner.text("it is another value"), "it is [REDACTED:second]");
    }

    #[test]
    fn what_can_be_read_later_is_found_in_results_from_then_on() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("vault");
        let key = || Choice::File(FileKey::Passphrase(Secret::new("correct horse battery".into())));
        let before = Vault::open(&place).unwrap();
        before.choose(key()).unwrap();
        before.set("late_key".to_owned().try_into().unwrap(), Secret::new("a late value".into())).unwrap();
        drop(before);
        let (vault, scrubber) = (Arc::new(Vault::open(&place).unwrap()), Arc::<CurrentScrubber>::default());
        let own = vec![("own_key".to_owned(), Secret::new("an own value".into()))];
        let known = KnownSecrets::new(vault.clone(), own, scrubber.clone()).unwrap();
        let shown = || scrubber.get().text("an own value, a late value").into_owned();
        // Locked, so nothing of it is placed either.
        assert!(known.get().is_err());
        assert_eq!(shown(), "[REDACTED:own_key], a late value");
        vault.choose(key()).unwrap();
        assert_eq!(known.get().unwrap().all.len(), 1);
        assert_eq!(shown(), "[REDACTED:own_key], [REDACTED:late_key]");
        known.forget();
        assert_eq!(shown(), "[REDACTED:own_key], [REDACTED:late_key]");
    }
}
