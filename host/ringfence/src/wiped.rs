//! Buffers for what may hold a secret: nothing of it stays in memory that was given back.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use zeroize::Zeroizing;

/// How much is read at once, in bytes: as much as the standard library's readers take.
const CHUNK: usize = 8 << 10;

/// Bytes that are wiped where they are given back, also when the buffer moves because it grows.
#[derive(Default)]
pub(crate) struct Wiped(Zeroizing<Vec<u8>>);

impl Wiped {
    /// What is in it.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    fn push(&mut self, bytes: &[u8]) {
        let needed = self.0.len() + bytes.len();
        if needed > self.0.capacity() {
            // By itself it would leave its bytes where they were.
            let mut larger = Zeroizing::new(Vec::with_capacity(needed.max(2 * self.0.capacity())));
            larger.extend_from_slice(&self.0);
            self.0 = larger;
        }
        self.0.extend_from_slice(bytes);
    }

    /// The first `count` bytes, which go, as those after them do for `apart` bytes.
    fn take(&mut self, count: usize, apart: usize) -> Self {
        let (mut taken, mut rest) = (Self::default(), Self::default());
        taken.push(&self.0[..count]);
        rest.push(&self.0[count + apart..]);
        *self = rest;
        taken
    }
}

impl io::Write for Wiped {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.push(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Reads lines.
pub(crate) struct WipedLines<R> {
    read: R,
    /// What was read and not given yet.
    rest: Wiped,
    /// As much of it is known to hold no end of a line.
    searched: usize,
}

impl<R: AsyncRead + Unpin> WipedLines<R> {
    pub(crate) fn new(read: R) -> Self {
        Self { read, rest: Wiped::default(), searched: 0 }
    }

    /// The next line, without its end, or as much of it as `most` bytes; `None` behind the last one. Whoever stops waiting
    /// misses nothing.
    pub(crate) async fn next(&mut self, most: usize) -> io::Result<Option<Wiped>> {
        let mut chunk = Zeroizing::new([0; CHUNK]);
        loop {
            let bytes = self.rest.bytes();
            if let Some(place) = bytes[self.searched..].iter().position(|byte| *byte == b'\n') {
                let end = std::mem::take(&mut self.searched) + place;
                return Ok(Some(self.rest.take(end, 1)));
            }
            self.searched = bytes.len();
            let read = if self.searched < most { self.read.read(&mut chunk[..]).await? } else { 0 };
            if read == 0 {
                let last = self.rest.take(std::mem::take(&mut self.searched), 0);
                return Ok(Some(last).filter(|last| !last.bytes().is_empty()));
            }
            self.rest.push(&chunk[..read]);
        }
    }

    /// Waits until more comes, or the other end is gone.
    pub(crate) async fn until_more(&mut self) {
        // A connection that breaks is one that is gone.
        let _ = self.read.read(&mut [0]).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_pushed_stays_in_its_order_however_it_grows() {
        let mut buffer = Wiped::default();
        let text = "0123456789".repeat(1000);
        text.as_bytes().chunks(7).for_each(|chunk| buffer.push(chunk));
        assert_eq!(buffer.bytes(), text.as_bytes());
        assert_eq!(buffer.take(3, 2).bytes(), b"012");
        assert_eq!(&buffer.bytes()[..3], b"567");
    }

    async fn lines(text: &[u8], most: usize) -> Vec<String> {
        let (mut lines, mut found) = (WipedLines::new(text), Vec::new());
        while let Some(line) = lines.next(most).await.unwrap() {
            found.push(String::from_utf8(line.bytes().to_vec()).unwrap());
        }
        found
    }

    #[tokio::test]
    async fn lines_come_one_by_one_and_no_longer_than_they_may_be() {
        assert_eq!(lines(b"a\n\nbc\nd", 100).await, ["a", "", "bc", "d"]);
        assert!(lines(b"", 100).await.is_empty());
        let long = format!("{}\n{}\n", "x".repeat(3 * CHUNK), "y".repeat(CHUNK));
        assert_eq!(
            lines(long.as_bytes(), usize::MAX).await.iter().map(String::len).collect::<Vec<_>>(),
            [3 * CHUNK, CHUNK]
        );
        assert_eq!(lines(long.as_bytes(), CHUNK).await[0].len(), CHUNK);
    }
}
