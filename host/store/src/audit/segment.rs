//! The files that the events stand in. Each is named for the place of its first event.

use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fs_err::File;
use fs_err::os::unix::fs::OpenOptionsExt as _;

use super::AuditFault;
use super::line::{Line, MAX_LINE};

/// When a segment is this long, in bytes, the next one begins: a size that editors and mail still take.
pub(super) const FULL: u64 = 64 << 20;

const EXTENSION: &str = "jsonl";

/// Twenty digits hold every place, so that names sort as numbers do.
const DIGITS: usize = 20;

/// The segment that is written to.
pub(super) struct Segment {
    file: Arc<File>,
    length: u64,
    /// Whether something may stand behind `length` that does not belong there.
    untidy: bool,
}

/// The segments in `folder`, oldest first.
///
/// # Errors
/// [`AuditFault::Foreign`] for a file that would be one, but has not the name of one.
pub(super) fn list(folder: &Path) -> Result<Vec<PathBuf>, AuditFault> {
    let mut segments = Vec::new();
    for entry in fs_err::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != EXTENSION) {
            continue;
        }
        if first_place(&path).is_none() {
            return Err(AuditFault::Foreign { file: path, from: None });
        }
        segments.push(path);
    }
    segments.sort();
    Ok(segments)
}

/// The place for which `segment` is named, from 1. Its first event has that one, or a later one behind a gap.
fn first_place(segment: &Path) -> Option<u64> {
    let name = segment.file_stem()?.to_str()?;
    let is_number = name.len() == DIGITS && name.bytes().all(|b| b.is_ascii_digit());
    name.parse().ok().filter(|place| is_number && *place > 0)
}

/// Whether the first event of `segment` cannot stand in a file of that name, as in the copy of another segment.
pub(super) fn is_foreign(segment: &Path) -> io::Result<bool> {
    let mut start = Vec::new();
    File::open(segment)?.take(MAX_LINE as u64).read_to_end(&mut start)?;
    let first = start.split(|b| *b == b'\n').next().and_then(Line::parse);
    Ok(first.zip(first_place(segment)).is_some_and(|(line, place)| line.link.seq < place))
}

/// The last lines in the first `length` bytes of `segment`: two at least, if it has so many.
pub(super) fn last_lines(segment: &Path, length: u64) -> io::Result<Vec<u8>> {
    let start = length.saturating_sub(3 * MAX_LINE as u64);
    let mut tail = part(segment, start, length)?;
    if start > 0 {
        let first = tail.iter().position(|b| *b == b'\n').map_or(tail.len(), |newline| newline + 1);
        tail.drain(..first);
    }
    Ok(tail)
}

/// What stands in `segment` from the byte `start` to the byte `end`, as far as it goes.
pub(super) fn part(segment: &Path, start: u64, end: u64) -> io::Result<Vec<u8>> {
    let mut file = File::open(segment)?;
    file.seek(SeekFrom::Start(start))?;
    let mut text = Vec::new();
    file.take(end.saturating_sub(start)).read_to_end(&mut text)?;
    Ok(text)
}

impl Segment {
    /// Opens `path` for appending behind its last whole line. What is not one stays there until that. A line that lacks
    /// nothing but its end gets it: nobody has to lose the event.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = fs_err::OpenOptions::new().append(true).open(path)?;
        let all = file.metadata()?.len();
        let mut length = whole_lines(path, all)?;
        if Line::parse(&part(path, length, all)?).is_some() {
            (&file).write_all(b"\n")?;
            length = all + 1;
        }
        Ok(Self { file: Arc::new(file), length, untidy: true })
    }

    /// The segment whose first event will have the place `first`.
    pub(super) fn begin(folder: &Path, first: u64) -> io::Result<Self> {
        let path = folder.join(format!("{first:0DIGITS$}.{EXTENSION}"));
        let file = fs_err::OpenOptions::new().append(true).create_new(true).mode(0o600).open(path)?;
        Ok(Self { file: Arc::new(file), length: 0, untidy: false })
    }

    pub(super) fn is_full(&self) -> bool {
        self.length >= FULL
    }

    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Whether the event with this place stands here, or would, in the newest segment.
    pub(super) fn holds(&self, place: u64) -> bool {
        first_place(self.path()).is_some_and(|first| first <= place)
    }

    pub(super) fn path(&self) -> &Path {
        self.file.path()
    }

    pub(super) fn file(&self) -> &Arc<File> {
        &self.file
    }

    /// How long the file is, which others may have written to.
    pub(super) fn file_length(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    /// Appends `line` with one write. When that fails, or takes only a part, the segment is as it was before.
    ///
    /// # Errors
    /// [`AuditFault::Changed`] when the file does not end where it was left: behind a foreign line nothing could be proved
    /// any more.
    pub(super) fn append(&mut self, line: &[u8]) -> io::Result<()> {
        self.tidy()?;
        if self.file_length()? != self.length {
            return Err(io::Error::other(AuditFault::Changed { file: self.path().to_owned() }));
        }
        let written = (&*self.file).write(line);
        match written {
            Ok(length) if length == line.len() => {
                self.length += length as u64;
                Ok(())
            }
            short => {
                self.take_back(0)?;
                Err(short.err().unwrap_or_else(|| io::ErrorKind::StorageFull.into()))
            }
        }
    }

    /// Takes the last `bytes` away again.
    pub(super) fn take_back(&mut self, bytes: u64) -> io::Result<()> {
        self.length -= bytes;
        self.untidy = true;
        self.tidy()
    }

    /// Cuts off what does not belong here. As long as that fails, nothing can be appended.
    pub(super) fn tidy(&mut self) -> io::Result<()> {
        if self.untidy {
            self.file.set_len(self.length)?;
            self.untidy = false;
        }
        Ok(())
    }
}

/// How long `segment`, of so many bytes, is without an incomplete last line.
fn whole_lines(segment: &Path, length: u64) -> io::Result<u64> {
    let start = length.saturating_sub(MAX_LINE as u64);
    let tail = part(segment, start, length)?;
    match tail.iter().rposition(|b| *b == b'\n') {
        Some(newline) => Ok(start + newline as u64 + 1),
        None if start == 0 => Ok(0),
        // Longer than a line can be: not the work of a kill, so not ours to cut.
        None => Ok(length),
    }
}
