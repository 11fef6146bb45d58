//! The transport: one message a line over a pair of streams, every request answered, and as much in flight as is bounded.
//!
//! rmcp's own passes over what it cannot read, and reads on however much waits to be written. Here a line that is no
//! message is refused, with the id of the request where one can be found; nothing is read from a client that does not
//! read; a request whose id another one has is refused; and while requests wait for their place, a ping passes by, and so
//! does what cancels one of them or one that runs.
//!
//! - [`input`]: lines as they come;
//! - [`message`]: what a line says;
//! - [`requests`]: which of them run, and which wait;
//! - [`lifecycle`]: with what a client begins;
//! - [`answer`]: what rmcp says too shortly;
//! - [`output`]: lines as they go.

mod answer;
mod input;
mod lifecycle;
mod message;
mod output;
mod requests;

use std::io;

use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, JsonRpcMessage, JsonRpcNotification, ServerJsonRpcMessage,
};
use rmcp::service::RoleServer;
use rmcp::transport::Transport;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use input::Input;
use message::{Refusal, read};
use output::Output;
use requests::Requests;

/// A client at the other end of two streams.
pub(super) struct Lines<R> {
    input: Input<R>,
    /// Nothing more can come.
    ended: bool,
    output: Output,
    requests: Requests,
    /// The client has begun; before that, only requests mean anything.
    begun: bool,
    gone: CancellationToken,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// Reads from `read`, and cancels `gone` when nothing more can come. What is sent is written to `write` by a task,
    /// which ends when all is written and the transport gone.
    pub(super) fn new(
        read: R,
        write: impl AsyncWrite + Send + Unpin + 'static,
        gone: CancellationToken,
    ) -> (Self, JoinHandle<io::Result<()>>) {
        let (output, writing) = Output::to(write);
        (Self { input: Input::new(read), ended: false, output, requests: Requests::new(), begun: false, gone }, writing)
    }

    /// The next message. Dropping the future loses nothing: what has been read is kept until it is given out.
    async fn next(&mut self) -> io::Result<Option<ClientJsonRpcMessage>> {
        let Self { input, ended, output, requests, .. } = self;
        while !*ended || requests.any_waits() {
            let (waits, has_room) = (requests.any_waits(), requests.has_room());
            let place = async {
                let place = requests.place().await?;
                output.room().await?; // a client that does not read starts nothing
                Ok::<_, io::Error>(place)
            };
            let line = async {
                output.room().await?;
                input.next().await
            };
            let line = tokio::select! {
                biased;
                place = place, if waits => return place.map(|place| requests.start(place)),
                line = line, if has_room && !*ended => line?,
                closed = output.closed() => return Err(closed), // however long it says nothing
            };
            let Some(line) = line else {
                *ended = true;
                continue;
            };
            let passes = line.and_then(|line| match read(&line)? {
                Some(message) => pass(requests, message, line.len()),
                None => Ok(None),
            });
            match passes {
                Ok(None) => {}
                Ok(passes) => return Ok(passes),
                Err(refusal) => output.put(&refusal)?,
            }
        }
        Ok(None)
    }
}

/// Lets a request of so many `bytes` wait for its place. Anything else passes by, and so do a ping, which asks whether the
/// server is there, however busy, and a subscription, which stays as long as the client does: the server bounds their
/// number.
///
/// # Errors
/// When it is a request and another one has its id.
fn pass(
    requests: &mut Requests,
    message: ClientJsonRpcMessage,
    bytes: usize,
) -> Result<Option<ClientJsonRpcMessage>, Refusal> {
    Ok(match message {
        JsonRpcMessage::Request(request) if requests.uses(&request.id) => return Err(Refusal::id_in_use(&request.id)),
        JsonRpcMessage::Request(request) if takes_no_place(&request.request) => {
            requests.started(&request.id);
            Some(JsonRpcMessage::Request(request))
        }
        JsonRpcMessage::Request(request) => {
            requests.push(request, bytes);
            None
        }
        JsonRpcMessage::Notification(JsonRpcNotification {
            notification: ClientNotification::CancelledNotification(cancelled),
            ..
        }) if cancelled.params.request_id.as_ref().is_some_and(|id| requests.cancel(id)) => None,
        message => Some(message),
    })
}

impl<R: AsyncRead + Send + Unpin> Transport<RoleServer> for Lines<R> {
    type Error = io::Error;

    /// The line is on its way before the future is looked at, which waits for room: so messages go out in their order.
    fn send(&mut self, message: ServerJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let message = answer::in_full(message);
        if let Some(id) = answer::of(&message) {
            self.requests.answered(id);
        }
        let put = self.output.put(&message);
        let output = self.output.clone();
        async move {
            put?;
            output.room().await
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let message = self.next().await.unwrap_or_else(|error| {
                tracing::warn!(%error, "the client is gone");
                None
            });
            match &message {
                Some(JsonRpcMessage::Request(request)) => self.begun |= lifecycle::begins(&request.request),
                Some(_) if !self.begun => {
                    tracing::debug!("a notification or response before the client has begun");
                    continue;
                }
                Some(_) => {}
                None => self.gone.cancel(),
            }
            return message;
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        Ok(()) // the writing ends when the last sender is dropped
    }
}

fn takes_no_place(request: &ClientRequest) -> bool {
    matches!(request, ClientRequest::PingRequest(_) | ClientRequest::SubscriptionsListenRequest(_))
}

#[cfg(test)]
mod tests;
