//! Connections: used again where they can be, closed where not, and driven also while nobody reads an answer.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures::channel::mpsc;
use futures::future::join_all;
use futures::{SinkExt as _, StreamExt as _, stream};
use ringfence_core::{LimitKind, LimitSet, Limits};
use ringfence_egress::{Access, Budget, Egress, Request, Response, Upload};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Barrier;
use tokio::task::JoinSet;
use tokio::time::{advance, pause, resume};

use super::support::door::{access, body, door, get, send};
use super::support::names::Names;
use super::support::server::{Server, read};

/// A server, and how many connections it has got so far.
struct Counting {
    address: SocketAddr,
    accepted: Arc<AtomicUsize>,
    _tasks: JoinSet<()>,
}

impl Counting {
    /// Leaves each connection to `serve`.
    async fn new<F: Future<Output = ()> + Send + 'static>(
        serve: impl Fn(BufReader<TcpStream>) -> F + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, accepted) = (listener.local_addr().unwrap(), Arc::<AtomicUsize>::default());
        let (count, mut tasks) = (Arc::clone(&accepted), JoinSet::new());
        tasks.spawn(async move {
            let mut serving = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                serving.spawn(serve(BufReader::new(stream)));
            }
        });
        Self { address, accepted, _tasks: tasks }
    }

    fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }

    fn access(&self) -> Access {
        access(&[&self.url("/**")], &["127.0.0.1/32"])
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    fn request(&self, method: &str, path: &str) -> Request {
        Request::new(method, &self.url(path), [], "").unwrap()
    }
}

/// Answers with the path, as one piece, in chunks, or not at all.
async fn repeat_paths(mut stream: BufReader<TcpStream>) {
    while let Ok(Some(request)) = read(&mut stream).await {
        let path = request.path;
        let answer = match path.as_str() {
            "/nothing" => "HTTP/1.1 204 No Content\r\n\r\n".into(),
            "/chunks" => "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n7\r\n/chunks\r\n0\r\n\r\n".into(),
            _ if request.method == "HEAD" => "HTTP/1.1 200 OK\r\ncontent-length: 70\r\n\r\n".into(),
            _ => format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{path}", path.len()),
        };
        stream.write_all(answer.as_bytes()).await.unwrap();
    }
}

async fn upload(door: &Egress, request: Request, upload: Upload, access: &Access) -> Response {
    let large = LimitSet::default().with(LimitKind::HttpRequestBytes, 1 << 30);
    let budget = Budget::new(Limits::effective(&LimitSet::default(), &large));
    door.send_once(request, upload, None, access, &budget).await.unwrap()
}

#[tokio::test]
async fn requests_in_turn_share_one_connection() {
    let server = Counting::new(repeat_paths).await;
    let (door, access) = (door(&Names::new(&[])), server.access());
    for (method, path, answer) in
        [("GET", "/a", "/a"), ("GET", "/chunks", "/chunks"), ("HEAD", "/h", ""), ("DELETE", "/nothing", "")].repeat(3)
    {
        assert_eq!(body(&door, server.request(method, path), &access).await.unwrap(), answer);
        let pieces = stream::iter(["one", "two"].map(|piece| Ok(Bytes::from(piece))));
        let answer = upload(&door, server.request("POST", "/posted"), Upload::new(pieces, None), &access).await;
        assert_eq!(answer.body.collect().await.unwrap(), "/posted");
    }
    assert_eq!(server.accepted(), 1);
}

#[tokio::test]
async fn what_the_server_has_closed_is_not_used_again() {
    let server = Counting::new(async |mut stream| {
        let _ = read(&mut stream).await;
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await.unwrap();
    });
    let server = server.await;
    let (door, access) = (door(&Names::new(&[])), server.access());
    for sent in 1..=5 {
        // It has not said that it would close it, and a POST is not sent twice.
        assert_eq!(body(&door, server.request("POST", "/"), &access).await.unwrap(), "ok");
        assert_eq!(server.accepted(), sent);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn eight_of_many_connections_are_kept_for_a_minute() {
    let server = Server::on("127.0.0.1").await;
    let url = format!("http://127.0.0.1:{}/drip", server.port);
    let (door, access) = (door(&Names::new(&[])), access(&[&url.replace("drip", "**")], &["127.0.0.1/32"]));
    let all = Barrier::new(20);
    let ask = async || {
        let answer = send(&door, get(&url.replace("drip", "bytes/100000")), &access).await.unwrap();
        all.wait().await;
        answer.body.collect().await.unwrap()
    };
    join_all((0..20).map(|_| ask())).await;
    server.until_open(8).await;
    pause();
    advance(Duration::from_secs(61)).await;
    resume();
    server.until_open(0).await;
}

/// Answers with a head, before it has read more of the request than its own.
async fn answer_early(stream: &mut BufReader<TcpStream>) {
    let mut line = String::new();
    while stream.read_line(&mut line).await.unwrap() > "\r\n".len() {
        line.clear();
    }
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n").await.unwrap();
}

#[tokio::test]
async fn a_body_is_sent_on_while_nobody_reads_the_answer() {
    const PIECES: usize = 64;
    let server = Counting::new(async |mut stream| {
        answer_early(&mut stream).await;
        stream.read_exact(&mut vec![0; PIECES << 16]).await.unwrap();
        stream.write_all(b"read").await.unwrap();
    });
    let server = server.await;
    let (door, access) = (door(&Names::new(&[])), server.access());
    let (mut pieces, made) = mpsc::channel(0);
    let made = Upload::new(made, Some((PIECES << 16) as u64));
    let answer = upload(&door, server.request("POST", "/"), made, &access).await;
    // More than the system keeps for a connection.
    for _ in 0..PIECES {
        let sent = pieces.send(Ok(vec![b'x'; 1 << 16].into()));
        tokio::time::timeout(Duration::from_secs(20), sent).await.unwrap().unwrap();
    }
    drop(pieces);
    assert_eq!(answer.body.collect().await.unwrap(), "read");
}

#[tokio::test]
async fn dropping_an_answer_closes_the_connection_of_an_unfinished_body() {
    let (closed, mut ends) = mpsc::unbounded();
    let server = Counting::new(move |mut stream| {
        let closed = closed.clone();
        async move {
            answer_early(&mut stream).await;
            let _ = stream.read_to_end(&mut Vec::new()).await;
            closed.unbounded_send(()).unwrap();
        }
    });
    let server = server.await;
    let (door, access) = (door(&Names::new(&[])), server.access());
    drop(upload(&door, server.request("POST", "/"), Upload::new(stream::pending(), None), &access).await);
    tokio::time::timeout(Duration::from_secs(20), ends.next()).await.unwrap().unwrap();
}
