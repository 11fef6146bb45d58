//! The rows of those who hold grants.

use ringfence_core::SourceName;
use rusqlite::{OptionalExtension as _, Row, params};

use crate::database::Database;
use crate::error::StoreError;

/// Whose package a grant was given to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantHolder {
    /// Id of the key that signed it; `None` when it was unsigned.
    pub key_id: Option<String>,
    /// Who made it.
    pub publisher: String,
}

impl Database {
    /// To whom the grant of `source` was given; `None` where that was never recorded.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn grant_holder(&self, source: &SourceName) -> Result<Option<GrantHolder>, StoreError> {
        self.read(|connection| {
            connection
                .prepare_cached("SELECT key_id, publisher FROM grant_holder WHERE source = ?1")?
                .query_row([source.as_str()], from_row)
                .optional()
        })
    }

    /// Records to whom the grant of `source` is given, in place of whom it was given to before.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn put_grant_holder(&self, source: &SourceName, holder: &GrantHolder) -> Result<(), StoreError> {
        self.write(|transaction| {
            transaction
                .prepare_cached("INSERT OR REPLACE INTO grant_holder (source, key_id, publisher) VALUES (?1,?2,?3)")?
                .execute(params![source.as_str(), holder.key_id, holder.publisher])
                .map(drop)
        })
    }

    /// Forgets to whom the grant of `source` was given.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn forget_grant_holder(&self, source: &SourceName) -> Result<(), StoreError> {
        self.write(|transaction| {
            transaction.execute("DELETE FROM grant_holder WHERE source = ?1", [source.as_str()]).map(drop)
        })
    }
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<GrantHolder> {
    Ok(GrantHolder { key_id: row.get(0)?, publisher: row.get(1)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grant_has_one_holder_until_that_is_forgotten() {
        let dir = tempfile::tempdir().unwrap();
        let database = Database::open(&dir.path().join("state.db")).unwrap();
        let source: SourceName = "weather".to_owned().try_into().unwrap();
        assert_eq!(database.grant_holder(&source).unwrap(), None);
        for key_id in [Some("0123456789ABCDEF".to_owned()), None] {
            let holder = GrantHolder { key_id, publisher: "acme".into() };
            database.put_grant_holder(&source, &holder).unwrap();
            assert_eq!(database.grant_holder(&source).unwrap(), Some(holder));
        }
        database.forget_grant_holder(&source).unwrap();
        assert_eq!(database.grant_holder(&source).unwrap(), None);
    }
}
