//! Reading the record from its first event on: proving that it is what this host wrote, or telling where it is not.

use std::fmt;
use std::io::{self, BufRead as _, BufReader, Read as _, Take};
use std::path::{Path, PathBuf};

use fs_err::File;

use crate::host_key::HostKey;

use super::AuditFault;
use super::line::{Line, Link, MAX_LINE, stated_mac};
use super::writer::OwnEvent;

/// A record whose chain holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// How many events it has.
    pub events: u64,
    /// Where the host once found events missing at the end, and said so.
    pub gaps: Vec<Gap>,
}

/// Events that are missing, as the host found when it was started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The first that is missing; `None` when the head was gone, so that nobody knows whether any is.
    pub from: Option<u64>,
    /// The event that says so, the first one behind the gap.
    pub until: u64,
    /// When it was found, in milliseconds since the Unix epoch.
    pub time: u64,
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.from {
            Some(from) => write!(f, "events {from} to {} are missing", self.until.saturating_sub(1)),
            None => write!(f, "events in front of {} may be missing", self.until),
        }
    }
}

/// What is read: the segments, oldest first, and of the newest one only so many bytes.
pub(super) struct Extent {
    pub(super) segments: Vec<PathBuf>,
    pub(super) length: u64,
}

/// Checks every link from the first event on, and returns the last one. `known` is an event that the host knows to have
/// written, the last one as a rule.
///
/// # Errors
/// [`AuditFault::Foreign`] where everything stands in front of what does not fit, so that this can be cut off;
/// [`AuditFault::Altered`] where cutting would take genuine events away, or nobody knows.
pub(super) fn walk(key: &HostKey, extent: &Extent, known: Option<Link>) -> Result<(Link, Verified), AuditFault> {
    let mut lines = Lines::of(extent);
    let mut walk = Walk { key, last: Link::default(), found: Verified::default() };
    let mut reached = known == Some(walk.last);
    while let Some(place) = lines.next()? {
        let line = lines.whole().and_then(Line::parse).filter(|line| line.follows(key, &walk.last.mac));
        if line.and_then(|line| walk.step(&line)).is_none() {
            return Err(walk.misfit(place, reached, &mut lines)?);
        }
        reached |= known == Some(walk.last);
    }
    Ok((walk.last, walk.found))
}

struct Walk<'a> {
    key: &'a HostKey,
    last: Link,
    found: Verified,
}

impl Walk<'_> {
    /// Goes on to `line`; `None` when it skips places without saying that they are missing.
    fn step(&mut self, line: &Line<'_>) -> Option<()> {
        let gap = match serde_json::from_str::<OwnEvent>(line.event.get()) {
            Ok(OwnEvent::Cut { from }) => Some(Some(from)),
            Ok(OwnEvent::HeadLost) => Some(None),
            Err(_) => None,
        };
        let skips = line.link.seq != self.last.seq + 1;
        if skips && gap != Some(Some(self.last.seq + 1)) {
            return None;
        }
        self.found.gaps.extend(gap.map(|from| Gap { from, until: line.link.seq, time: line.time }));
        self.found.events += 1;
        self.last = line.link;
        Some(())
    }

    /// What is wrong when the line that was read last, at `place`, does not fit. Where all that the host knows was
    /// `reached` before, and nothing behind is newer, that line is the first of something foreign.
    fn misfit(&self, place: Place<'_>, reached: bool, lines: &mut Lines<'_>) -> io::Result<AuditFault> {
        let Place { file, line, byte } = place;
        let (file, behind) = (file.to_owned(), self.genuine_behind(lines)?);
        if reached && behind == 0 {
            return Ok(AuditFault::Foreign { file, from: (byte > 0).then_some(byte) });
        }
        Ok(AuditFault::Altered { file, line, byte, before: self.found.events, behind })
    }

    /// How many events behind the line that was read last are proven to be newer ones of this host: each by what the line
    /// before it says its own seal is.
    fn genuine_behind(&self, lines: &mut Lines<'_>) -> io::Result<u64> {
        let mut count = 0;
        let mut before = lines.whole().and_then(stated_mac);
        while lines.next()?.is_some() {
            let line = lines.whole().and_then(Line::parse).filter(|line| line.link.seq > self.last.seq);
            let genuine = line.zip(before).is_some_and(|(line, before)| line.follows(self.key, &before));
            count += u64::from(genuine);
            before = lines.whole().and_then(stated_mac);
        }
        Ok(count)
    }
}

/// Where a line stands.
struct Place<'a> {
    file: &'a Path,
    /// Counted from 1.
    line: u64,
    /// Where it begins.
    byte: u64,
}

/// The lines of the record, one after the other. Of what is longer than a line can be, each piece is one.
struct Lines<'a> {
    extent: &'a Extent,
    begun: usize,
    reader: Option<Take<BufReader<File>>>,
    lines: u64,
    bytes: u64,
    text: Vec<u8>,
}

impl<'a> Lines<'a> {
    fn of(extent: &'a Extent) -> Self {
        Self { extent, begun: 0, reader: None, lines: 0, bytes: 0, text: Vec::new() }
    }

    /// Reads the next line, and says where it stands; `None` behind the last one.
    fn next(&mut self) -> io::Result<Option<Place<'a>>> {
        self.text.clear();
        loop {
            let (line, byte) = (self.lines + 1, self.bytes);
            if let Some(reader) = &mut self.reader {
                reader.take(MAX_LINE as u64).read_until(b'\n', &mut self.text)?;
            }
            if !self.text.is_empty() {
                self.lines = line;
                self.bytes += self.text.len() as u64;
                return Ok(Some(Place { file: &self.extent.segments[self.begun - 1], line, byte }));
            }
            let Some(segment) = self.extent.segments.get(self.begun) else { return Ok(None) };
            self.begun += 1;
            let newest = self.begun == self.extent.segments.len();
            let length = if newest { self.extent.length } else { u64::MAX };
            self.reader = Some(BufReader::new(File::open(segment)?).take(length));
            (self.lines, self.bytes) = (0, 0);
        }
    }

    /// The line that was read last, without its end; `None` when it has none.
    fn whole(&self) -> Option<&[u8]> {
        self.text.strip_suffix(b"\n")
    }
}
