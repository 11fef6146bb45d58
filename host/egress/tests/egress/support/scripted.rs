//! A server whose answers a test writes down.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use super::server::{Seen, read};

/// What a server says: everything behind `HTTP/1.1 `. An empty text: nothing, for ever.
type Script = dyn Fn(usize, &Seen) -> String + Send + Sync;

pub struct Scripted {
    pub port: u16,
    seen: Arc<Mutex<Vec<Seen>>>,
    count: watch::Receiver<usize>,
    /// Each answer takes a permit.
    gate: Arc<Semaphore>,
    _tasks: JoinSet<()>,
}

impl Scripted {
    /// Answers the request number `n`, from 0, with what `script` says.
    pub async fn new(script: impl Fn(usize, &Seen) -> String + Send + Sync + 'static) -> Self {
        let server = Self::shut(script).await;
        server.open(Semaphore::MAX_PERMITS);
        server
    }

    /// The same, which answers nothing before it is opened.
    pub async fn shut(script: impl Fn(usize, &Seen) -> String + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let script: Arc<Script> = Arc::new(script);
        let seen = Arc::<Mutex<Vec<Seen>>>::default();
        let (counted, count) = watch::channel(0);
        let gate = Arc::new(Semaphore::new(0));
        let mut tasks = JoinSet::new();
        let (notes, pass) = (seen.clone(), gate.clone());
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(converse(stream, script.clone(), notes.clone(), counted.clone(), pass.clone()));
            }
        });
        Self { port, seen, count, gate, _tasks: tasks }
    }

    /// Lets so many answers out.
    pub fn open(&self, answers: usize) {
        self.gate.add_permits(answers);
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// Waits until so many requests have come.
    pub async fn until_asked(&self, requests: usize) {
        self.count.clone().wait_for(|count| *count >= requests).await.unwrap();
    }
}

async fn converse(
    stream: TcpStream,
    script: Arc<Script>,
    seen: Arc<Mutex<Vec<Seen>>>,
    counted: watch::Sender<usize>,
    gate: Arc<Semaphore>,
) {
    let mut stream = BufReader::new(stream);
    while let Ok(Some(request)) = read(&mut stream).await {
        let number = {
            let mut seen = seen.lock().unwrap();
            seen.push(request.clone());
            seen.len() - 1
        };
        counted.send_modify(|count| *count += 1);
        gate.acquire().await.unwrap().forget();
        let answer = script(number, &request);
        if answer.is_empty() {
            let _ = stream.read_to_end(&mut Vec::new()).await;
            return;
        }
        if stream.write_all(format!("HTTP/1.1 {answer}").as_bytes()).await.is_err() {
            return;
        }
    }
}

/// An answer with a body.
pub fn answer(status: &str, body: &str) -> String {
    format!("{status}\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}
