//! `vault.json`: which place was chosen, and the index of names. It holds no values and can be read by eye.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::atomic_file;
use crate::error::{VaultError, at};
use crate::name::SecretName;
use crate::place::Location;
use crate::value::read_bounded;

const FILE: &str = "vault.json";
const FORMAT: u32 = 1;

/// The longest record, in bytes: [`MAX_SECRETS`](crate::MAX_SECRETS) names with their times are far below.
const MAX_RECORD: usize = 1 << 20;

/// The record. A name is in `secrets` when its value was stored in full. It is in `unfinished` while its value is being
/// stored or removed: nobody was told yet that it is there, so the value, if there is one, may go.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Record {
    format: u32,
    pub(crate) location: Location,
    /// Tells this vault's entries in a shared keyring from those of others.
    pub(crate) id: String,
    pub(crate) secrets: BTreeMap<SecretName, Times>,
    pub(crate) unfinished: BTreeSet<SecretName>,
}

/// When a value came, in milliseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Times {
    pub(crate) created: u64,
    pub(crate) rotated: Option<u64>,
}

/// The part of every format's record that tells which format it is.
#[derive(Deserialize)]
struct Head {
    format: u32,
}

impl Record {
    /// The record of a new vault.
    pub(crate) fn new(location: Location, id: String) -> Self {
        Self { format: FORMAT, location, id, secrets: BTreeMap::new(), unfinished: BTreeSet::new() }
    }

    /// Reads the record in `folder`; `None` when no secret was ever set.
    pub(crate) fn load(folder: &Path) -> Result<Option<Self>, VaultError> {
        let path = folder.join(FILE);
        let file = match fs_err::File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(at("read", &path)(error)),
        };
        let damaged = |cause: String| VaultError::RecordDamaged { path: path.clone(), cause };
        let bytes = read_bounded(file, MAX_RECORD).map_err(at("read", &path))?;
        let bytes = bytes.ok_or_else(|| damaged(format!("it is longer than {MAX_RECORD} bytes")))?;
        let head: Head = serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
        if head.format != FORMAT {
            return Err(VaultError::RecordNewer { path, found: head.format, known: FORMAT });
        }
        serde_json::from_slice(&bytes).map(Some).map_err(|error| damaged(error.to_string()))
    }

    /// Writes the record into `folder`.
    pub(crate) fn save(&self, folder: &Path) -> Result<(), VaultError> {
        let json = serde_json::to_vec_pretty(self)
            .map_err(|error| at("write", &folder.join(FILE))(io::Error::other(error)))?;
        atomic_file::replace(folder, FILE, &json)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::place::Choice;

    fn record() -> Record {
        let mut record = Record::new(Location::new(&Choice::Kernel, "by the operator".into()), "0123".into());
        record.secrets.insert("a".parse().unwrap(), Times { created: 1, rotated: Some(2) });
        record.unfinished.insert("b".parse().unwrap());
        record
    }

    #[test]
    fn is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Record::load(folder.path()).unwrap().is_none());
        record().save(folder.path()).unwrap();
        let read = Record::load(folder.path()).unwrap().unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), serde_json::to_string(&record()).unwrap());
    }

    #[test]
    fn another_format_and_damage_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        fs_err::write(&path, r#"{"format": 2, "new": true}"#).unwrap();
        assert!(matches!(Record::load(folder.path()), Err(VaultError::RecordNewer { found: 2, .. })));
        let good = serde_json::to_string(&record()).unwrap();
        for bad in ["", "{}", &good[..good.len() - 1], &good.replace("\"a\"", "\"A\""), &"x".repeat(MAX_RECORD + 1)] {
            fs_err::write(&path, bad).unwrap();
            let error = Record::load(folder.path()).unwrap_err();
            assert!(matches!(&error, VaultError::RecordDamaged { .. }), "{error}");
            assert!(error.to_string().contains(path.to_str().unwrap()));
        }
    }

    proptest! {
        #[test]
        fn no_content_is_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let folder = tempfile::tempdir().unwrap();
            fs_err::write(folder.path().join(FILE), bytes).unwrap();
            prop_assert!(Record::load(folder.path()).is_err());
        }
    }
}
