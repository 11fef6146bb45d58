//! The rows of what tools keep between their calls.

use std::io;

use ringfence_core::SourceName;
use ringfence_core::tool_state::{StateError, StateOwner, StateQuota, ToolState, WriteIf};
use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, params};
use serde_json::Value;

use crate::database::{Database, parsed};
use crate::error::StoreError;

/// How much a package keeps for one user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateRow {
    /// Whose it is.
    pub owner: StateOwner,
    /// How many keys.
    pub keys: u64,
    /// Bytes of all keys and values.
    pub bytes: u64,
}

/// What came of an attempt to write.
enum Written {
    Yes,
    Differs,
    OverQuota,
    Removed,
}

const OWNED: &str = "source = ?1 AND signer = ?2 AND package = ?3 AND user = ?4";
const BYTES: &str = "coalesce(sum(octet_length(key) + octet_length(value)), 0)";

impl Database {
    /// What is kept, by source, signer, package and user.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn tool_state(&self) -> Result<Vec<StateRow>, StoreError> {
        self.read(|connection| {
            connection
                .prepare_cached(&format!(
                    "SELECT source, signer, package, user, count(*), {BYTES} FROM tool_state GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4"
                ))?
                .query_map([], from_row)?
                .collect()
        })
    }

    /// Forgets what the tools of `source` kept, for one user or, with `None`, for all. Says how many keys that were.
    ///
    /// # Errors
    /// When it cannot be written; then nothing has changed.
    pub fn clear_tool_state(&self, source: &SourceName, user: Option<&str>) -> Result<usize, StoreError> {
        let user = user.map(|user| Value::from(user).to_string());
        self.write(|transaction| {
            transaction.execute(
                "DELETE FROM tool_state WHERE source = ?1 AND (?2 IS NULL OR user = ?2)",
                params![source.as_str(), user],
            )
        })
    }

    /// Gives what the packages of the signer `from` kept as `source` to those of `to`, in place of what these kept under
    /// the same keys. Says how many keys that were.
    ///
    /// # Errors
    /// When it cannot be written; then nothing has changed.
    pub fn give_tool_state(&self, source: &SourceName, from: &str, to: &str) -> Result<usize, StoreError> {
        self.write(|transaction| {
            transaction.execute(
                "UPDATE OR REPLACE tool_state SET signer = ?3 WHERE source = ?1 AND signer = ?2",
                [source.as_str(), from, to],
            )
        })
    }
}

impl ToolState for Database {
    fn get(&self, owner: &StateOwner, key: &str) -> io::Result<Option<Vec<u8>>> {
        self.read(|connection| value(connection, owner, key)).map_err(io::Error::other)
    }

    fn set(
        &self,
        owner: &StateOwner,
        key: &str,
        value: &[u8],
        condition: &WriteIf,
        quota: StateQuota,
    ) -> Result<bool, StateError> {
        let written = self.write(|transaction| write(transaction, owner, key, value, condition, quota));
        match written.map_err(io::Error::other)? {
            Written::Yes => Ok(true),
            Written::Differs => Ok(false),
            Written::OverQuota => Err(StateError::Quota(quota)),
            Written::Removed => Err(StateError::Removed),
        }
    }

    fn delete(&self, owner: &StateOwner, key: &str) -> io::Result<bool> {
        let [source, signer, package, user] = columns(owner);
        let removed = self.write(|transaction| {
            transaction
                .prepare_cached(&format!("DELETE FROM tool_state WHERE {OWNED} AND key = ?5"))?
                .execute(params![source, signer, package, user, key])
        });
        removed.map(|removed| removed > 0).map_err(io::Error::other)
    }

    fn keys(&self, owner: &StateOwner, prefix: &str) -> io::Result<Vec<String>> {
        let [source, signer, package, user] = columns(owner);
        self.read(|connection| {
            connection
                .prepare_cached(&format!(
                    "SELECT key FROM tool_state WHERE {OWNED} AND substr(key, 1, length(?5)) = ?5 ORDER BY key"
                ))?
                .query_map(params![source, signer, package, user, prefix], |row| row.get(0))?
                .collect()
        })
        .map_err(io::Error::other)
    }
}

fn value(connection: &Connection, owner: &StateOwner, key: &str) -> rusqlite::Result<Option<Vec<u8>>> {
    let [source, signer, package, user] = columns(owner);
    connection
        .prepare_cached(&format!("SELECT value FROM tool_state WHERE {OWNED} AND key = ?5"))?
        .query_row(params![source, signer, package, user, key], |row| row.get(0))
        .optional()
}

/// All in one transaction, so that two calls at once cannot pass the quota or a condition together.
fn write(
    transaction: &Transaction<'_>,
    owner: &StateOwner,
    key: &str,
    value: &[u8],
    condition: &WriteIf,
    quota: StateQuota,
) -> rusqlite::Result<Written> {
    let [source, signer, package, user] = columns(owner);
    // A call may outlive the removal of its package, which must find nothing left behind.
    let installed =
        transaction.prepare_cached("SELECT 1 FROM installed WHERE source = ?1")?.exists([owner.source.as_str()])?;
    if !installed {
        return Ok(Written::Removed);
    }
    if let WriteIf::Holds(expected) = condition
        && self::value(transaction, owner, key)? != *expected
    {
        return Ok(Written::Differs);
    }
    let (keys, bytes): (i64, i64) = transaction
        .prepare_cached(&format!("SELECT count(*), {BYTES} FROM tool_state WHERE {OWNED} AND key <> ?5"))?
        .query_row(params![source, signer, package, user, key], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let bytes = bytes.cast_unsigned() + key.len() as u64 + value.len() as u64;
    if keys.cast_unsigned() + 1 > quota.keys || bytes > quota.bytes {
        return Ok(Written::OverQuota);
    }
    transaction
        .prepare_cached(
            "INSERT OR REPLACE INTO tool_state (source, signer, package, user, key, value) VALUES (?1,?2,?3,?4,?5,?6)",
        )?
        .execute(params![source, signer, package, user, key, value])?;
    Ok(Written::Yes)
}

fn columns(owner: &StateOwner) -> [String; 4] {
    let user = Value::from(owner.user.clone()).to_string();
    [owner.source.as_str().to_owned(), owner.signer.clone(), owner.package.as_str().to_owned(), user]
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<StateRow> {
    let owner = StateOwner {
        source: parsed(row, 0, SourceName::try_from)?,
        signer: row.get(1)?,
        package: parsed(row, 2, SourceName::try_from)?,
        user: parsed(row, 3, |text| serde_json::from_str(&text))?,
    };
    Ok(StateRow { owner, keys: row.get::<_, i64>(4)?.cast_unsigned(), bytes: row.get::<_, i64>(5)?.cast_unsigned() })
}

#[cfg(test)]
mod tests;
