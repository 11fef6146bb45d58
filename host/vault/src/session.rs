//! The vault while its place answers, and the order in which changes reach the disk.
//!
//! The index in `vault.json` and the values in their place cannot change in one step. So each change goes through
//! states that are all right, wherever a crash falls:
//!
//! - set, import: the names become *unfinished* in the index; the values are stored; the names become *secrets*.
//! - remove: the name goes from *secrets* to *unfinished*; the value is removed; the name goes.
//! - rotate: the value is replaced; then its time. A crash in between leaves the new value with the old time.
//!
//! What is a secret has its value. The values of unfinished names, if there are any, were never acknowledged: whoever
//! uses the place next removes them. That undoes a set or import that was interrupted, all of it, and completes a
//! removal.
//!
//! What others did to the place is found too. A value without a name in the index, as after `vault.json` was restored
//! from a backup, is listed again, where the place can tell its names; the kernel cannot. A name without a value, as
//! after a reboot, is [`VaultError::Lost`] until it gets a value again or is removed.

use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use ringfence_core::Secret;

use crate::MAX_SECRETS;
use crate::backend::Backend;
use crate::error::VaultError;
use crate::name::SecretName;
use crate::record::{Record, Times};
use crate::vault::Held;

/// One use of the place, with the index.
pub(crate) struct Session<'a> {
    folder: &'a Path,
    record: &'a mut Arc<Record>,
    backend: &'a dyn Backend,
}

impl<'a> Session<'a> {
    /// Looks at a place that was just reached: finishes what was interrupted, and lists what was not listed.
    pub(crate) fn check(folder: &Path, record: &mut Arc<Record>, backend: &dyn Backend) -> Result<(), VaultError> {
        Session::begin(folder, record, backend)?.adopt()
    }

    /// Begins to use the place. A change that failed halfway is undone or completed first.
    pub(crate) fn begin(
        folder: &'a Path,
        record: &'a mut Arc<Record>,
        backend: &'a dyn Backend,
    ) -> Result<Self, VaultError> {
        let mut session = Self { folder, record, backend };
        session.finish()?;
        Ok(session)
    }

    /// Stores new secrets, all or none.
    pub(crate) fn add(&mut self, secrets: &[(SecretName, Secret)]) -> Result<(), VaultError> {
        let names = || secrets.iter().map(|(name, _)| name);
        let there: Vec<_> = names().filter(|name| self.record.secrets.contains_key(name)).cloned().collect();
        if !there.is_empty() {
            return Err(VaultError::Exists(there));
        }
        let total = self.record.secrets.len() + secrets.len();
        if total > MAX_SECRETS {
            return Err(VaultError::TooMany(total));
        }
        self.change(|record| record.unfinished.extend(names().cloned()))?;
        let pairs: Vec<_> = secrets.iter().map(|(name, value)| (name, value)).collect();
        if let Err(error) = self.backend.put(&pairs) {
            // What cannot be undone now is undone before the place is used again.
            let _ = self.finish();
            return Err(error);
        }
        let times = Times { created: now(), rotated: None };
        self.change(|record| {
            record.unfinished.clear();
            record.secrets.extend(names().map(|name| (name.clone(), times)));
        })
    }

    /// Replaces a value.
    pub(crate) fn rotate(&mut self, name: &SecretName, value: &Secret) -> Result<(), VaultError> {
        self.known(name)?;
        self.backend.put(&[(name, value)])?;
        self.change(|record| {
            record.secrets.entry(name.clone()).and_modify(|times| times.rotated = Some(now()));
        })
    }

    /// Replaces a value, if it is the expected one.
    pub(crate) fn replace(&mut self, name: &SecretName, expected: &Secret, new: &Secret) -> Result<bool, VaultError> {
        match self.get(name)? {
            None => Err(VaultError::Unknown(name.clone())),
            Some(value) if value.expose() == expected.expose() => self.rotate(name, new).map(|()| true),
            Some(_) => Ok(false),
        }
    }

    /// Removes a secret.
    pub(crate) fn remove(&mut self, name: &SecretName) -> Result<(), VaultError> {
        self.known(name)?;
        self.change(|record| {
            record.secrets.remove(name);
            record.unfinished.insert(name.clone());
        })?;
        self.finish()
    }

    /// The value of a secret.
    pub(crate) fn get(&self, name: &SecretName) -> Result<Option<Secret>, VaultError> {
        if !self.record.secrets.contains_key(name) {
            return Ok(None);
        }
        let lost = || VaultError::Lost { name: name.clone(), place: self.record.location.place };
        self.backend.get(&[name])?.pop().flatten().ok_or_else(lost).map(Some)
    }

    /// All secrets, as far as the place has values for them.
    pub(crate) fn all(&self) -> Result<Held, VaultError> {
        let mut names: Vec<&SecretName> = self.record.secrets.keys().collect();
        let mut held = Held::default();
        let values = loop {
            match self.backend.get(&names) {
                Err(VaultError::Foreign { name, .. }) if names.contains(&&name) => {
                    names.retain(|asked| **asked != name);
                    held.lost.push(name);
                }
                answer => break answer?,
            }
        };
        for (name, value) in names.into_iter().zip(values) {
            match value {
                Some(value) => held.values.push((name.clone(), value)),
                None => held.lost.push(name.clone()),
            }
        }
        held.lost.sort();
        Ok(held)
    }

    /// Lists values that the place has and the index does not know.
    fn adopt(&mut self) -> Result<(), VaultError> {
        let mut unknown = self.backend.names()?.unwrap_or_default();
        unknown.retain(|name| !self.record.secrets.contains_key(name));
        if unknown.is_empty() {
            return Ok(());
        }
        tracing::warn!(names = ?unknown, "secrets were there that were not listed: they are listed now");
        let times = Times { created: now(), rotated: None };
        self.change(|record| record.secrets.extend(unknown.into_iter().map(|name| (name, times))))
    }

    /// Removes the values of unfinished names.
    fn finish(&mut self) -> Result<(), VaultError> {
        if self.record.unfinished.is_empty() {
            return Ok(());
        }
        self.backend.remove(&self.record.unfinished.iter().collect::<Vec<_>>())?;
        self.change(|record| record.unfinished.clear())
    }

    fn known(&self, name: &SecretName) -> Result<(), VaultError> {
        if self.record.secrets.contains_key(name) { Ok(()) } else { Err(VaultError::Unknown(name.clone())) }
    }

    /// Changes the record on the disk, and only then here.
    fn change(&mut self, change: impl FnOnce(&mut Record)) -> Result<(), VaultError> {
        let mut changed = Record::clone(self.record);
        change(&mut changed);
        changed.save(self.folder)?;
        *self.record = Arc::new(changed);
        Ok(())
    }
}

pub(crate) fn now() -> u64 {
    // A clock before 1970 or after the year 584,000,000 is no clock.
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
