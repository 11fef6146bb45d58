//! What comes in, line by line.

use std::io;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

use super::message::{Refusal, too_long};

/// The longest line, in bytes, in which the id of a message that is too long is looked for: four times the longest message,
/// so that whoever sends one that is a little too long learns which. A longer line is not held.
pub(super) const MAX_LINE: usize = 64 << 20;

/// The lines of a client.
pub(super) struct Input<R> {
    read: BufReader<R>,
    /// The line so far.
    line: Vec<u8>,
    /// Its beginning was thrown away, and its rest is.
    too_long: bool,
}

impl<R: AsyncRead + Unpin> Input<R> {
    pub(super) fn new(read: R) -> Self {
        Self { read: BufReader::new(read), line: Vec::new(), too_long: false }
    }

    /// The next line; `None` at the end. The last one may end without a line break. Between two reads all of its state is
    /// in `self`.
    pub(super) async fn next(&mut self) -> io::Result<Option<Result<Vec<u8>, Refusal>>> {
        loop {
            let there = self.read.fill_buf().await?;
            if there.is_empty() {
                let nothing = self.line.is_empty() && !self.too_long;
                return Ok((!nothing).then(|| self.taken()));
            }
            let end = there.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(there.len(), |at| at + 1);
            if self.too_long || self.line.len() + taken > MAX_LINE {
                (self.too_long, self.line) = (true, Vec::new());
            } else {
                self.line.extend_from_slice(&there[..taken]);
            }
            self.read.consume(taken);
            if end.is_some() {
                return Ok(Some(self.taken()));
            }
        }
    }

    fn taken(&mut self) -> Result<Vec<u8>, Refusal> {
        let line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.too_long) { Err(too_long(None)) } else { Ok(line) }
    }
}
