//! The transport: one message a line over a pair of streams, every request answered, and as much in flight as is bounded.
//!
//! rmcp's own passes over what it cannot read, and reads on however much waits to be written. Here a line that is no
//! message is refused, with the id of the request where one can be found; and nothing is read from a client that does not
//! read.

use std::io;
use std::sync::Arc;

use rmcp::model::{CallToolRequestParams, CustomRequest, InitializeRequestParams, PaginatedRequestParams};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, GetExtensions as _, JsonRpcMessage, RequestId};
use rmcp::model::{ServerJsonRpcMessage, SubscriptionsListenRequestParams};
use rmcp::service::RoleServer;
use rmcp::transport::Transport;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// The longest message, in bytes.
const MAX_MESSAGE: usize = 16 << 20;

/// The longest line, in bytes, in which the id of a message that is too long is looked for.
const MAX_LINE: usize = 64 << 20;

/// How many requests of one client run at once. Further ones wait, and what is behind them is not read.
const MAX_RUNNING: usize = 64;

/// How many lines wait to be written. Beyond that nothing is read.
const MAX_UNWRITTEN: usize = 8;

/// A client at the other end of two streams.
pub(super) struct Lines<R> {
    input: Input<R>,
    output: mpsc::Sender<Vec<u8>>,
    running: Arc<Semaphore>,
    /// The request that waits for its place.
    waiting: Option<ClientJsonRpcMessage>,
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
        let (output, lines) = mpsc::channel(MAX_UNWRITTEN);
        let input = Input { read: BufReader::new(read), line: Vec::new(), too_long: false };
        let running = Arc::new(Semaphore::new(MAX_RUNNING));
        (Self { input, output, running, waiting: None, gone }, tokio::spawn(write_lines(write, lines)))
    }

    /// The next message. Dropping the future loses nothing: what has been read is kept until it is given out.
    async fn next(&mut self) -> io::Result<Option<ClientJsonRpcMessage>> {
        while self.waiting.is_none() {
            let room = self.output.reserve().await.map_err(|_| closed())?;
            let Some(line) = self.input.next().await? else { return Ok(None) };
            match line.and_then(|line| read(&line)) {
                Ok(message) => self.waiting = message,
                Err(Refusal { id, error }) => room.send(encode(&ServerJsonRpcMessage::error(*error, id))?),
            }
        }
        let place = match &self.waiting {
            // A subscription stays as long as the client does; the server bounds their number.
            Some(JsonRpcMessage::Request(request)) if !is_subscription(&request.request) => {
                Some(self.running.clone().acquire_owned().await.map_err(io::Error::other)?)
            }
            _ => None,
        };
        let mut message = self.waiting.take();
        if let (Some(JsonRpcMessage::Request(request)), Some(place)) = (&mut message, place) {
            // Goes with the request to its handler, and is free again when that has ended.
            request.request.extensions_mut().insert(Arc::new(place));
        }
        Ok(message)
    }
}

impl<R: AsyncRead + Send + Unpin> Transport<RoleServer> for Lines<R> {
    type Error = io::Error;

    fn send(&mut self, message: ServerJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let output = self.output.clone();
        async move {
            let line = encode(&message)?;
            drop(message);
            output.send(line).await.map_err(|_| closed())
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        let message = self.next().await.unwrap_or_else(|error| {
            tracing::warn!(%error, "the client is gone");
            None
        });
        if message.is_none() {
            self.gone.cancel();
        }
        message
    }

    async fn close(&mut self) -> io::Result<()> {
        Ok(()) // the writing ends when the last sender is dropped
    }
}

async fn write_lines(mut write: impl AsyncWrite + Unpin, mut lines: mpsc::Receiver<Vec<u8>>) -> io::Result<()> {
    while let Some(line) = lines.recv().await {
        write.write_all(&line).await?;
        write.flush().await?;
    }
    Ok(())
}

fn encode(message: &ServerJsonRpcMessage) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}

fn closed() -> io::Error {
    io::ErrorKind::BrokenPipe.into()
}

fn is_subscription(request: &ClientRequest) -> bool {
    matches!(request, ClientRequest::SubscriptionsListenRequest(_))
}

/// What comes in, line by line.
struct Input<R> {
    read: BufReader<R>,
    /// The line so far.
    line: Vec<u8>,
    /// Its beginning was thrown away, and its rest is.
    too_long: bool,
}

impl<R: AsyncRead + Unpin> Input<R> {
    /// The next whole line; `None` at the end. Between two reads all of its state is in `self`.
    async fn next(&mut self) -> io::Result<Option<Result<Vec<u8>, Refusal>>> {
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

/// Why a line is no message, for whoever sent it.
struct Refusal {
    /// Of the request, where one can be found in the line.
    id: Option<RequestId>,
    error: Box<ErrorData>,
}

impl Refusal {
    fn new(id: Option<RequestId>, error: ErrorData) -> Self {
        Self { id, error: Box::new(error) }
    }
}

/// What of a message can be found in a line that is none.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Envelope {
    #[serde(deserialize_with = "present")]
    id: Option<Value>,
    method: Option<String>,
}

impl Envelope {
    fn request_id(self) -> Option<RequestId> {
        serde_json::from_value(self.id?).ok()
    }
}

/// A field that is there, even as `null`.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// Reads a line: a message, nothing, or why it is refused (JSON-RPC 2.0, section 5.1).
fn read(line: &[u8]) -> Result<Option<ClientJsonRpcMessage>, Refusal> {
    let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line).trim_ascii(); // RFC 8259, section 8.1
    if line.is_empty() {
        return Ok(None);
    }
    if line.len() > MAX_MESSAGE {
        let envelope = serde_json::from_slice::<Envelope>(line).unwrap_or_default();
        return Err(too_long(envelope.request_id()));
    }
    match serde_json::from_slice::<ClientJsonRpcMessage>(line) {
        Ok(JsonRpcMessage::Request(request)) => match &request.request {
            ClientRequest::CustomRequest(custom) => match wrong_params(custom) {
                Some(error) => Err(Refusal::new(Some(request.id), error)),
                None => Ok(Some(JsonRpcMessage::Request(request))),
            },
            _ => Ok(Some(JsonRpcMessage::Request(request))),
        },
        Ok(message) => Ok(Some(message)),
        Err(error) => unreadable(line, &error),
    }
}

/// Says of a `line` that is no message why, because of `error`. A notification is never answered.
fn unreadable(line: &[u8], error: &serde_json::Error) -> Result<Option<ClientJsonRpcMessage>, Refusal> {
    // What is passed over may be nested however deep: reading the envelope does not descend into it.
    match serde_json::from_slice::<Envelope>(line) {
        Ok(Envelope { id: None, method: Some(method) }) => {
            tracing::debug!(method, %error, "a notification that is not MCP's");
            Ok(None)
        }
        Ok(envelope) => {
            let error = ErrorData::invalid_request(format!("the line is no message of MCP: {error}"), None);
            Err(Refusal::new(envelope.request_id(), error))
        }
        Err(wrong) if wrong.is_data() => {
            let error = ErrorData::invalid_request("the line is no message of MCP: it has to be one JSON object", None);
            Err(Refusal::new(None, error))
        }
        Err(wrong) => {
            let error = ErrorData::parse_error(format!("the line is not one JSON text: {wrong}"), None);
            Err(Refusal::new(None, error))
        }
    }
}

fn too_long(id: Option<RequestId>) -> Refusal {
    let message = format!("the message is longer than {MAX_MESSAGE} bytes; send less, for example the path of a file");
    Refusal::new(id, ErrorData::invalid_request(message, None))
}

/// What is wrong with the parameters of a method that there is. rmcp takes such a request for one of an unknown method.
fn wrong_params(request: &CustomRequest) -> Option<ErrorData> {
    let params = request.params.clone().unwrap_or_else(|| Value::Object(serde_json::Map::new()));
    let problem = match request.method.as_str() {
        "initialize" => problem::<InitializeRequestParams>(params),
        "tools/call" => problem::<CallToolRequestParams>(params),
        "tools/list" => problem::<PaginatedRequestParams>(params),
        "subscriptions/listen" => problem::<SubscriptionsListenRequestParams>(params),
        _ => None,
    }?;
    Some(ErrorData::invalid_params(format!("the parameters of `{}` are not valid: {problem}", request.method), None))
}

fn problem<T: DeserializeOwned>(params: Value) -> Option<serde_json::Error> {
    serde_json::from_value::<T>(params).err()
}

#[cfg(test)]
mod tests;
