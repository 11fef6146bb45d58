//! What goes out, line by line, in the order in which it was put.

use std::io;

use serde::Serialize;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

/// How many lines wait to be written. Beyond that nothing is read, and who puts one waits. Each can be a result, which has
/// up to 8 MiB by default, escaped.
pub(super) const MAX_UNWRITTEN: usize = 8;

/// The way to a client. The task that writes ends when all is written and the last of these is gone.
#[derive(Clone)]
pub(super) struct Output {
    lines: mpsc::UnboundedSender<Vec<u8>>,
    unwritten: watch::Sender<usize>,
}

impl Output {
    /// Writes to `write` by a task.
    pub(super) fn to(write: impl AsyncWrite + Send + Unpin + 'static) -> (Self, JoinHandle<io::Result<()>>) {
        let ((lines, mut outgoing), (unwritten, _)) = (mpsc::unbounded_channel(), watch::channel(0));
        let output = Self { lines, unwritten: unwritten.clone() };
        let writing = tokio::spawn(async move {
            let written = write_lines(write, &mut outgoing, &unwritten).await;
            // Whoever waits for room learns that there will be none.
            outgoing.close();
            unwritten.send_modify(|_| ());
            written
        });
        (output, writing)
    }

    /// Puts `message` behind those that wait. Whoever may put many waits for [`room`](Self::room) in between.
    ///
    /// # Errors
    /// When the client is gone.
    pub(super) fn put(&self, message: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        self.unwritten.send_modify(|unwritten| *unwritten += 1);
        self.lines.send(line).map_err(|_| closed())
    }

    /// Waits until the client takes no more.
    pub(super) async fn closed(&self) -> io::Error {
        self.lines.closed().await;
        closed()
    }

    /// Waits until few lines wait.
    ///
    /// # Errors
    /// When the client is gone.
    pub(super) async fn room(&self) -> io::Result<()> {
        let few = |unwritten: &usize| *unwritten < MAX_UNWRITTEN || self.lines.is_closed();
        self.unwritten.subscribe().wait_for(few).await.map_err(|_| closed())?;
        if self.lines.is_closed() { Err(closed()) } else { Ok(()) }
    }
}

async fn write_lines(
    mut write: impl AsyncWrite + Unpin,
    lines: &mut mpsc::UnboundedReceiver<Vec<u8>>,
    unwritten: &watch::Sender<usize>,
) -> io::Result<()> {
    while let Some(line) = lines.recv().await {
        write.write_all(&line).await?;
        write.flush().await?;
        unwritten.send_modify(|unwritten| *unwritten -= 1);
    }
    Ok(())
}

fn closed() -> io::Error {
    io::ErrorKind::BrokenPipe.into()
}
