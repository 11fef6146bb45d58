//! The SQLite database: how it is opened, migrated and written. The rows have a file each.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rusqlite::types::Type;
use rusqlite::{Connection, ErrorCode, Row, Transaction, TransactionBehavior};

use crate::error::StoreError;
use crate::folder::make_private_database;

/// The steps from an empty database to the present schema; `user_version` counts those that were taken.
const MIGRATIONS: [&str; 8] = [
    include_str!("schema/1.sql"),
    include_str!("schema/2.sql"),
    include_str!("schema/3.sql"),
    include_str!("schema/4.sql"),
    include_str!("schema/5.sql"),
    include_str!("schema/6.sql"),
    include_str!("schema/7.sql"),
    include_str!("schema/8.sql"),
];

/// How long to wait for another connection. Only a person with the `sqlite3` tool could hold one: the folder is locked.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// The database of a state folder. One connection behind a lock: writers never meet.
pub struct Database {
    path: PathBuf,
    connection: Mutex<Connection>,
}

impl Database {
    /// Opens the database at `path`, makes it when it is not there, and brings its schema up to date.
    ///
    /// # Errors
    /// [`StoreError::NewerSchema`] when a later ringfence wrote it, [`StoreError::Damaged`] when it is no database.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::connect(path)?.migrated()
    }

    /// Opens the database at `path`, which was made before, and brings its schema up to date.
    ///
    /// # Errors
    /// [`StoreError::DatabaseLost`] when it is not there or has nothing in it; nothing is changed then. Else as
    /// [`open`](Self::open).
    pub fn reopen(path: &Path) -> Result<Self, StoreError> {
        let lost = |found| Err(StoreError::DatabaseLost { path: path.to_owned(), found });
        let length = match fs_err::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return lost("is gone"),
            metadata => metadata?.len(),
        };
        if length == 0 {
            // Before it is opened: SQLite would take what lies beside it for left over, and remove that.
            return lost("is empty");
        }
        let database = Self::connect(path)?;
        if database.read(schema_version)? == 0 {
            return lost("has no tables");
        }
        database.migrated()
    }

    fn connect(path: &Path) -> Result<Self, StoreError> {
        make_private_database(path)?;
        let connection = Connection::open(path).map_err(|error| explain(path, error))?;
        prepare(&connection).map_err(|error| explain(path, error))?;
        Ok(Self { path: path.to_owned(), connection: Mutex::new(connection) })
    }

    fn migrated(mut self) -> Result<Self, StoreError> {
        migrate(self.connection.get_mut().unwrap_or_else(PoisonError::into_inner), &self.path)?;
        Ok(self)
    }

    /// Reads.
    pub(crate) fn read<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        work(&connection).map_err(|error| explain(&self.path, error))
    }

    /// Writes all that `work` writes, or nothing. It is on the disk when this returns.
    pub(crate) fn write<T>(&self, work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let committed = (|| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let result = work(&transaction)?;
            transaction.commit()?;
            Ok(result)
        })();
        committed.map_err(|error| explain(&self.path, error))
    }
}

/// FULL, because what was acknowledged has to outlive a power cut; the write-ahead log makes that one sync a commit.
fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", "full")
}

/// How many of the steps were taken; 0 in a database that has nothing in it.
fn schema_version(connection: &Connection) -> rusqlite::Result<u32> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

fn migrate(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    let version = schema_version(connection).map_err(|error| explain(path, error))?;
    let known = MIGRATIONS.len() as u32;
    if version > known {
        return Err(StoreError::NewerSchema { path: path.to_owned(), found: version, known });
    }
    if version == known {
        return Ok(());
    }
    let migrated = (|| {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for step in &MIGRATIONS[version as usize..] {
            transaction.execute_batch(step)?;
        }
        transaction.pragma_update(None, "user_version", known)?;
        transaction.commit()
    })();
    migrated.map_err(|error| explain(path, error))
}

/// Tells damage, which needs a backup, from trouble that passes.
fn explain(path: &Path, source: rusqlite::Error) -> StoreError {
    let damaged = match &source {
        rusqlite::Error::FromSqlConversionFailure(..)
        | rusqlite::Error::InvalidColumnType(..)
        | rusqlite::Error::IntegralValueOutOfRange(..) => true,
        other => matches!(other.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)),
    };
    let path = path.to_owned();
    if damaged { StoreError::Damaged { path, source } } else { StoreError::Database { path, source } }
}

/// The text in `column`, through `parse`.
pub(crate) fn parsed<T, E>(
    row: &Row<'_>,
    column: usize,
    parse: impl FnOnce(String) -> Result<T, E>,
) -> rusqlite::Result<T>
where
    E: Error + Send + Sync + 'static,
{
    parse(row.get(column)?)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_schema_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.db");
        drop(Database::open(&path).unwrap());
        Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
        let error = Database::open(&path).err().unwrap();
        assert!(matches!(error, StoreError::NewerSchema { found: 99, .. }), "{error}");
    }

    #[test]
    fn what_was_kept_before_signers_counted_is_that_of_who_is_installed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.db");
        let before = Connection::open(&path).unwrap();
        MIGRATIONS[..5].iter().for_each(|step| before.execute_batch(step).unwrap());
        before.pragma_update(None, "user_version", 5).unwrap();
        let insert = "INSERT INTO installed VALUES ('a', '1.0.0', 'acme', 'd', 'AB', 'sig', 0, 0, '{}', NULL);
                      INSERT INTO installed VALUES ('b', '1.0.0', 'acme', 'd', NULL, NULL, 0, 0, '{}', NULL);
                      INSERT INTO tool_state VALUES ('a', 'p', 'null', 'k', x'01');
                      INSERT INTO tool_state VALUES ('b', 'p', 'null', 'k', x'02');";
        before.execute_batch(insert).unwrap();
        drop(before);
        let rows = Database::open(&path).unwrap().tool_state().unwrap();
        let signers: Vec<_> = rows.iter().map(|row| (row.owner.source.as_str(), row.owner.signer.as_str())).collect();
        assert_eq!(signers, [("a", "AB"), ("b", "unsigned/acme")]);
    }

    #[test]
    fn what_is_no_database_is_called_damaged() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.db");
        fs_err::write(&path, "not a database at all, though long enough to be taken for one".repeat(100)).unwrap();
        let error = Database::open(&path).err().unwrap();
        assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
        assert!(error.to_string().contains("restore it from a backup"));
    }

    #[test]
    fn nobody_else_reads_it_or_what_lies_beside_it() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.db");
        // As one was made before, too.
        fs_err::write(&path, "").unwrap();
        fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        let database = Database::open(&path).unwrap();
        database.write(|rows| rows.execute("INSERT INTO rate_bucket VALUES ('{}', 's', 't', 1, 2)", [])).unwrap();
        for entry in fs_err::read_dir(dir.path()).unwrap() {
            let entry = entry.unwrap();
            let mode = entry.metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{}", entry.path().display());
        }
    }

    #[test]
    fn a_failed_write_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let database = Database::open(&dir.path().join("state.db")).unwrap();
        let failed = database.write(|transaction| {
            transaction.execute("INSERT INTO rate_bucket VALUES ('{}', 's', 't', 1, 2)", [])?;
            transaction.execute("INSERT INTO nowhere VALUES (1)", [])
        });
        let Err(StoreError::Database { source, .. }) = &failed else { panic!("{failed:?}") };
        assert!(source.to_string().contains("nowhere"), "{source}");
        let rows: i64 = database
            .read(|connection| connection.query_row("SELECT count(*) FROM rate_bucket", [], |row| row.get(0)))
            .unwrap();
        assert_eq!(rows, 0);
    }
}
