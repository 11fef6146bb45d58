//! The events in SQLite, for searching. The segments are the record; this is a copy that is brought up to date behind
//! the calls and can be deleted at any time. It proves nothing.

use std::io::{BufRead as _, BufReader, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use fs_err::File;
use rusqlite::{Connection, OptionalExtension as _, Transaction, params};
use serde::Deserialize;

use super::line::Line;
use super::{AuditFault, segment};
use crate::folder::make_private_database;

/// How often the index follows the record, and how many events it takes at a time: under load it stays behind rather
/// than take a processor from the calls. A query takes up the rest.
const EVERY: Duration = Duration::from_secs(1);
const BATCH: usize = 4096;

/// Raised when the tables change; an index of another version is made anew.
const VERSION: u32 = 3;

const TABLES: &str = "
    CREATE TABLE event (
        seq INTEGER PRIMARY KEY, time INTEGER NOT NULL, event TEXT NOT NULL, call TEXT, tool TEXT, origin TEXT,
        outcome TEXT, parent TEXT, user TEXT
    ) STRICT;
    CREATE INDEX event_of_call ON event (call);
    CREATE TABLE followed (segment TEXT PRIMARY KEY, offset INTEGER NOT NULL) STRICT;";

/// One event, as far as it can be searched for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexedEvent {
    /// Its place in the record.
    pub seq: u64,
    /// Milliseconds since the Unix epoch.
    pub time: u64,
    /// What happened: `opened`, `permitted`, `closed`, `abandoned`, `cut` or `head_lost`.
    pub event: String,
    /// To which call.
    pub call: Option<String>,
    /// Of which tool, where the event says so.
    pub tool: Option<String>,
    /// How that tool came to be here, where the event says so; `unsigned` among others.
    pub origin: Option<String>,
    /// How it ended, where it did; or the secret that it gave out.
    pub outcome: Option<String>,
    /// The call that made it, where a tool did and the event says so.
    pub parent: Option<String>,
    /// The person that it was made for, where the event says so.
    pub user: Option<String>,
}

/// The part of an event's JSON that is indexed.
#[derive(Deserialize)]
struct Searchable {
    event: String,
    call: Option<String>,
    tool: Option<String>,
    origin: Option<String>,
    outcome: Option<String>,
    parent: Option<String>,
    secret: Option<String>,
    #[serde(default)]
    caller: Caller,
}

/// The part of a caller that is indexed.
#[derive(Default, Deserialize)]
struct Caller {
    user: Option<String>,
}

/// The index, and the thread that keeps it up to date.
pub(super) struct Indexer {
    index: Arc<Mutex<Index>>,
    stop: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

struct Index {
    folder: PathBuf,
    connection: Connection,
}

impl Indexer {
    pub(super) fn start(folder: PathBuf) -> Result<Self, AuditFault> {
        let connection = open(&folder.join("index.db"))?;
        let index = Arc::new(Mutex::new(Index { folder, connection }));
        let (stop, stopped) = mpsc::channel();
        let thread = std::thread::Builder::new().name("audit-index".into()).spawn({
            let index = index.clone();
            move || follow(&index, &stopped)
        })?;
        Ok(Self { index, stop: Some(stop), thread: Some(thread) })
    }

    pub(super) fn recent(&self, limit: usize) -> Result<Vec<IndexedEvent>, AuditFault> {
        let mut index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        while index.catch_up()? > 0 {}
        Ok(index.recent(limit).map_err(std::io::Error::other)?)
    }
}

impl Drop for Indexer {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// Follows the record until nobody needs the index any more.
fn follow(index: &Mutex<Index>, stopped: &mpsc::Receiver<()>) {
    loop {
        let caught_up = index.lock().unwrap_or_else(PoisonError::into_inner).catch_up();
        if let Err(error) = caught_up {
            tracing::warn!(%error, "the index of the audit log is not kept up to date any more; the log itself is");
            return;
        }
        if stopped.recv_timeout(EVERY) != Err(RecvTimeoutError::Timeout) {
            return;
        }
    }
}

/// Opens the index, or makes it anew when it cannot be used: it is a copy.
fn open(path: &Path) -> std::io::Result<Connection> {
    make_private_database(path).map_err(std::io::Error::other)?;
    let usable = Connection::open(path).and_then(|connection| {
        // Losing the last events to a power cut costs nothing: they are read again.
        connection.pragma_update(None, "journal_mode", "wal")?;
        connection.pragma_update(None, "synchronous", "normal")?;
        let version: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        Ok((connection, version))
    });
    if let Ok((connection, VERSION)) = usable {
        return Ok(connection);
    }
    for suffix in ["", "-wal", "-shm"] {
        let mut file = path.as_os_str().to_owned();
        file.push(suffix);
        // What is not there need not be removed; what cannot be shows when the tables are made.
        drop(fs_err::remove_file(PathBuf::from(file)));
    }
    make_private_database(path).map_err(std::io::Error::other)?;
    made(path).map_err(std::io::Error::other)
}

/// A new index in an empty file.
fn made(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", "normal")?;
    connection.execute_batch(&format!("BEGIN; {TABLES} PRAGMA user_version = {VERSION}; COMMIT;"))?;
    Ok(connection)
}

impl Index {
    /// Takes up to a batch of events out of each segment that has grown, and says how many there were.
    fn catch_up(&mut self) -> Result<usize, AuditFault> {
        let mut taken = 0;
        for segment in segment::list(&self.folder)? {
            let name = segment.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let offset = self.followed(&name).map_err(std::io::Error::other)?;
            let mut file = File::open(&segment)?;
            if file.metadata()?.len() > offset {
                file.seek(SeekFrom::Start(offset))?;
                taken += self.take(&name, offset, BufReader::new(file))?;
            }
        }
        Ok(taken)
    }

    fn followed(&self, segment: &str) -> rusqlite::Result<u64> {
        let mut statement = self.connection.prepare_cached("SELECT offset FROM followed WHERE segment = ?1")?;
        let offset: Option<i64> = statement.query_row([segment], |row| row.get(0)).optional()?;
        Ok(offset.unwrap_or(0).cast_unsigned())
    }

    fn take(&mut self, segment: &str, mut offset: u64, mut reader: BufReader<File>) -> Result<usize, AuditFault> {
        let transaction = self.connection.transaction().map_err(std::io::Error::other)?;
        let mut text = Vec::new();
        let mut taken = 0;
        while taken < BATCH {
            text.clear();
            reader.read_until(b'\n', &mut text)?;
            // A line without its end is still being written.
            let Some(line) = text.strip_suffix(b"\n") else { break };
            insert(&transaction, line).map_err(std::io::Error::other)?;
            offset += text.len() as u64;
            taken += 1;
        }
        transaction
            .execute(
                "INSERT OR REPLACE INTO followed (segment, offset) VALUES (?1, ?2)",
                params![segment, offset.cast_signed()],
            )
            .and_then(|_| transaction.commit())
            .map_err(std::io::Error::other)?;
        Ok(taken)
    }

    fn recent(&self, limit: usize) -> rusqlite::Result<Vec<IndexedEvent>> {
        self.connection
            .prepare_cached(
                "SELECT seq, time, event, call, tool, origin, outcome, parent, user FROM event ORDER BY seq DESC LIMIT ?1",
            )?
            .query_map([i64::try_from(limit).unwrap_or(i64::MAX)], |row| {
                Ok(IndexedEvent {
                    seq: row.get::<_, i64>(0)?.cast_unsigned(),
                    time: row.get::<_, i64>(1)?.cast_unsigned(),
                    event: row.get(2)?,
                    call: row.get(3)?,
                    tool: row.get(4)?,
                    origin: row.get(5)?,
                    outcome: row.get(6)?,
                    parent: row.get(7)?,
                    user: row.get(8)?,
                })
            })?
            .collect()
    }
}

/// Indexes one line. A line that is not one is left out: finding it is the business of verification.
fn insert(transaction: &Transaction<'_>, text: &[u8]) -> rusqlite::Result<()> {
    let Some(line) = Line::parse(text) else { return Ok(()) };
    let Ok(event) = serde_json::from_str::<Searchable>(line.event.get()) else { return Ok(()) };
    transaction
        .prepare_cached("INSERT OR REPLACE INTO event VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")?
        .execute(params![
            line.link.seq.cast_signed(),
            line.time.cast_signed(),
            event.event,
            event.call,
            event.tool,
            event.origin,
            event.outcome.or(event.secret),
            event.parent,
            event.caller.user
        ])
        .map(drop)
}
