//! The record of calls: events in a file, each chained to the one before it and authenticated with the host key.
//!
//! - [`line`]: what an event looks like, and its chain;
//! - [`segment`]: the files that the lines stand in;
//! - [`head`]: the last place, kept apart, so that a cut tail and lines that were copied behind the end are found;
//! - [`writer`]: appending, and taking up where the last process ended;
//! - [`verify`]: proving that nothing was altered;
//! - [`permitted`]: which calls were permitted last, for the rates;
//! - [`sync`]: what a power cut may take;
//! - [`index`]: the same events in SQLite, for searching. It can be deleted at any time.

mod head;
mod index;
mod line;
mod permitted;
mod segment;
mod sync;
#[cfg(test)]
mod tests;
mod verify;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use ringfence_core::audit::{AuditError, AuditEvent, AuditLog};
use ringfence_core::gates::rate::{LONGEST_PERIOD, PermittedCall};
use thiserror::Error;

use crate::Store;
use crate::digest::to_hex;
use crate::time::unix_milliseconds;
use index::Indexer;
use sync::GroupSync;
use writer::Writer;

pub use index::IndexedEvent;
pub use verify::{Gap, Verified};

/// What an event survives once the call goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// The end of the process, however it comes. Does not survive a power cut.
    #[default]
    Process,
    /// A power cut. Costs a shared write to the disk for every group of events.
    Power,
}

/// What is wrong with the record of calls.
#[derive(Debug, Error)]
pub enum AuditFault {
    /// A line is not what this host wrote, or not where it wrote it.
    #[error(
        "the audit log was altered at {} of {}, or `host.key` is not the key that wrote it: \
         keep both as evidence and restore them from a backup; to go on without, move the folder `audit` away",
        line_or_end(*.line), .file.display()
    )]
    Altered {
        /// The segment.
        file: PathBuf,
        /// Counted from 1; `None` is the end.
        line: Option<u64>,
    },
    /// Events at the end are gone.
    #[error("the audit log was cut: it ends with event {last}, but event {head} had been written")]
    Cut {
        /// The last event that is there.
        last: u64,
        /// The last event that was written.
        head: u64,
    },
    /// Something stands with the record, or behind its end, that is not of it.
    #[error("{}", foreign(.file, *.from))]
    Foreign {
        /// The file.
        file: PathBuf,
        /// Where it begins in that file, in bytes; `None`: the whole file.
        from: Option<u64>,
    },
    /// A file operation failed; the cause names the file.
    #[error("the audit log cannot be used: {0}")]
    Io(#[from] std::io::Error),
}

fn line_or_end(line: Option<u64>) -> String {
    line.map_or_else(|| "the end".into(), |line| format!("line {line}"))
}

fn foreign(file: &Path, from: Option<u64>) -> String {
    let file = file.display();
    match from {
        Some(from) => format!(
            "this host did not write there what stands in {file} behind byte {from}: keep a copy as evidence and cut it \
             off with `truncate --size={from} {file}`"
        ),
        None => format!("{file} is not of the audit log: keep it as evidence, but move it to another folder"),
    }
}

/// The record of calls of one host.
pub struct AuditFile {
    store: Arc<Store>,
    writer: Mutex<Writer>,
    sync: Option<GroupSync>,
    index: Indexer,
}

impl AuditFile {
    /// Takes up the record where the last process left it.
    ///
    /// A line that a kill left incomplete is removed: whoever wrote it was never told that it was written. When events
    /// are missing at the end, that is recorded as an event of its own, which [`verify`](Self::verify) reports for ever.
    ///
    /// # Errors
    /// [`AuditFault::Altered`] or [`AuditFault::Foreign`] when the end of the record is not what this host wrote.
    pub fn open(store: Arc<Store>, durability: Durability) -> Result<Self, AuditFault> {
        let folder = store.folder().audit();
        let writer = Writer::open(&folder, store.key())?;
        let sync = match durability {
            Durability::Process => None,
            Durability::Power => Some(GroupSync::start(writer.file())?),
        };
        let index = Indexer::start(folder)?;
        Ok(Self { store, writer: Mutex::new(writer), sync, index })
    }

    /// Reads everything and checks every link of the chain, and that nothing stands behind it.
    ///
    /// # Errors
    /// The first fault.
    pub fn verify(&self) -> Result<Verified, AuditFault> {
        // Events that are written meanwhile stand behind this end and are not looked at.
        let end = self.lock().end()?;
        verify::verify(self.store.key(), &end)
    }

    /// The place of the last event; 0 before the first one.
    pub fn place(&self) -> u64 {
        self.lock().place()
    }

    /// The calls that were permitted behind `place`, oldest first, as far as a rate still remembers them.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn permitted_behind(&self, place: u64) -> Result<Vec<PermittedCall>, AuditFault> {
        let last = self.place();
        if place == last {
            return Ok(Vec::new());
        }
        // A place that is not there yet is that of a record which was moved away since.
        let place = if place > last { 0 } else { place };
        let oldest = u64::try_from(LONGEST_PERIOD.as_millis()).unwrap_or(u64::MAX);
        permitted::behind(&self.store.folder().audit(), place, unix_milliseconds().saturating_sub(oldest))
    }

    /// The newest events, newest first.
    ///
    /// # Errors
    /// When the index cannot be brought up to date.
    pub fn recent(&self, limit: usize) -> Result<Vec<IndexedEvent>, AuditFault> {
        self.index.recent(limit)
    }

    fn lock(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl AuditLog for AuditFile {
    fn append(&self, event: &AuditEvent<'_>) -> Result<u64, AuditError> {
        let mut writer = self.lock();
        let place = writer.append(self.store.key(), event)?;
        if let Some(sync) = &self.sync {
            sync.written(place, writer.file());
        }
        Ok(place)
    }

    async fn settle(&self, place: u64) -> Result<(), AuditError> {
        match &self.sync {
            Some(sync) => Ok(sync.settle(place).await?),
            None => Ok(()),
        }
    }

    fn digest(&self, arguments: &str) -> String {
        to_hex(&self.store.key().mac("audit arguments", &[arguments.as_bytes()]))
    }
}
