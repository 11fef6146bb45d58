//! Proving that the record is what this host wrote, from the first event to the last.

use std::fmt;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

use crate::host_key::HostKey;

use super::AuditFault;
use super::line::{Line, Link, MAX_LINE};
use super::writer::{End, OwnEvent};

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

struct Walk<'a> {
    key: &'a HostKey,
    end: Link,
    last: Link,
    found: Verified,
}

/// Checks every link from the first event to `end`.
pub(super) fn verify(key: &HostKey, end: &End) -> Result<Verified, AuditFault> {
    let mut walk = Walk { key, end: end.last, last: Link::default(), found: Verified::default() };
    for segment in &end.segments {
        walk.segment(segment)?;
    }
    if walk.last != end.last {
        return Err(AuditFault::Cut { last: walk.last.seq, head: end.last.seq });
    }
    Ok(walk.found)
}

impl Walk<'_> {
    fn segment(&mut self, path: &Path) -> Result<(), AuditFault> {
        let mut reader = BufReader::new(fs_err::File::open(path)?);
        let mut text = Vec::new();
        let mut number = 0;
        while self.last != self.end {
            text.clear();
            (&mut reader).take(MAX_LINE as u64).read_until(b'\n', &mut text)?;
            if text.is_empty() {
                return Ok(());
            }
            number += 1;
            let whole = text.strip_suffix(b"\n").and_then(Line::parse);
            let line = whole.filter(|line| line.follows(self.key, &self.last.mac));
            let altered = || AuditFault::Altered { file: path.to_owned(), line: Some(number) };
            self.step(&line.ok_or_else(altered)?).ok_or_else(altered)?;
        }
        Ok(())
    }

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
}
