//! How a place is chosen, once, and how the chosen one is reached ever after.

use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

use crate::backend::Backend;
use crate::deadline::Deadline;
use crate::error::{VaultError, at};
use crate::file::{self, SECRETS_FILE, SecretsFile};
use crate::keyring::Keyring;
use crate::place::{Choice, FileKey, KeySource, Location, described};
use crate::record::Record;

/// Chooses the place and records it. Only what answers is chosen.
pub(crate) fn first(
    folder: &Path,
    choice: Option<&Choice>,
    deadline: &Deadline,
) -> Result<(Record, Box<dyn Backend>), VaultError> {
    let id = new_id()?;
    let (choice, why, backend) = match choice {
        Some(choice) => (choice.clone(), "by the operator".to_owned(), prove(folder, choice, &id, deadline)?),
        None => automatic(folder, &id, deadline)?,
    };
    make_folder(folder)?;
    let record = Record::new(Location::new(&choice, why), id);
    record.save(folder)?;
    Ok((record, backend))
}

/// Reaches the recorded place. `given` must agree with it; it is needed where the key is not in the folder.
pub(crate) fn reach(
    folder: &Path,
    record: &Record,
    given: Option<&Choice>,
    deadline: &Deadline,
) -> Result<Box<dyn Backend>, VaultError> {
    let Location { place, key, .. } = record.location;
    if let Some(given) = given
        && (given.place(), given.key()) != (place, key)
    {
        return Err(VaultError::Chosen {
            recorded: described(place, key),
            wanted: described(given.place(), given.key()),
            folder: folder.to_owned(),
        });
    }
    match (given, key) {
        (Some(Choice::File(key)), _) => Ok(Box::new(SecretsFile::open(folder, key)?)),
        (_, Some(KeySource::KeyFile)) => Ok(Box::new(SecretsFile::open(folder, &FileKey::KeyFile)?)),
        (_, Some(key)) => Err(VaultError::Locked { path: folder.join(SECRETS_FILE), key }),
        (_, None) => Ok(Box::new(Keyring::connect(place, &record.id, deadline)?)),
    }
}

/// The system keyring where it answers, else the encrypted file. The kernel's forgets, so nobody gets it unasked.
fn automatic(folder: &Path, id: &str, deadline: &Deadline) -> Result<(Choice, String, Box<dyn Backend>), VaultError> {
    let file = Choice::File(FileKey::KeyFile);
    if file::exists(folder)? {
        let backend = prove(folder, &file, id, deadline)?;
        return Ok((file, "automatically: there was an encrypted file".into(), backend));
    }
    match prove(folder, &Choice::Keyring, id, deadline) {
        Ok(backend) => Ok((Choice::Keyring, "automatically: it answers".into(), backend)),
        Err(VaultError::Unavailable { .. }) => {
            let backend = prove(folder, &file, id, deadline)?;
            Ok((file, "automatically: there was no keyring of the system that answers".into(), backend))
        }
        Err(error) => Err(error),
    }
}

/// Reaches a place for the first time, and sees that it keeps what it is given.
fn prove(folder: &Path, choice: &Choice, id: &str, deadline: &Deadline) -> Result<Box<dyn Backend>, VaultError> {
    if let Choice::File(key) = choice {
        make_folder(folder)?;
        return Ok(Box::new(SecretsFile::create_or_open(folder, key)?));
    }
    // Secrets in a file that nothing refers to any more would be lost in silence.
    if file::exists(folder)? {
        return Err(VaultError::Orphaned { path: folder.join(SECRETS_FILE) });
    }
    let keyring = Keyring::connect(choice.place(), id, deadline)?;
    keyring.prove()?;
    Ok(Box::new(keyring))
}

fn make_folder(folder: &Path) -> Result<(), VaultError> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true).mode(0o700).create(folder).map_err(at("make", folder))
}

/// 64 random bits, in hexadecimal digits.
fn new_id() -> Result<String, VaultError> {
    getrandom::u64().map(|id| format!("{id:016x}")).map_err(VaultError::Randomness)
}
