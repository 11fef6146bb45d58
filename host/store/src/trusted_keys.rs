//! The rows of trusted keys.

use rusqlite::{OptionalExtension as _, Row, Transaction, params};

use crate::database::{Database, parsed};
use crate::error::StoreError;

/// What is recorded of a publisher's key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustedKeyRow {
    /// Id of the key.
    pub key_id: String,
    /// The public key, in base64 as minisign writes it, or what stands in the place of one.
    pub public_key: String,
    /// What the operator calls its owner.
    pub publisher: String,
    /// Patterns of the sources that it may sign.
    pub sources: Vec<String>,
    /// Milliseconds since the Unix epoch.
    pub added_at: u64,
    /// Since when and why it is no longer trusted.
    pub revoked: Option<Revocation>,
}

/// Why a key is no longer trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revocation {
    /// Milliseconds since the Unix epoch.
    pub at: u64,
    /// In the operator's words.
    pub reason: String,
}

const COLUMNS: &str = "key_id, public_key, publisher, sources, added_at, revoked_at, revoked_reason";

impl Database {
    /// All keys, revoked ones too, in the order in which they were added.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn trusted_keys(&self) -> Result<Vec<TrustedKeyRow>, StoreError> {
        self.read(|connection| {
            connection
                .prepare_cached(&format!("SELECT {COLUMNS} FROM trusted_key ORDER BY added_at, key_id"))?
                .query_map([], from_row)?
                .collect()
        })
    }

    /// The key called `key_id`, revoked or not.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn trusted_key(&self, key_id: &str) -> Result<Option<TrustedKeyRow>, StoreError> {
        self.read(|connection| {
            connection
                .prepare_cached(&format!("SELECT {COLUMNS} FROM trusted_key WHERE key_id = ?1"))?
                .query_row([key_id], from_row)
                .optional()
        })
    }

    /// Records a key, in place of what was recorded of it before.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn put_trusted_key(&self, key: &TrustedKeyRow) -> Result<(), StoreError> {
        self.write(|transaction| put_key(transaction, key))
    }

    /// Calls the owner of the key `key_id` otherwise, here and where its packages are recorded.
    ///
    /// # Errors
    /// When it cannot be written; then nothing has changed.
    pub fn rename_publisher(&self, key_id: &str, publisher: &str) -> Result<(), StoreError> {
        self.write(|transaction| {
            ["trusted_key", "installed", "pin", "grant_holder"].into_iter().try_for_each(|table| {
                let rename = format!("UPDATE {table} SET publisher = ?2 WHERE key_id = ?1");
                transaction.execute(&rename, [key_id, publisher]).map(drop)
            })
        })
    }
}

pub(crate) fn put_key(transaction: &Transaction<'_>, key: &TrustedKeyRow) -> rusqlite::Result<()> {
    let (at, reason) = key.revoked.as_ref().map(|revoked| (revoked.at.cast_signed(), &revoked.reason)).unzip();
    let sources = serde_json::Value::from(key.sources.clone()).to_string();
    transaction
        .prepare_cached(&format!("INSERT OR REPLACE INTO trusted_key ({COLUMNS}) VALUES (?1,?2,?3,?4,?5,?6,?7)"))?
        .execute(params![key.key_id, key.public_key, key.publisher, sources, key.added_at.cast_signed(), at, reason])
        .map(drop)
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<TrustedKeyRow> {
    let at: Option<i64> = row.get(5)?;
    let reason: Option<String> = row.get(6)?;
    Ok(TrustedKeyRow {
        key_id: row.get(0)?,
        public_key: row.get(1)?,
        publisher: row.get(2)?,
        sources: parsed(row, 3, |text| serde_json::from_str(&text))?,
        added_at: row.get::<_, i64>(4)?.cast_unsigned(),
        revoked: at.zip(reason).map(|(at, reason)| Revocation { at: at.cast_unsigned(), reason }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_as_they_went_in() {
        let dir = tempfile::tempdir().unwrap();
        let database = Database::open(&dir.path().join("state.db")).unwrap();
        let mut key = TrustedKeyRow {
            key_id: "0123456789ABCDEF".into(),
            public_key: "RWQ…".into(),
            publisher: "acme".into(),
            sources: vec!["weather".into(), "acme-*".into()],
            added_at: 5,
            revoked: None,
        };
        database.put_trusted_key(&key).unwrap();
        assert_eq!(database.trusted_keys().unwrap(), [key.clone()]);
        key.revoked = Some(Revocation { at: 6, reason: "leaked".into() });
        database.put_trusted_key(&key).unwrap();
        database.rename_publisher(&key.key_id, "acme corp").unwrap();
        key.publisher = "acme corp".into();
        assert_eq!(database.trusted_key("0123456789ABCDEF").unwrap(), Some(key));
    }
}
