//! A server that notes what it is asked. It is written by hand, so that tests see every byte and every connection.
//!
//! | path | answer |
//! |---|---|
//! | `/r/STATUS?to=LOCATION` | redirects there; `KEY` becomes the `x-api-key` that it was sent, `HEX` its digits, `%23` a `#` |
//! | `/loop` | redirects to itself |
//! | `/keys` | has cookies and hop-by-hop headers |
//! | `/echo` | sends back that key, in a header and in the body |
//! | `/bytes/N` | N bytes |
//! | `/drip` | a first piece, and then nothing for ever |
//! | `/hang` | nothing for ever |
//! | `/coded` | `ok`, in an encoding that nobody knows |
//! | `/garbage` | no HTTP |
//! | `/last` | `ok`, and closes the connection |
//! | others | `ok` |

use std::io;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// A request as it arrived.
#[derive(Clone, Debug)]
pub struct Seen {
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Seen {
    /// The value of the header `name`.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }
}

pub struct Server {
    pub port: u16,
    seen: Arc<Mutex<Vec<Seen>>>,
    open: watch::Sender<usize>,
    _tasks: JoinSet<()>,
}

impl Server {
    /// Listens on `ip`.
    pub async fn on(ip: &str) -> Self {
        let listener = TcpListener::bind((ip, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (seen, open) = (Arc::<Mutex<Vec<Seen>>>::default(), watch::Sender::new(0));
        let mut tasks = JoinSet::new();
        let (notes, count) = (Arc::clone(&seen), open.clone());
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (notes, count) = (Arc::clone(&notes), count.clone());
                count.send_modify(|open| *open += 1);
                connections.spawn(async move {
                    // A client that goes away is what some tests are about.
                    let _ = converse(stream, &notes).await;
                    count.send_modify(|open| *open -= 1);
                });
            }
        });
        Self { port, seen, open, _tasks: tasks }
    }

    /// What it was asked so far.
    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// Waits until as many connections are open.
    pub async fn until_open(&self, connections: usize) {
        let mut open = self.open.subscribe();
        let reached = open.wait_for(|open| *open == connections);
        let waited = tokio::time::timeout(std::time::Duration::from_secs(20), reached).await;
        assert!(waited.is_ok(), "{connections} connections were never reached");
    }
}

/// Answers requests until the client closes the connection.
pub async fn converse(stream: impl AsyncRead + AsyncWrite + Unpin, seen: &Mutex<Vec<Seen>>) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    while let Some(request) = read(&mut stream).await? {
        seen.lock().unwrap().push(request.clone());
        stream.write_all(answer(&request).as_bytes()).await?;
        match request.path.as_str() {
            "/last" | "/garbage" => return stream.shutdown().await,
            "/drip" | "/hang" => {
                stream.read_to_end(&mut Vec::new()).await?;
                return Ok(());
            }
            _ => {}
        }
    }
    Ok(())
}

/// The next request; `None` when the client has closed the connection.
pub async fn read(stream: &mut (impl AsyncBufReadExt + Unpin)) -> io::Result<Option<Seen>> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await? == 0 {
            return Ok(None);
        }
        match line.trim_end() {
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let mut words = lines[0].split(' ').map(str::to_owned);
    let (method, path) = (words.next().unwrap(), words.next().unwrap());
    let headers: Vec<(String, String)> = lines[1..]
        .iter()
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.into(), value.into()))
        .collect();
    let length =
        headers.iter().find(|(name, _)| name == "content-length").map_or(0, |(_, value)| value.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    while headers.iter().any(|(name, _)| name == "transfer-encoding") {
        let mut size = String::new();
        stream.read_line(&mut size).await?;
        let size = usize::from_str_radix(size.trim(), 16).map_err(io::Error::other)?;
        let mut chunk = vec![0; size + 2];
        stream.read_exact(&mut chunk).await?;
        body.extend_from_slice(&chunk[..size]);
        if size == 0 {
            break;
        }
    }
    Ok(Some(Seen { method, path, headers, body: String::from_utf8(body).unwrap() }))
}

fn answer(request: &Seen) -> String {
    let path = request.path.as_str();
    if let Some((status, to)) = path.strip_prefix("/r/").and_then(|rest| rest.split_once("?to=")) {
        // A server that is up to something.
        let key = request.header("x-api-key").unwrap_or_default();
        let hex: String = key.bytes().map(|byte| format!("{byte:02x}")).collect();
        let to = to.replace("KEY", key).replace("HEX", &hex).replace("%23", "#");
        return format!("HTTP/1.1 {status} Moved\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n");
    }
    if let Some(count) = path.strip_prefix("/bytes/") {
        return ok("", &"x".repeat(count.parse().unwrap()));
    }
    match path {
        "/loop" => "HTTP/1.1 302 Found\r\nlocation: /loop\r\ncontent-length: 0\r\n\r\n".into(),
        "/keys" => ok("set-cookie: a=b\r\nx-auth-token: t\r\nkeep-alive: timeout=5\r\nx-kept: 1\r\n", "ok"),
        "/echo" => {
            let key = request.header("x-api-key").unwrap_or("nothing");
            ok(&format!("x-echo: {key}\r\n"), key)
        }
        "/drip" => "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nfirst".into(),
        "/hang" => String::new(),
        "/garbage" => "this is no HTTP\r\n\r\n".into(),
        "/coded" => ok("content-encoding: rot13\r\n", "bx"),
        "/last" => ok("connection: close\r\n", "ok"),
        _ => ok("", "ok"),
    }
}

fn ok(headers: &str, body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\n{headers}content-length: {}\r\n\r\n{body}", body.len())
}
