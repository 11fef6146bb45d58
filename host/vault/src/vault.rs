//! The vault: what can be done with secrets.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ringfence_core::Secret;

use crate::atomic_file;
use crate::backend::Backend;
use crate::choosing;
use crate::deadline::Deadline;
use crate::error::VaultError;
use crate::name::SecretName;
use crate::place::{Choice, Location};
use crate::record::Record;
use crate::session::Session;
use crate::value::check_value;

/// The secrets of one host. Its methods may wait for the disk and, up to a minute, for a keyring: asynchronous code
/// calls them where blocking is allowed, but for [`Vault::list`] and [`Vault::location`], which wait for neither. One
/// process owns the folder; threads share the value.
pub struct Vault {
    folder: PathBuf,
    /// Outlives the connection to a keyring: who does not answer is not asked again by way of a new one.
    deadline: Deadline,
    state: Mutex<State>,
    /// The record as it was after the last use of the state, for who must not wait until its place answers.
    shown: Mutex<Option<Arc<Record>>>,
}

/// One secret, as it is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its name.
    pub name: SecretName,
    /// When it was set, in milliseconds since the Unix epoch.
    pub created: u64,
    /// When its value was last replaced, likewise.
    pub rotated: Option<u64>,
}

/// All secrets of a vault.
#[derive(Clone, Debug, Default)]
pub struct Held {
    /// Those that have a value.
    pub values: Vec<(SecretName, Secret)>,
    /// Those whose value is gone from its place, as after a reboot, or is another's.
    pub lost: Vec<SecretName>,
}

/// What an import did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// The secrets that are there now and were not before, in the order of their names.
    pub added: Vec<SecretName>,
}

#[derive(Default)]
struct State {
    record: Option<Arc<Record>>,
    backend: Option<Box<dyn Backend>>,
    /// What the operator chose before the first secret.
    choice: Option<Choice>,
}

impl Vault {
    /// Opens the vault in `folder`. Neither folder nor place is touched before the first secret is set.
    ///
    /// # Errors
    /// When what is in the folder cannot be read.
    pub fn open(folder: &Path) -> Result<Self, VaultError> {
        let record = Record::load(folder)?;
        if record.is_some() {
            atomic_file::remove_left_over(folder)?;
        }
        Ok(Self::with(folder, State { record: record.map(Arc::new), ..State::default() }))
    }

    /// Says where secrets are to live, or gives the key of the encrypted file.
    ///
    /// Before the first secret it is the operator's choice; without one the first secret goes into the system keyring
    /// if that answers, else into an encrypted file with a key file. Later it must agree with what is recorded, and the
    /// place is tried at once.
    ///
    /// # Errors
    /// [`VaultError::Chosen`] when another place is recorded; a [`FileError`](crate::FileError) when the key does not
    /// fit; [`VaultError::Unavailable`] when the place does not answer.
    pub fn choose(&self, choice: Choice) -> Result<(), VaultError> {
        self.with_state(|state| {
            match state {
                State { record: Some(record), backend, .. } => *backend = Some(self.reach(record, Some(&choice))?),
                State { record: None, choice: before, .. } => *before = Some(choice),
            }
            Ok(())
        })
    }

    /// Where secrets live; `None` before the first one.
    pub fn location(&self) -> Option<Location> {
        self.shown().map(|record| record.location.clone())
    }

    /// Stores a new secret. The first one decides where all live.
    ///
    /// # Errors
    /// [`VaultError::Exists`], or when the value is refused or cannot be stored; nothing is stored then.
    pub fn set(&self, name: SecretName, value: Secret) -> Result<(), VaultError> {
        self.import([(name, value)]).map(drop)
    }

    /// Stores new secrets, all or none.
    ///
    /// # Errors
    /// [`VaultError::Exists`] or [`VaultError::Repeated`] with all names concerned, or when a value is refused or
    /// cannot be stored.
    pub fn import(&self, secrets: impl IntoIterator<Item = (SecretName, Secret)>) -> Result<Imported, VaultError> {
        let mut secrets: Vec<_> = secrets.into_iter().collect();
        secrets.sort_by(|(one, _), (other, _)| one.cmp(other));
        for (name, value) in &secrets {
            check(name, value)?;
        }
        let names: Vec<_> = secrets.iter().map(|(name, _)| name.clone()).collect();
        let mut repeated: Vec<_> = names.windows(2).filter(|two| two[0] == two[1]).map(|two| two[0].clone()).collect();
        repeated.dedup();
        if !repeated.is_empty() {
            return Err(VaultError::Repeated(repeated));
        }
        if !secrets.is_empty() {
            self.settle()?;
            self.using(|session| session.add(&secrets))?;
        }
        Ok(Imported { added: names })
    }

    /// Gives a secret that is there a new value.
    ///
    /// # Errors
    /// [`VaultError::Unknown`], or when the value is refused or cannot be stored. When a keyring did not answer in
    /// time, it may have the new value all the same.
    pub fn rotate(&self, name: &SecretName, value: &Secret) -> Result<(), VaultError> {
        check(name, value)?;
        self.using(|session| session.rotate(name, value))?.ok_or_else(|| VaultError::Unknown(name.clone()))
    }

    /// Gives a secret whose value is `expected` the value `new`; whether it had that. In one step, so that a value
    /// which somebody stored meanwhile stays.
    ///
    /// # Errors
    /// As [`Vault::rotate`].
    pub fn replace(&self, name: &SecretName, expected: &Secret, new: &Secret) -> Result<bool, VaultError> {
        check(name, new)?;
        let replaced = self.using(|session| session.replace(name, expected, new))?;
        replaced.ok_or_else(|| VaultError::Unknown(name.clone()))
    }

    /// The value of `name`; `None` when there is no such secret.
    ///
    /// # Errors
    /// [`VaultError::Lost`] when there should be one, or when the place does not answer.
    pub fn get(&self, name: &SecretName) -> Result<Option<Secret>, VaultError> {
        Ok(self.using(|session| session.get(name))?.flatten())
    }

    /// All secrets with their values, for who must find them in texts. One that has none any more keeps nobody from the
    /// others.
    ///
    /// # Errors
    /// When the place does not answer.
    pub fn all(&self) -> Result<Held, VaultError> {
        Ok(self.using(|session| session.all())?.unwrap_or_default())
    }

    /// Removes a secret.
    ///
    /// # Errors
    /// [`VaultError::Unknown`]. When the place fails, the secret is not listed any more, and its value is removed as
    /// soon as the place answers.
    pub fn remove(&self, name: &SecretName) -> Result<(), VaultError> {
        self.using(|session| session.remove(name))?.ok_or_else(|| VaultError::Unknown(name.clone()))
    }

    /// The secrets by name, never with values. The place is not asked.
    pub fn list(&self) -> Vec<Listed> {
        let record = self.shown();
        let secrets = record.iter().flat_map(|record| &record.secrets);
        secrets
            .map(|(name, times)| Listed { name: name.clone(), created: times.created, rotated: times.rotated })
            .collect()
    }

    fn with(folder: &Path, state: State) -> Self {
        let shown = Mutex::new(state.record.clone());
        Self { folder: folder.to_owned(), deadline: Deadline::default(), state: Mutex::new(state), shown }
    }

    /// Chooses the place, where that was not done before.
    fn settle(&self) -> Result<(), VaultError> {
        self.with_state(|state| {
            if state.record.is_none() {
                let (record, backend) = choosing::first(&self.folder, state.choice.as_ref(), &self.deadline)?;
                let record = state.record.insert(Arc::new(record));
                Session::check(&self.folder, record, &*backend)?;
                state.backend = Some(backend);
                state.choice = None;
            }
            Ok(())
        })
    }

    /// Reaches the recorded place and looks at what happened to it meanwhile.
    fn reach(&self, record: &mut Arc<Record>, given: Option<&Choice>) -> Result<Box<dyn Backend>, VaultError> {
        let backend = choosing::reach(&self.folder, record, given, &self.deadline)?;
        Session::check(&self.folder, record, &*backend)?;
        Ok(backend)
    }

    /// Does `work` with the place; `None` when none was chosen yet, so that there are no secrets.
    fn using<T>(&self, work: impl FnOnce(&mut Session<'_>) -> Result<T, VaultError>) -> Result<Option<T>, VaultError> {
        self.with_state(|state| {
            let State { record: Some(record), backend, .. } = state else { return Ok(None) };
            let reached = match backend.take() {
                Some(reached) => reached,
                None => self.reach(record, None)?,
            };
            let result = Session::begin(&self.folder, record, &*reached).and_then(|mut session| work(&mut session));
            // A place that does not answer is reached anew the next time.
            if !matches!(result, Err(VaultError::Unavailable { .. })) {
                *backend = Some(reached);
            }
            result.map(Some)
        })
    }

    /// Does `work` with the state, and shows what became of the record. Every change of the state is one assignment after
    /// the disk has it, so a thread that died left it whole.
    fn with_state<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let done = work(&mut state);
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&state.record);
        done
    }

    fn shown(&self) -> Option<Arc<Record>> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vault").field("folder", &self.folder).finish_non_exhaustive()
    }
}

fn check(name: &SecretName, value: &Secret) -> Result<(), VaultError> {
    check_value(value.expose()).map_err(|source| VaultError::Value { name: name.clone(), source })
}

#[cfg(test)]
mod tests;
