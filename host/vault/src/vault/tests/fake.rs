use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::*;
use crate::place::Place;

/// A keyring in memory. Its clones are the same one.
#[derive(Clone, Default)]
pub(super) struct Fake {
    pub(super) inside: Arc<Mutex<Inside>>,
}

#[derive(Default)]
pub(super) struct Inside {
    pub(super) values: BTreeMap<SecretName, String>,
    /// How many more values it takes or removes before it fails.
    pub(super) patience: Option<usize>,
    /// Under this name stands what another stored.
    pub(super) foreign: Option<SecretName>,
    /// It cannot tell its names, like the kernel's.
    pub(super) mute: bool,
    /// The folder of the index, and all states that both were in.
    pub(super) watched: Option<PathBuf>,
    pub(super) states: Vec<Durable>,
}

/// What a crash at one moment leaves: the index and the values.
#[derive(Clone, Debug)]
pub(super) struct Durable {
    pub(super) index: Vec<u8>,
    pub(super) values: BTreeMap<SecretName, String>,
}

impl Fake {
    /// A vault in this keyring: a new one, or the one in `folder`.
    pub(super) fn vault(&self, folder: &Path) -> Vault {
        fs_err::create_dir_all(folder).unwrap();
        let record = Record::load(folder).unwrap().unwrap_or_else(|| {
            let record = Record::new(Location::new(&Choice::Keyring, "for a test".into()), "test".into());
            record.save(folder).unwrap();
            record
        });
        let mut record = Arc::new(record);
        Session::check(folder, &mut record, self).unwrap();
        let state = State { record: Some(record), backend: Some(Box::new(self.clone())), choice: None };
        Vault::with(folder, state)
    }
}

impl Inside {
    /// Remembers the state, and counts one step, which may fail.
    fn step(&mut self) -> Result<(), VaultError> {
        self.remember();
        match &mut self.patience {
            Some(0) => Err(VaultError::Foreign { name: name("broken"), place: Place::Keyring }),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }

    pub(super) fn remember(&mut self) {
        if let Some(folder) = &self.watched {
            let index = fs_err::read(folder.join("vault.json")).unwrap();
            self.states.push(Durable { index, values: self.values.clone() });
        }
    }
}

impl Backend for Fake {
    fn get(&self, names: &[&SecretName]) -> Result<Vec<Option<Secret>>, VaultError> {
        let inside = self.inside.lock().unwrap();
        if let Some(name) = inside.foreign.clone().filter(|name| names.contains(&name)) {
            return Err(VaultError::Foreign { name, place: Place::Keyring });
        }
        Ok(names.iter().map(|name| inside.values.get(name).map(|value| secret(value))).collect())
    }

    fn put(&self, secrets: &[(&SecretName, &Secret)]) -> Result<(), VaultError> {
        let mut inside = self.inside.lock().unwrap();
        for (name, value) in secrets {
            inside.step()?;
            inside.values.insert((*name).clone(), value.expose().to_owned());
        }
        inside.remember();
        Ok(())
    }

    fn remove(&self, names: &[&SecretName]) -> Result<(), VaultError> {
        let mut inside = self.inside.lock().unwrap();
        for name in names {
            inside.step()?;
            inside.values.remove(name);
        }
        inside.remember();
        Ok(())
    }

    fn names(&self) -> Result<Option<Vec<SecretName>>, VaultError> {
        let inside = self.inside.lock().unwrap();
        Ok((!inside.mute).then(|| inside.values.keys().cloned().collect()))
    }
}
