//! Reading the record backwards: which calls were permitted last.

use std::collections::HashMap;
use std::path::Path;

use fs_err::File;
use fs_err::os::unix::fs::FileExt as _;
use ringfence_core::gates::rate::PermittedCall;
use ringfence_core::{Caller, ToolId};
use serde::Deserialize;

use super::AuditFault;
use super::line::{Line, MAX_LINE};
use super::segment;
use super::writer::lines_of;

/// How much is read at once, in bytes: no line is as long.
const CHUNK: usize = 2 * MAX_LINE;

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

struct Search {
    place: u64,
    oldest: u64,
    /// Permitted behind the place, but not yet seen who opened them.
    unopened: HashMap<String, (ToolId, u64)>,
    found: Vec<PermittedCall>,
}

/// The calls that were permitted behind `place`, oldest first, without those from before `oldest`, in milliseconds
/// since the Unix epoch. The chain is not checked: the end of the record was, and who can write in front of it could
/// as well write down other rates.
pub(super) fn behind(folder: &Path, place: u64, oldest: u64) -> Result<Vec<PermittedCall>, AuditFault> {
    let mut search = Search { place, oldest, unopened: HashMap::new(), found: Vec::new() };
    for segment in segment::list(folder)?.iter().rev() {
        if !search.segment(segment)? {
            break;
        }
    }
    search.found.sort_by_key(|call| call.time);
    Ok(search.found)
}

impl Search {
    /// Goes backwards through `segment`, and says whether to go on in the one before it.
    fn segment(&mut self, path: &Path) -> Result<bool, AuditFault> {
        let altered = || AuditFault::Altered { file: path.to_owned(), line: None };
        let file = File::open(path)?;
        let mut start = usize::try_from(file.metadata()?.len()).map_err(|_too_long| altered())?;
        // The first line of what was read last, whose beginning was not.
        let mut broken = Vec::new();
        while start > 0 {
            let from = start.saturating_sub(CHUNK);
            let mut text = vec![0; start - from];
            file.read_exact_at(&mut text, from as u64)?;
            text.append(&mut broken);
            let whole = match from {
                0 => 0,
                _ => text.iter().position(|b| *b == b'\n').ok_or_else(altered)? + 1,
            };
            for line in lines_of(&text[whole..]) {
                if !self.line(line).ok_or_else(altered)? {
                    return Ok(false);
                }
            }
            text.truncate(whole);
            (broken, start) = (text, from);
        }
        Ok(true)
    }

    /// Takes up one line, and says whether to go on; `None` where it is none.
    fn line(&mut self, text: &[u8]) -> Option<bool> {
        let line = Line::parse(text)?;
        let counted = line.link.seq <= self.place;
        if line.time < self.oldest || (counted && self.unopened.is_empty()) {
            return Some(false);
        }
        match serde_json::from_str(line.event.get()).ok()? {
            Step::Permitted { call, source, tool } if !counted => {
                self.unopened.insert(call, (ToolId::new(&source, &tool).ok()?, line.time));
            }
            Step::Opened { call, caller } => {
                let permitted = self.unopened.remove(&call);
                self.found.extend(permitted.map(|(tool, time)| PermittedCall { caller: caller.key(), tool, time }));
            }
            Step::Permitted { .. } | Step::Other => {}
        }
        Some(true)
    }
}
