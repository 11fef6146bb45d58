//! The socket in the state folder, through which other processes reach the one that owns it.
//!
//! A connection carries one request: the owner says of which version it is, then a line of JSON there, lines of JSON back.
//! Closing it takes the request back. The owner says that it has taken the request; a connection that ends before that can be tried again without
//! doing anything twice. A request that the owner cannot read is answered like any other: it would not be read the next
//! time either. Lines may hold secrets: the memory in which they stood is wiped.

use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::Ringfence;
use crate::request::{EVENT_QUEUE, ErrorKind, Event, Reply, Request, RequestError, VERSION};
use crate::wiped::{Wiped, WipedLines};

/// The longest request, in bytes: the largest parameters that a tool takes by default, escaped, and room.
const MAX_REQUEST: usize = 64 << 20;

/// How deep a line may be nested: whatever a door has read, in which `serde_json` takes 127 levels, and what is around it.
const MAX_DEPTH: usize = 160;

/// How long one end waits for the other to read or write a line that is due. Both are on one machine: only one that hangs
/// takes seconds.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long the owner waits after a connection that it could not take, mostly because too many are open: without it, it
/// would ask again at once and keep a processor busy.
const PAUSE: Duration = Duration::from_millis(100);

/// The first line from the owner. Its form stays, whatever becomes of the others.
#[derive(Serialize, Deserialize)]
struct Greeting {
    ringfence: String,
}

/// A further line from the owner.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    /// The request has been taken. From here on it may have effects.
    Taken,
    Event(Event),
    End(Result<Reply, RequestError>),
}

/// How asking through the socket failed.
pub(crate) enum AskError {
    /// Nobody took the request: it can be asked again.
    NotTaken(io::Error),
    /// It was taken and no answer came.
    Lost(io::Error),
}

/// The owner's end.
pub(crate) struct SocketServer {
    path: PathBuf,
    stop: CancellationToken,
    connections: TaskTracker,
}

impl SocketServer {
    /// Listens in the state folder `folder`, which this process owns.
    ///
    /// # Errors
    /// When the socket cannot be made.
    pub(crate) fn start(folder: &Path, name: &Path, host: &Arc<Ringfence>) -> io::Result<Self> {
        // Left over from an owner that was killed: the lock is ours, so nobody listens.
        match fs_err::remove_file(name) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = with_short_path(folder, name, |path| UnixListener::bind(path))?;
        fs_err::set_permissions(name, std::fs::Permissions::from_mode(0o600))?;
        let (stop, connections) = (CancellationToken::new(), TaskTracker::new());
        tokio::spawn(accept(listener, host.clone(), stop.clone(), connections.clone()));
        Ok(Self { path: name.to_owned(), stop, connections })
    }

    /// Takes no more requests and waits for those that run.
    pub(crate) async fn finish(self) {
        self.stop.cancel();
        self.connections.close();
        self.connections.wait().await;
        let _ = fs_err::remove_file(&self.path);
    }
}

async fn accept(listener: UnixListener, host: Arc<Ringfence>, stop: CancellationToken, connections: TaskTracker) {
    loop {
        let stream = tokio::select! {
            () = stop.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        match stream {
            Ok((stream, _)) => {
                let host = host.clone();
                let stop = stop.clone();
                connections.spawn(async move {
                    if let Err(error) = serve(stream, &host, &stop).await {
                        tracing::debug!(%error, "a connection to the socket ended early");
                    }
                });
            }
            Err(error) => {
                tracing::warn!(%error, "the socket could not take a connection");
                // Without a free descriptor, for example, the next one fails at once as well.
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

async fn serve(stream: UnixStream, host: &Arc<Ringfence>, stop: &CancellationToken) -> io::Result<()> {
    let (read, mut write) = stream.into_split();
    within(send(&mut write, &Greeting { ringfence: VERSION.into() })).await?;
    let mut read = WipedLines::new(read);
    let line = tokio::select! {
        // Who has not asked anything has nothing to wait for.
        () = stop.cancelled() => return Ok(()),
        line = within(read.next(MAX_REQUEST)) => line?.unwrap_or_default(),
    };
    let request: Request = match parse(line.bytes()) {
        Ok(request) => request,
        Err(error) => return within(send(&mut write, &Line::End(Err(unreadable(&error))))).await,
    };
    drop(line);
    within(send(&mut write, &Line::Taken)).await?;

    let (events, mut incoming) = mpsc::channel(EVENT_QUEUE);
    let watching = matches!(request, Request::Watch);
    let cancel = CancellationToken::new();
    let answer = host.answer(request, events, cancel.clone());
    let (lines, outgoing) = mpsc::channel(EVENT_QUEUE);
    // Written beside the work: an asker who does not read must not hold up a deadline.
    let writing = async {
        let written = write_lines(write, outgoing).await;
        cancel.cancel();
        written
    };
    let working = async {
        let lines = lines; // gone when the work is, which ends the writing
        tokio::pin!(answer);
        loop {
            tokio::select! {
                biased;
                Some(event) = incoming.recv() => drop(lines.try_send(Line::Event(event))),
                end = &mut answer => {
                    // What happened in the same moment has not been seen yet.
                    while let Ok(event) = incoming.try_recv() {
                        drop(lines.try_send(Line::Event(event)));
                    }
                    return drop(lines.send(Line::End(end)).await);
                }
                // The asker sends nothing more, so whatever comes is its end.
                () = read.until_more(), if !cancel.is_cancelled() => cancel.cancel(),
                () = stop.cancelled(), if watching => return,
            }
        }
    };
    let ((), written) = tokio::join!(working, writing);
    written
}

async fn write_lines(mut write: impl AsyncWrite + Unpin, mut lines: mpsc::Receiver<Line>) -> io::Result<()> {
    while let Some(line) = lines.recv().await {
        within(send(&mut write, &line)).await?;
    }
    Ok(())
}

/// Bounds what the other end of a connection has to do.
async fn within<T>(action: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    tokio::time::timeout(PATIENCE, action).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

async fn send(write: &mut (impl AsyncWrite + Unpin), line: &impl Serialize) -> io::Result<()> {
    write.write_all(written(line)?.bytes()).await
}

/// `line` as it is sent.
fn written(line: &impl Serialize) -> io::Result<Wiped> {
    let mut text = Wiped::default();
    serde_json::to_writer(&mut text, line)?;
    text.write_all(b"\n")?;
    Ok(text)
}

/// Asks the owner of the state folder `folder` through its socket `name`.
///
/// # Errors
/// See [`AskError`].
pub(crate) async fn ask(
    folder: &Path,
    name: &Path,
    request: &Request,
    events: &mpsc::Sender<Event>,
    cancel: &CancellationToken,
) -> Result<Result<Reply, RequestError>, AskError> {
    let text = match written(request) {
        Ok(text) if text.bytes().len() <= MAX_REQUEST => text,
        Ok(text) => return Ok(Err(too_long(text.bytes().len()))),
        Err(error) => return Ok(Err(unreadable(&error))),
    };
    let connect = with_short_path(folder, name, |path| std::os::unix::net::UnixStream::connect(path));
    let stream = connect.and_then(|stream| {
        stream.set_nonblocking(true)?;
        UnixStream::from_std(stream)
    });
    let (read, mut write) = stream.map_err(AskError::NotTaken)?.into_split();
    let mut lines = WipedLines::new(read);
    let (mut taken, mut cancelled) = (false, false);
    let ended = |taken, error| if taken { AskError::Lost(error) } else { AskError::NotTaken(error) };
    let first = next_line(&mut lines, false).await.map_err(AskError::NotTaken)?;
    let first = first.ok_or_else(|| ended(false, io::ErrorKind::UnexpectedEof.into()))?;
    // Before anything is asked: another version might read it as something else.
    if let Some(other) = other_version(first.bytes()) {
        return Ok(Err(other));
    }
    within(write.write_all(text.bytes())).await.map_err(AskError::NotTaken)?;
    drop(text);
    loop {
        let next = tokio::select! {
            next = next_line(&mut lines, taken) => next,
            // Shutting our half down is how the owner learns of it; the answer still comes.
            () = cancel.cancelled(), if !cancelled => {
                cancelled = true;
                write.shutdown().await.map_err(|error| ended(taken, error))?;
                continue;
            }
        };
        let line = next.map_err(|error| ended(taken, error))?;
        let line = line.ok_or_else(|| ended(taken, io::ErrorKind::UnexpectedEof.into()))?;
        match parse(line.bytes()) {
            Ok(Line::Taken) => taken = true,
            Ok(Line::Event(event)) => {
                // Whoever does not keep up misses some; progress is only news.
                let _ = events.try_send(event);
            }
            Ok(Line::End(end)) => return Ok(end),
            Err(_) => return Ok(Err(RequestError::other_build())),
        }
    }
}

/// That an owner who greets like this speaks otherwise, where it does.
fn other_version(greeting: &[u8]) -> Option<RequestError> {
    match parse::<Greeting>(greeting) {
        Ok(Greeting { ringfence: owner }) => (owner != VERSION).then(|| RequestError::other_version(&owner)),
        Err(_) => Some(RequestError::other_build()),
    }
}

/// Reads a line, which may be nested deeper than `serde_json` takes by itself: what a door has read is a part of it.
fn parse<T: DeserializeOwned>(line: &[u8]) -> io::Result<T> {
    if depth(line) > MAX_DEPTH {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("it is nested deeper than {MAX_DEPTH} levels")));
    }
    let mut deserializer = serde_json::Deserializer::from_slice(line);
    deserializer.disable_recursion_limit();
    let value = T::deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

/// How many arrays and objects stand in each other at the deepest place of a JSON text.
fn depth(text: &[u8]) -> usize {
    let (mut depth, mut deepest, mut in_string, mut escaped) = (0usize, 0, false, false);
    for byte in text.iter().copied() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'[' | b'{' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

fn unreadable(error: &io::Error) -> RequestError {
    let message = format!("the ringfence process that owns the state folder cannot read the request: {error}");
    RequestError { kind: ErrorKind::Refused, code: "request".into(), message }
}

fn too_long(bytes: usize) -> RequestError {
    let message = format!(
        "the request is {bytes} bytes long, and the ringfence process that owns the state folder takes {MAX_REQUEST}; \
         send less, for example the path of a file instead of what is in it"
    );
    RequestError { kind: ErrorKind::Refused, code: "request.size".into(), message }
}

/// The next line of the owner. One that is stopped takes nothing: the request dies with the connection then.
async fn next_line(lines: &mut WipedLines<impl AsyncRead + Unpin>, taken: bool) -> io::Result<Option<Wiped>> {
    let next = lines.next(usize::MAX);
    if taken { next.await } else { within(next).await }
}

/// Calls `act` with a path of the socket that is short enough for a socket address, whose paths end at 108 bytes.
fn with_short_path<T>(folder: &Path, name: &Path, act: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    if cfg!(not(target_os = "linux")) {
        return act(name);
    }
    let file_name = name.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let folder = fs_err::File::open(folder)?;
    let through = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(folder.file()));
    act(&Path::new(&through).join(file_name))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use tokio::io::AsyncReadExt as _;

    use super::*;
    use crate::request::PackageRequest;

    fn nested(levels: usize) -> Value {
        (0..levels).fold(json!(1), |inner, _| json!([inner]))
    }

    fn call(params: Value) -> Request {
        Request::Call { tool: "x".into(), params, caller: ringfence_core::caller::Caller::default() }
    }

    #[test]
    fn whatever_a_door_can_read_goes_through_the_socket() {
        let deepest = nested(127);
        assert!(serde_json::from_str::<Value>(&deepest.to_string()).is_ok());
        assert!(serde_json::from_str::<Value>(&nested(128).to_string()).is_err(), "no door reads more");
        let line = serde_json::to_string(&call(deepest.clone())).unwrap();
        let Request::Call { params, .. } = parse(line.as_bytes()).unwrap() else { panic!("another request") };
        assert_eq!(params, deepest);
    }

    #[test]
    fn a_line_has_a_bounded_depth_whatever_its_strings_hold() {
        assert!(parse::<Value>(nested(MAX_DEPTH).to_string().as_bytes()).is_ok());
        assert!(parse::<Value>(nested(MAX_DEPTH + 1).to_string().as_bytes()).is_err());
        assert!(parse::<Value>("[".repeat(1_000_000).as_bytes()).is_err());
        assert_eq!(depth(br#"{"[[\"[": ["]", "{"], "x": {}}"#), 2);
    }

    /// What becomes of a request to an owner that says these lines, and whether the owner was asked anything.
    async fn asked_of(said: String) -> (RequestError, bool) {
        let folder = tempfile::tempdir().unwrap();
        let name = folder.path().join("socket");
        let listener = UnixListener::bind(&name).unwrap();
        let owner = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.write_all(said.as_bytes()).await.unwrap();
            stream.shutdown().await.unwrap();
            let mut heard = String::new();
            stream.read_to_string(&mut heard).await.unwrap();
            !heard.is_empty()
        });
        let (events, _) = mpsc::channel(1);
        let asked = ask(folder.path(), &name, &PackageRequest::List.into(), &events, &CancellationToken::new()).await;
        let Ok(Err(refused)) = asked else { panic!("it was answered, or is to be tried again") };
        (refused, owner.await.unwrap())
    }

    #[tokio::test]
    async fn an_owner_of_another_version_is_asked_nothing_and_named() {
        let (refused, was_asked) = asked_of("{\"ringfence\": \"0.0.1\"}\n".into()).await;
        let message = format!("is 0.0.1, this is {VERSION}: restart `ringfence serve`");
        assert!(!was_asked && refused.message.ends_with(&message), "{refused}");
        assert_eq!(refused.code, "owner_version");
        let (refused, was_asked) = asked_of("\"taken\"\n".into()).await;
        assert!(!was_asked && refused.message.contains("another build"), "{refused}");
    }

    #[tokio::test]
    async fn an_answer_that_cannot_be_read_is_one_of_another_build() {
        let said = format!("{{\"ringfence\": \"{VERSION}\"}}\n\"taken\"\n{{\"end\": {{\"Ok\": \"unheard_of\"}}}}\n");
        let (refused, was_asked) = asked_of(said).await;
        assert!(was_asked && refused.message.contains("another build") && refused.code == "owner_version", "{refused}");
    }

    #[tokio::test]
    async fn a_request_that_is_too_long_is_refused_before_anybody_is_asked() {
        let (events, _) = mpsc::channel(1);
        let (nowhere, request) = (Path::new("/nowhere"), call(Value::String("x".repeat(MAX_REQUEST))));
        let asked = ask(nowhere, nowhere, &request, &events, &CancellationToken::new()).await;
        let Ok(Err(refused)) = asked else { panic!("it was tried") };
        assert_eq!(refused.code, "request.size");
    }
}
