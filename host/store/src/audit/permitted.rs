//! Reading the record backwards: which calls were permitted last.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::time::Duration;

use fs_err::File;
use fs_err::os::unix::fs::FileExt as _;
use ringfence_core::gates::rate::{LONGEST_PERIOD, PermittedCall};
use ringfence_core::{Caller, ToolId};
use serde::Deserialize;

use super::AuditFault;
use super::line::{Line, MAX_LINE};
use super::segment;
use super::writer::lines_of;

/// How much is read at once, in bytes: no line is as long.
const CHUNK: u64 = 2 * MAX_LINE as u64;

/// The part of an event that tells who called what.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case", tag = "event")]
enum Step {
    Opened {
        call: String,
        caller: Caller,
    },
    Permitted {
        call: String,
        source: String,
        tool: String,
    },
    #[serde(other)]
    Other,
}

/// Since when calls are looked for.
pub(super) struct Since {
    /// Behind this place.
    pub(super) place: u64,
    /// How long ago that was the last one.
    pub(super) passed: Duration,
}

struct Search {
    since: Since,
    /// Milliseconds since the Unix epoch, by the clock that the events are stamped with.
    now: u64,
    /// Permitted behind the place, but not yet seen who opened them.
    unopened: HashMap<String, (ToolId, Duration)>,
    found: Vec<PermittedCall>,
}

/// The calls that were permitted `since` then, oldest first, without those that no rate remembers; `None` where there is
/// a line that is none. The chain is not checked: the end of the record was, and who can write in front of it could as
/// well write down other rates.
pub(super) fn behind(folder: &Path, since: Since, now: u64) -> Result<Option<Vec<PermittedCall>>, AuditFault> {
    let mut search = Search { since, now, unopened: HashMap::new(), found: Vec::new() };
    for segment in segment::list(folder)?.iter().rev() {
        match search.segment(segment)? {
            Some(true) => {}
            Some(false) => break,
            None => return Ok(None),
        }
    }
    search.found.sort_by_key(|call| Reverse(call.age));
    Ok(Some(search.found))
}

impl Search {
    /// Goes backwards through `segment`, and says whether to go on in the one before it; `None` where a line is none.
    fn segment(&mut self, path: &Path) -> io::Result<Option<bool>> {
        let file = File::open(path)?;
        let mut end = file.metadata()?.len();
        // The first line of what was read last, whose beginning was not.
        let mut broken = Vec::new();
        while end > 0 {
            let start = end.saturating_sub(CHUNK);
            let mut text = vec![0; (end - start) as usize];
            file.read_exact_at(&mut text, start)?;
            text.append(&mut broken);
            let whole = match start {
                0 => Some(0),
                _ => text.iter().position(|b| *b == b'\n').map(|newline| newline + 1),
            };
            let Some(whole) = whole else { return Ok(None) };
            for line in lines_of(&text[whole..]) {
                match self.line(line) {
                    Some(true) => {}
                    end => return Ok(end),
                }
            }
            text.truncate(whole);
            (broken, end) = (text, start);
        }
        Ok(Some(true))
    }

    /// Takes up one line, and says whether to go on; `None` where it is none.
    fn line(&mut self, text: &[u8]) -> Option<bool> {
        let line = Line::parse(text)?;
        let counted = line.link.seq <= self.since.place;
        let age = if counted { self.stamped(line.time) } else { self.age(line.time) };
        if age > LONGEST_PERIOD || (counted && self.unopened.is_empty()) {
            return Some(false);
        }
        match serde_json::from_str(line.event.get()).ok()? {
            Step::Permitted { call, source, tool } if !counted => {
                self.unopened.insert(call, (ToolId::new(&source, &tool).ok()?, age));
            }
            Step::Opened { call, caller } => {
                let permitted = self.unopened.remove(&call);
                self.found.extend(permitted.map(|(tool, age)| PermittedCall { caller: caller.key(), tool, age }));
            }
            Step::Permitted { .. } | Step::Other => {}
        }
        Some(true)
    }

    /// How old an event behind the place is. Where it would be older than that place, the clock was set back before it:
    /// nobody knows how old it is, so it counts as new.
    fn age(&self, time: u64) -> Duration {
        let stamped = self.stamped(time);
        if stamped > self.since.passed { Duration::ZERO } else { stamped }
    }

    /// How old an event is by its stamp.
    fn stamped(&self, time: u64) -> Duration {
        Duration::from_millis(self.now.saturating_sub(time))
    }
}
