//! Appending to the record, and taking it up again.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fs_err::File;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::host_key::HostKey;
use crate::time::unix_milliseconds;

use super::AuditFault;
use super::head::{Head, HeadFile};
use super::line::{Line, Link, MAX_LINE, encode};
use super::segment::{self, Segment};
use super::verify::{Extent, walk};

/// The end of the record, where events are appended.
pub(super) struct Writer {
    folder: PathBuf,
    segment: Segment,
    head: HeadFile,
    last: Link,
    line: Vec<u8>,
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
        let head = HeadFile::open(folder)?;
        let known = head.read(key)?;
        let (mut segment, last) = take_up(folder, key, known)?;
        segment.tidy()?;
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

    /// The last event, and all that stands in the files of the record now.
    ///
    /// # Errors
    /// [`AuditFault::Foreign`] when there is a file behind the last one.
    pub(super) fn end(&self) -> Result<(Link, Extent), AuditFault> {
        let segments = segment::list(&self.folder)?;
        if let Some(behind) = segments.last().filter(|newest| newest.as_path() > self.segment.path()) {
            return Err(AuditFault::Foreign { file: behind.clone(), from: None });
        }
        Ok((self.last, Extent { segments, length: self.segment.file_length()? }))
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

/// Opens the newest segment that holds an event, and finds the end of the chain in it. Where its last lines and the head
/// do not agree on that, the whole record is read: nothing is cut off, and no advice to is given, before that is done.
fn take_up(folder: &Path, key: &HostKey, known: Option<Head>) -> Result<(Segment, Link), AuditFault> {
    let mut segments = segment::list(folder)?;
    while let Some((newest, older)) = segments.split_last() {
        let segment = Segment::open(newest)?;
        let here = known.filter(|head| segment.holds(head.link.seq));
        let length = match length_of_lines(&segment, here)? {
            0 if !is_begun(&segment)? => segment.file_length()?,
            length => length,
        };
        if length == 0 {
            // Begun, but killed before its first event was whole.
            fs_err::remove_file(segment.path())?;
            segments.pop();
            continue;
        }
        if let Some(last) = last_of_chain(&segment, older.last(), key)?
            && agrees(&segment, here, last, key)?
        {
            return Ok((segment, last));
        }
        let (last, _) = walk(key, &Extent { segments, length }, known.map(|known| known.link))?;
        return Ok((segment, last));
    }
    Ok((Segment::begin(folder, 1)?, Link::default()))
}

/// Whether `segment`, which has no line, holds at most the beginning of an event. What is whole, or none of ours, was not
/// left by a kill.
fn is_begun(segment: &Segment) -> io::Result<bool> {
    let text = segment::part(segment.path(), 0, segment.file_length()?.min(MAX_LINE as u64))?;
    let mut values = serde_json::Deserializer::from_slice(&text).into_iter::<IgnoredAny>();
    Ok(values.next().is_none_or(|value| value.is_err_and(|error| error.is_eof())))
}

/// How much of `segment` has to be lines. What is behind them may be what a kill or a power cut left of one. That it is
/// not when the last event ends behind it, in a file that is no shorter than it was then.
fn length_of_lines(segment: &Segment, head: Option<Head>) -> io::Result<u64> {
    let (lines, all) = (segment.length(), segment.file_length()?);
    let altered = head.and_then(|head| head.length).is_some_and(|end| lines < end && end <= all);
    Ok(if altered { all } else { lines })
}

/// The last link of `segment`, if it follows the one before it, which may stand in the `previous` segment; `None` in the
/// copy of another segment.
fn last_of_chain(segment: &Segment, previous: Option<&PathBuf>, key: &HostKey) -> io::Result<Option<Link>> {
    if segment::is_foreign(segment.path())? {
        return Ok(None);
    }
    let text = segment::last_lines(segment.path(), segment.length())?;
    let mut lines = lines_of(&text);
    let Some(last) = lines.next().and_then(Line::parse) else { return Ok(None) };
    let before = match (lines.next(), previous) {
        (Some(line), _) => Line::parse(line).map(|line| line.link),
        (None, Some(previous)) => last_link(previous)?,
        (None, None) => Some(Link::default()),
    };
    Ok(before.filter(|before| last.follows(key, &before.mac)).map(|_| last.link))
}

fn last_link(segment: &Path) -> io::Result<Option<Link>> {
    let text = segment::last_lines(segment, fs_err::metadata(segment)?.len())?;
    Ok(lines_of(&text).next().and_then(Line::parse).map(|line| line.link))
}

/// Whether `segment` ends with the event that the `head` knows, at the byte where that ended, or goes on from there to
/// `last`: a kill may have left a line more. A block of lines that was copied behind it is a chain in itself, and would
/// else be taken for the end; and what was put in or left out in front of it has moved it.
fn agrees(segment: &Segment, head: Option<Head>, last: Link, key: &HostKey) -> io::Result<bool> {
    let Some(Head { mut link, length: Some(end) }) = head else { return Ok(true) };
    let length = segment.length();
    if end > length || length - end > MAX_LINE as u64 {
        return Ok(false);
    }
    for text in segment::part(segment.path(), end, length)?.split_inclusive(|b| *b == b'\n') {
        let line = text.strip_suffix(b"\n").and_then(Line::parse).filter(|line| line.follows(key, &link.mac));
        let Some(line) = line else { return Ok(false) };
        link = line.link;
    }
    Ok(link == last)
}

/// The lines of `text`, last one first. An empty one is a line as well, and none that this host wrote.
pub(super) fn lines_of(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.strip_suffix(b"\n").unwrap_or(text).rsplit(|b| *b == b'\n')
}
