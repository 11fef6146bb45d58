//! The rows of rotations: which key took the place of which.

use rusqlite::{OptionalExtension as _, params};

use crate::database::Database;
use crate::error::StoreError;
use crate::trusted_keys::{TrustedKeyRow, put_key};

/// How many keys may follow each other. A publisher who changes keys each week for a year has fewer.
const MAX_CHAIN: usize = 64;

/// A key that took the place of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RotationRow {
    /// The key that named the other one.
    pub old_key_id: String,
    /// The one that it named.
    pub new_key_id: String,
    /// What the old one signed.
    pub statement: String,
    /// Its signature of that.
    pub signature: String,
    /// Milliseconds since the Unix epoch.
    pub taken_at: u64,
}

impl Database {
    /// Records that a key took the place of another, and the new key with what it may sign: both or neither.
    ///
    /// # Errors
    /// When it cannot be written, as where the old key has another successor already; then nothing has changed.
    pub fn record_rotation(&self, rotation: &RotationRow, new: &TrustedKeyRow) -> Result<(), StoreError> {
        self.write(|transaction| {
            put_key(transaction, new)?;
            transaction
                .prepare_cached(
                    "INSERT INTO rotation (old_key_id, new_key_id, statement, signature, taken_at) VALUES (?1,?2,?3,?4,?5)",
                )?
                .execute(params![
                    rotation.old_key_id,
                    rotation.new_key_id,
                    rotation.statement,
                    rotation.signature,
                    rotation.taken_at.cast_signed()
                ])
                .map(drop)
        })
    }

    /// The key that took the place of `key_id`.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn successor(&self, key_id: &str) -> Result<Option<String>, StoreError> {
        self.read(|connection| {
            connection
                .prepare_cached("SELECT new_key_id FROM rotation WHERE old_key_id = ?1")?
                .query_row([key_id], |row| row.get(0))
                .optional()
        })
    }

    /// Whether `later` took the place of `earlier`, at once or by keys between them.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn succeeds(&self, later: &str, earlier: &str) -> Result<bool, StoreError> {
        let mut key = earlier.to_owned();
        for _ in 0..MAX_CHAIN {
            match self.successor(&key)? {
                Some(next) if next == later => return Ok(true),
                Some(next) => key = next,
                None => break,
            }
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rotate(database: &Database, old: &str, new: &str) -> Result<(), StoreError> {
        let rotation = RotationRow {
            old_key_id: old.into(),
            new_key_id: new.into(),
            statement: "s".into(),
            signature: "g".into(),
            taken_at: 5,
        };
        let key = TrustedKeyRow {
            key_id: new.into(),
            public_key: "RWQ…".into(),
            publisher: "acme".into(),
            sources: vec!["weather".into()],
            added_at: 5,
            revoked: None,
        };
        database.record_rotation(&rotation, &key)
    }

    #[test]
    fn a_key_succeeds_those_before_it_and_has_one_successor() {
        let dir = tempfile::tempdir().unwrap();
        let database = Database::open(&dir.path().join("state.db")).unwrap();
        rotate(&database, "A", "B").unwrap();
        rotate(&database, "B", "C").unwrap();
        for (later, earlier, expected) in [
            ("B", "A", true),
            ("C", "A", true),
            ("C", "B", true),
            ("A", "B", false),
            ("A", "A", false),
            ("X", "A", false),
        ] {
            assert_eq!(database.succeeds(later, earlier).unwrap(), expected, "{later} {earlier}");
        }
        assert!(rotate(&database, "A", "D").is_err());
        assert_eq!(database.trusted_key("D").unwrap(), None, "both or neither");
    }
}
