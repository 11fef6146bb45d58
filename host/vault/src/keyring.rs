//! The keyrings: of the operating system, and of the Linux kernel.
//!
//! Each vault has its own service name in them, so that two vaults of one user do not meet.

use std::collections::HashMap;
use std::sync::Arc;

use keyring_core::{CredentialStore, Entry, Error};
use ringfence_core::Secret;
use zeroize::Zeroizing;

use crate::backend::Backend;
use crate::deadline::Deadline;
use crate::error::VaultError;
use crate::name::SecretName;
use crate::place::Place;
use crate::value::check_value;

/// The longest payload of a kernel key of type `user`, in bytes (keyrings(7), add_key(2)).
const MAX_KERNEL_VALUE: usize = 32_767;

/// A keyring that was reached.
pub(crate) struct Keyring {
    place: Place,
    store: Arc<CredentialStore>,
    service: String,
    deadline: Deadline,
}

/// What a keyring is asked within the deadline. It says which name failed, and why.
type Answer<T> = Result<T, (SecretName, Error)>;

impl Keyring {
    /// Reaches the keyring at `place`, for the vault `id`.
    pub(crate) fn connect(place: Place, id: &str, deadline: &Deadline) -> Result<Self, VaultError> {
        let store = deadline.answer(move || store(place)).unwrap_or_else(|late| Err(late.to_string()));
        let store = store.map_err(|cause| unavailable(place, cause))?;
        Ok(Self { place, store, service: format!("ringfence:{id}"), deadline: deadline.clone() })
    }

    /// Checks that the keyring keeps what it is given, by storing, reading and removing something that is no secret.
    pub(crate) fn prove(&self) -> Result<(), VaultError> {
        const NAME: &str = ".probe";
        const VALUE: &[u8] = b"ringfence looks whether this keyring answers";
        let (store, service) = (self.store.clone(), self.service.clone());
        let answer: keyring_core::Result<bool> = self.ask(move || {
            let entry = Entry::new_in_store(&store, &service, NAME)?;
            entry.set_secret(VALUE)?;
            let kept = entry.get_secret().map(|bytes| bytes == VALUE);
            let removed = entry.delete_credential();
            removed.and(kept)
        })?;
        match answer {
            Ok(true) => Ok(()),
            Ok(false) => Err(unavailable(self.place, "it does not keep what it is given".into())),
            Err(error) => Err(unavailable(self.place, cause(&error))),
        }
    }

    /// Carries `question` out with one entry after the other.
    fn each<T: Send + 'static, R: Send + 'static>(
        &self,
        items: Vec<(SecretName, T)>,
        question: fn(&Entry, T) -> keyring_core::Result<R>,
    ) -> Result<Vec<R>, VaultError> {
        let (store, service) = (self.store.clone(), self.service.clone());
        let answer: Answer<Vec<R>> = self.ask(move || {
            let one = |(name, item): (SecretName, T)| {
                let entry = Entry::new_in_store(&store, &service, name.as_str());
                entry.and_then(|entry| question(&entry, item)).map_err(|error| (name, error))
            };
            items.into_iter().map(one).collect()
        })?;
        answer.map_err(|(name, error)| match error {
            Error::BadEncoding(_) | Error::BadDataFormat(..) | Error::Ambiguous(_) => {
                VaultError::Foreign { name, place: self.place }
            }
            error => unavailable(self.place, cause(&error)),
        })
    }

    fn ask<T: Send + 'static>(&self, question: impl FnOnce() -> T + Send + 'static) -> Result<T, VaultError> {
        self.deadline.answer(question).map_err(|late| unavailable(self.place, late.to_string()))
    }

    fn checked(&self, name: &SecretName, bytes: Option<Zeroizing<Vec<u8>>>) -> Result<Option<Secret>, VaultError> {
        let Some(bytes) = bytes else { return Ok(None) };
        let text = std::str::from_utf8(&bytes).ok().filter(|text| check_value(text).is_ok());
        match text {
            Some(text) => Ok(Some(Secret::new(text.to_owned()))),
            None => Err(VaultError::Foreign { name: name.clone(), place: self.place }),
        }
    }
}

impl Backend for Keyring {
    fn get(&self, names: &[&SecretName]) -> Result<Vec<Option<Secret>>, VaultError> {
        let items = names.iter().map(|name| ((*name).clone(), ())).collect();
        let values = self.each(items, |entry, ()| match entry.get_secret() {
            Ok(bytes) => Ok(Some(Zeroizing::new(bytes))),
            Err(Error::NoEntry) => Ok(None),
            Err(error) => Err(error),
        })?;
        names.iter().zip(values).map(|(name, bytes)| self.checked(name, bytes)).collect()
    }

    fn put(&self, secrets: &[(&SecretName, &Secret)]) -> Result<(), VaultError> {
        let too_long = secrets.iter().find(|(_, value)| value.expose().len() > MAX_KERNEL_VALUE);
        if let (Place::Kernel, Some((name, value))) = (self.place, too_long) {
            let (length, allowed) = (value.expose().len(), MAX_KERNEL_VALUE);
            return Err(VaultError::TooLongForKernel { name: (*name).clone(), length, allowed });
        }
        let items = secrets.iter().map(|(name, value)| ((*name).clone(), (*value).clone())).collect();
        self.each(items, |entry, value: Secret| entry.set_secret(value.expose().as_bytes())).map(drop)
    }

    fn remove(&self, names: &[&SecretName]) -> Result<(), VaultError> {
        let items = names.iter().map(|name| ((*name).clone(), ())).collect();
        let gone = |entry: &Entry, ()| match entry.delete_credential() {
            Err(Error::NoEntry) => Ok(()),
            answer => answer,
        };
        self.each(items, gone).map(drop)
    }

    fn names(&self) -> Result<Option<Vec<SecretName>>, VaultError> {
        let (store, service) = (self.store.clone(), self.service.clone());
        let answer: keyring_core::Result<Vec<_>> = self.ask(move || {
            let entries = store.search(&HashMap::from([("service", service.as_str())]))?;
            Ok(entries.iter().filter_map(Entry::get_specifiers).collect())
        })?;
        match answer {
            Ok(found) => {
                let ours = found.into_iter().filter(|(service, _)| *service == self.service);
                Ok(Some(ours.filter_map(|(_, name)| name.try_into().ok()).collect()))
            }
            Err(Error::NotSupportedByStore(_)) => Ok(None),
            Err(error) => Err(unavailable(self.place, cause(&error))),
        }
    }
}

/// The store behind a place, or why there is none.
#[cfg(target_os = "linux")]
fn store(place: Place) -> Result<Arc<CredentialStore>, String> {
    let store = match place {
        Place::Kernel => linux_keyutils_keyring_store::Store::new().map(|store| store as Arc<CredentialStore>),
        _ => zbus_secret_service_keyring_store::Store::new().map(|store| store as Arc<CredentialStore>),
    };
    store.map_err(|error| cause(&error))
}

/// The store behind a place, or why there is none.
#[cfg(target_os = "macos")]
fn store(place: Place) -> Result<Arc<CredentialStore>, String> {
    match place {
        Place::Kernel => Err("only Linux has one".into()),
        _ => apple_native_keyring_store::keychain::Store::new()
            .map(|store| store as Arc<CredentialStore>)
            .map_err(|error| cause(&error)),
    }
}

/// What a keyring's error says. Two of them carry the value itself, whose texts must not be built.
fn cause(error: &Error) -> String {
    match error {
        Error::BadEncoding(_) | Error::BadDataFormat(..) => "it answers with something else than text".into(),
        error => error.to_string(),
    }
}

fn unavailable(place: Place, cause: String) -> VaultError {
    let remedy = match place {
        Place::Kernel => {
            "it needs Linux, a session keyring (`keyctl session - ringfence …`, or KeyringMode= in a systemd unit) and \
             room within the quota in /proc/sys/kernel/keys"
        }
        _ => "log in to the session whose keyring it is and unlock it, or start its service there",
    };
    VaultError::Unavailable { place, cause, remedy }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mock(place: Place) -> Keyring {
        let store: Arc<CredentialStore> = keyring_core::mock::Store::new().unwrap();
        Keyring { place, store, service: "ringfence:test".into(), deadline: Deadline::default() }
    }

    /// Lets the next question about `name` fail.
    fn fails(keyring: &Keyring, name: &SecretName, error: Error) {
        let entry = Entry::new_in_store(&keyring.store, &keyring.service, name.as_str()).unwrap();
        entry.as_any().downcast_ref::<keyring_core::mock::Cred>().unwrap().set_error(error);
    }

    #[test]
    fn values_come_back_until_they_are_removed() {
        let keyring = mock(Place::Keyring);
        keyring.prove().unwrap();
        let (a, b) = ("a".parse().unwrap(), "b".parse().unwrap());
        keyring.put(&[(&a, &Secret::new("one".into())), (&b, &Secret::new("two".into()))]).unwrap();
        let values = keyring.get(&[&b, &a]).unwrap();
        assert_eq!(values.iter().flatten().map(Secret::expose).collect::<Vec<_>>(), ["two", "one"]);
        keyring.remove(&[&a]).unwrap();
        keyring.remove(&[&a]).unwrap();
        assert!(keyring.get(&[&a]).unwrap()[0].is_none());
    }

    #[test]
    fn no_error_of_a_keyring_shows_the_value_that_it_carries() {
        let keyring = mock(Place::Keyring);
        let name: SecretName = "a".parse().unwrap();
        let value = b"hunter2".to_vec();
        for error in [Error::BadEncoding(value.clone()), Error::BadDataFormat(value.clone(), "hunter2".into())] {
            fails(&keyring, &name, error);
            let error = keyring.get(&[&name]).unwrap_err();
            let text = format!("{error} {error:?}");
            assert!(matches!(error, VaultError::Foreign { .. }), "{text}");
            assert!(!text.contains("hunter2") && !text.contains("104, 117"), "{text}");
        }
    }

    #[test]
    fn what_others_put_there_is_not_taken_for_a_secret() {
        let keyring = mock(Place::Keyring);
        let name: SecretName = "a".parse().unwrap();
        let entry = Entry::new_in_store(&keyring.store, &keyring.service, "a").unwrap();
        for foreign in [&b""[..], b"\xff", b"a\0b"] {
            entry.set_secret(foreign).unwrap();
            assert!(matches!(keyring.get(&[&name]), Err(VaultError::Foreign { .. })), "{foreign:?}");
        }
    }

    #[test]
    fn a_keyring_that_fails_says_why_and_what_to_do() {
        let keyring = mock(Place::Keyring);
        let name: SecretName = "a".parse().unwrap();
        fails(&keyring, &name, Error::NoStorageAccess("prompt dismissed".into()));
        let error = keyring.get(&[&name]).unwrap_err();
        assert!(matches!(error, VaultError::Unavailable { place: Place::Keyring, .. }));
        assert!(error.to_string().contains("prompt dismissed") && error.to_string().contains("unlock"), "{error}");
    }

    #[test]
    fn the_kernel_takes_short_values_only() {
        let name: SecretName = "a".parse().unwrap();
        let (short, long) = (Secret::new("x".repeat(MAX_KERNEL_VALUE)), Secret::new("x".repeat(MAX_KERNEL_VALUE + 1)));
        mock(Place::Kernel).put(&[(&name, &short)]).unwrap();
        assert!(matches!(mock(Place::Kernel).put(&[(&name, &long)]), Err(VaultError::TooLongForKernel { .. })));
        mock(Place::Keyring).put(&[(&name, &long)]).unwrap();
    }
}
