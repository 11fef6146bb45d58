//! Appending to the record, and taking it up again.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fs_err::File;
use serde::{Deserialize, Serialize};

use crate::host_key::HostKey;
use crate::time::unix_milliseconds;

use super::AuditFault;
use super::head::{Head, HeadFile};
use super::line::{Line, Link, MAX_LINE, encode};
use super::segment::{self, Segment};

/// The end of the record, where events are appended.
pub(super) struct Writer {
    folder: PathBuf,
    segment: Segment,
    head: HeadFile,
    last: Link,
    line: Vec<u8>,
}

/// Where the record ends, and the files that it stands in, oldest first.
pub(super) struct End {
    pub(super) last: Link,
    pub(super) segments: Vec<PathBuf>,
}

/// What the record says of itself.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "event")]
pub(super) enum OwnEvent {
    /// When the host came back, the events from here to the one that says so were missing.
    Cut {
        /// The first that is missing.
        from: u64,
    },
    /// When the host came back, the head was gone: whether something is missing in front of this event is not known.
    HeadLost,
}

impl Writer {
    pub(super) fn open(folder: &Path, key: &HostKey) -> Result<Self, AuditFault> {
        let (segment, last) = take_up(folder, key)?;
        let head = HeadFile::open(folder)?;
        let known = head.read(key)?;
        known.map_or(Ok(()), |known| check_behind(&segment, known, key))?;
        let known = known.map(|known| known.link);
        let mut writer = Self { folder: folder.to_owned(), segment, head, last, line: Vec::new() };
        match known {
            None if last.seq > 0 => writer.record(key, last.seq + 1, &OwnEvent::HeadLost)?,
            Some(known) if known.seq > last.seq => {
                tracing::error!(fault = %AuditFault::Cut { last: last.seq, head: known.seq }, "events are missing");
                writer.record(key, known.seq + 1, &OwnEvent::Cut { from: last.seq + 1 })?;
            }
            _ => {}
        }
        Ok(writer)
    }

    /// Writes one event and returns its place.
    pub(super) fn append(&mut self, key: &HostKey, event: &impl Serialize) -> io::Result<u64> {
        let place = self.last.seq + 1;
        self.record(key, place, event)?;
        Ok(place)
    }

    /// The end of the record as it is now.
    ///
    /// # Errors
    /// [`AuditFault::Foreign`] when something stands behind it.
    pub(super) fn end(&self) -> Result<End, AuditFault> {
        let segments = segment::list(&self.folder)?;
        if let Some(behind) = segments.last().filter(|newest| newest.as_path() > self.segment.path()) {
            return Err(AuditFault::Foreign { file: behind.clone(), from: None });
        }
        // Of what was cut off, the chain tells more.
        match self.segment.check_end() {
            Ok(()) | Err(AuditFault::Altered { .. }) => Ok(End { last: self.last, segments }),
            Err(fault) => Err(fault),
        }
    }

    /// The place of the last event.
    pub(super) fn place(&self) -> u64 {
        self.last.seq
    }

    /// The file that the last event stands in.
    pub(super) fn file(&self) -> &Arc<File> {
        self.segment.file()
    }

    fn record(&mut self, key: &HostKey, place: u64, event: &impl Serialize) -> io::Result<()> {
        if self.segment.is_full() {
            // A segment that is left is made safe for good: nothing looks after it any more.
            self.segment.file().sync_data()?;
            self.segment = Segment::begin(&self.folder, place)?;
        }
        let link = encode(&mut self.line, key, &self.last.mac, place, unix_milliseconds(), event)?;
        if self.line.len() > MAX_LINE {
            let told =
                format!("an event of {} bytes is longer than the {MAX_LINE} that a line may have", self.line.len());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, told));
        }
        self.segment.append(&self.line)?;
        let head = Head { link, length: Some(self.segment.length()) };
        if let Err(error) = self.head.write(key, head) {
            self.segment.take_back(self.line.len() as u64)?;
            return Err(error);
        }
        self.last = link;
        Ok(())
    }
}

/// Opens the newest segment that holds an event, and finds the end of the chain in it.
fn take_up(folder: &Path, key: &HostKey) -> Result<(Segment, Link), AuditFault> {
    let mut segments = segment::list(folder)?;
    while let Some(newest) = segments.pop() {
        let segment = Segment::open(&newest)?;
        if segment.is_empty() {
            // Begun, but killed before its first event was whole.
            fs_err::remove_file(segment.path())?;
            continue;
        }
        let last = end_of_chain(segment.path(), segments.last().map(PathBuf::as_path), key)?;
        return Ok((segment, last));
    }
    Ok((Segment::begin(folder, 1)?, Link::default()))
}

/// Checks that what stands behind the end that the `head` knows goes on from there: a kill may have left a line more. A
/// block of lines that was copied behind it is a chain in itself, and would else be taken for the end.
fn check_behind(segment: &Segment, head: Head, key: &HostKey) -> Result<(), AuditFault> {
    let Some(mut end) = head.length.filter(|_| segment.holds(head.link.seq)) else { return Ok(()) };
    let mut link = head.link;
    for text in segment::behind(segment.path(), end)?.split_inclusive(|b| *b == b'\n') {
        let line = text.strip_suffix(b"\n").and_then(Line::parse).filter(|line| line.follows(key, &link.mac));
        let foreign = || AuditFault::Foreign { file: segment.path().to_owned(), from: Some(end) };
        link = line.ok_or_else(foreign)?.link;
        end += text.len() as u64;
    }
    Ok(())
}

/// The last link of `segment`, checked against the one before it, which may stand in the `previous` segment.
fn end_of_chain(segment: &Path, previous: Option<&Path>, key: &HostKey) -> Result<Link, AuditFault> {
    let altered = || AuditFault::Altered { file: segment.to_owned(), line: None };
    let text = segment::last_lines(segment)?;
    let mut lines = lines_of(&text);
    let last = lines.next().and_then(Line::parse).ok_or_else(altered)?;
    let before = match (lines.next(), previous) {
        (Some(line), _) => Line::parse(line).ok_or_else(altered)?.link,
        (None, Some(previous)) => last_link(previous)?,
        (None, None) => Link::default(),
    };
    if last.follows(key, &before.mac) { Ok(last.link) } else { Err(altered()) }
}

fn last_link(segment: &Path) -> Result<Link, AuditFault> {
    let text = segment::last_lines(segment)?;
    let last = lines_of(&text).next().and_then(Line::parse);
    last.map(|line| line.link).ok_or_else(|| AuditFault::Altered { file: segment.to_owned(), line: None })
}

/// The lines of `text`, last one first. An empty one is a line as well, and none that this host wrote.
pub(super) fn lines_of(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.strip_suffix(b"\n").unwrap_or(text).rsplit(|b| *b == b'\n')
}
