//! What comes in, line by line.

use std::io;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

use super::message::{Refusal, too_long};

/// The longest line, in bytes, in which the id of a message that is too long is looked for.
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

    /// The next whole line; `None` at the end. Between two reads all of its state is in `self`.
    pub(super) async fn next(&mut self) -> io::Result<Option<Result<Vec<u8>, Refusal>>> {
        loop {
            let there = self.read.fill_buf().await?;
            if there.is_empty() {
                return Ok(None);
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
                let line = std::mem::take(&mut self.line);
                return Ok(Some(if std::mem::take(&mut self.too_long) { Err(too_long(None)) } else { Ok(line) }));
            }
        }
    }
}
