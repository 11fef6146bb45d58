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
use std::time::Duration;

use async_trait::async_trait;
use ringfence_core::audit::{AuditError, AuditEvent, AuditLog};
use ringfence_core::gates::rate::PermittedCall;
use thiserror::Error;

use crate::Store;
use crate::digest::to_hex;
use crate::time::unix_milliseconds;
use index::Indexer;
use permitted::Since;
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
    /// A line is not what this host wrote, or not where it wrote it, and what stands behind it may be genuine.
    #[error("{}", altered(.file, *.line, *.byte, *.before, *.behind))]
    Altered {
        /// The segment.
        file: PathBuf,
        /// The first line that does not fit, counted from 1.
        line: u64,
        /// Where that begins in its file, in bytes.
        byte: u64,
        /// How many events stand in front of it, all of them genuine.
        before: u64,
        /// How many behind it are proven to be genuine.
        behind: u64,
    },
    /// Events at the end are gone.
    #[error(
        "the audit log was cut: it ends with event {last}, but event {head} had been written; look for the rest in a backup"
    )]
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
    /// The file is not as this process left it, so nothing can be recorded behind it.
    #[error(
        "{} was changed by somebody else while ringfence was using it: run `ringfence audit --verify`, which says where \
         and what to do", .file.display()
    )]
    Changed {
        /// The segment.
        file: PathBuf,
    },
    /// A file operation failed; the cause names the file.
    #[error("the audit log cannot be used: {0}")]
    Io(#[from] std::io::Error),
}

fn altered(file: &Path, line: u64, byte: u64, before: u64, behind: u64) -> String {
    let file = file.display();
    let key = if before + behind == 0 { ", unless `host.key` is not the key that wrote it" } else { "" };
    format!(
        "the audit log was altered: line {line} of {file}, which begins behind byte {byte}, is not what this host wrote \
         there{key}. Genuine are all {before} events in front of it and {behind} or more behind it, so cut nothing off: \
         keep the folder `audit` and `host.key` as evidence and restore them from a backup; to go on without, move the \
         folder `audit` away"
    )
}

fn foreign(file: &Path, from: Option<u64>) -> String {
    let file = file.display();
    match from {
        Some(from) => format!(
            "this host did not write there what stands in {file} behind byte {from}, and all events that it wrote stand in \
             front: keep a copy as evidence and cut it off with `truncate --size={from} {file}`"
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
    /// [`AuditFault::Altered`] or [`AuditFault::Foreign`] when the record is not what this host wrote, as far as its end
    /// tells. Nothing of it is changed then.
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
        let (end, extent) = self.lock().end()?;
        let (last, verified) = verify::walk(self.store.key(), &extent, Some(end))?;
        if last != end {
            return Err(AuditFault::Cut { last: last.seq, head: end.seq });
        }
        Ok(verified)
    }

    /// The place of the last event; 0 before the first one.
    pub fn place(&self) -> u64 {
        self.lock().place()
    }

    /// The calls that were permitted behind `place`, which was the last one so long ago, oldest first, as far as a rate
    /// still remembers them.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn permitted_behind(&self, place: u64, passed: Duration) -> Result<Vec<PermittedCall>, AuditFault> {
        let last = self.place();
        if place == last {
            return Ok(Vec::new());
        }
        // A place that is not there yet is that of a record which was moved away since.
        let (place, passed) = if place > last { (0, Duration::MAX) } else { (place, passed) };
        let folder = self.store.folder().audit();
        match permitted::behind(&folder, Since { place, passed }, unix_milliseconds())? {
            Some(calls) => Ok(calls),
            None => Err(self.verify().err().unwrap_or(AuditFault::Changed { file: folder })),
        }
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
