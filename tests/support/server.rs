//! A small HTTP server in threads, that says back what it got.

use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use rustls::{ServerConnection, StreamOwned};

use super::authority::Identity;

/// A server on the loopback interface.
pub struct Server {
    pub address: SocketAddr,
    noted: Arc<Noted>,
}

/// What the server noted.
#[derive(Default)]
struct Noted {
    /// The requests that arrived whole: first line, headers and body.
    seen: Mutex<Vec<String>>,
    /// How many began.
    begun: AtomicUsize,
    /// Connections that are open.
    open: AtomicUsize,
}

/// One request and the connection that it came over.
pub struct Exchange<'a> {
    /// First line and headers.
    pub head: String,
    stream: &'a mut BufReader<Box<dyn Connection>>,
}

/// What a server reads and writes.
trait Connection: Read + Write {}

impl<T: Read + Write> Connection for T {}

type Open = Arc<dyn Fn(TcpStream) -> io::Result<Box<dyn Connection>> + Send + Sync>;

impl Server {
    /// Starts one that answers each request with what `answer` makes of it: status line, headers, body.
    pub fn new(answer: impl Fn(&str) -> (String, Vec<u8>) + Send + Sync + 'static) -> Self {
        Self::answering(Arc::new(|stream| Ok(Box::new(stream))), answer)
    }

    /// The same over TLS, as who `identity` says.
    pub fn tls(identity: Identity, answer: impl Fn(&str) -> (String, Vec<u8>) + Send + Sync + 'static) -> Self {
        let config = identity.config();
        let secured = move |stream: TcpStream| -> io::Result<Box<dyn Connection>> {
            let connection = ServerConnection::new(config.clone()).map_err(io::Error::other)?;
            Ok(Box::new(StreamOwned::new(connection, stream)))
        };
        Self::answering(Arc::new(secured), answer)
    }

    fn answering(open: Open, answer: impl Fn(&str) -> (String, Vec<u8>) + Send + Sync + 'static) -> Self {
        Self::start(open, move |exchange, noted| {
            let request = exchange.whole()?;
            // Before the answer, so that whoever has it finds the request here.
            noted.seen.lock().unwrap().push(request.clone());
            let (head, body) = answer(&request);
            // One that says a length itself may be lying.
            let says = head.contains("content-length");
            let length = if says { String::new() } else { format!("\r\ncontent-length: {}", body.len()) };
            exchange.send(format!("HTTP/1.1 {head}{length}\r\n\r\n").as_bytes())?;
            exchange.send(&body)?;
            if head.contains("connection: close") { Err(io::ErrorKind::ConnectionAborted.into()) } else { Ok(()) }
        })
    }

    /// Starts one that reads and writes by itself, and gives the request as it is to be noted.
    pub fn by_hand(converse: impl Fn(&mut Exchange<'_>) -> io::Result<String> + Send + Sync + 'static) -> Self {
        Self::start(Arc::new(|stream| Ok(Box::new(stream))), move |exchange, noted| {
            let request = converse(exchange)?;
            noted.seen.lock().unwrap().push(request);
            Ok(())
        })
    }

    /// One that takes connections and never says a word.
    pub fn silent() -> Self {
        let hear = |mut stream: TcpStream| -> io::Result<Box<dyn Connection>> {
            io::copy(&mut stream, &mut io::sink())?;
            Err(io::ErrorKind::ConnectionAborted.into())
        };
        Self::start(Arc::new(hear), |_, _| Ok(()))
    }

    fn start(
        open: Open,
        converse: impl Fn(&mut Exchange<'_>, &Noted) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let noted = Arc::<Noted>::default();
        let (converse, notes) = (Arc::new(converse), noted.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (open, converse, notes) = (open.clone(), converse.clone(), notes.clone());
                notes.open.fetch_add(1, Ordering::SeqCst);
                std::thread::spawn(move || {
                    let _ = serve(stream, &*open, &*converse, &notes);
                    notes.open.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        Self { address, noted }
    }

    /// One that says back what it got, as text.
    pub fn echo() -> Self {
        Self::new(|request| ("200 OK\r\ncontent-type: text/plain".into(), request.as_bytes().to_vec()))
    }

    /// The URL of `path` on it.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Everything that arrived whole so far.
    pub fn seen(&self) -> Vec<String> {
        self.noted.seen.lock().unwrap().clone()
    }

    /// How many requests began so far, whether or not they arrived whole.
    pub fn begun(&self) -> usize {
        self.noted.begun.load(Ordering::SeqCst)
    }

    /// How many connections are open now.
    pub fn open(&self) -> usize {
        self.noted.open.load(Ordering::SeqCst)
    }
}

impl Exchange<'_> {
    /// The request with all of its body.
    pub fn whole(&mut self) -> io::Result<String> {
        let head = self.head.to_ascii_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
        let mut body = vec![0; length.map_or(0, |value| value.trim().parse().unwrap())];
        self.stream.read_exact(&mut body)?;
        if head.contains("transfer-encoding: chunked") {
            while let Some(chunk) = self.chunk()? {
                body.extend(chunk);
            }
        }
        Ok(format!("{}{}", self.head, String::from_utf8_lossy(&body)))
    }

    /// The next chunk of a chunked body; `None` at its end.
    pub fn chunk(&mut self) -> io::Result<Option<Vec<u8>>> {
        let size = self.line()?;
        let size = usize::from_str_radix(size.trim(), 16).map_err(io::Error::other)?;
        let mut chunk = vec![0; size];
        self.stream.read_exact(&mut chunk)?;
        self.line()?;
        Ok((size > 0).then_some(chunk))
    }

    /// Sends `bytes` as they stand.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.get_mut().write_all(bytes)
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        match self.stream.read_line(&mut line)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(line),
        }
    }
}

fn serve(
    stream: TcpStream,
    open: &dyn Fn(TcpStream) -> io::Result<Box<dyn Connection>>,
    converse: &dyn Fn(&mut Exchange<'_>, &Noted) -> io::Result<()>,
    notes: &Noted,
) -> io::Result<()> {
    // A response in two pieces does not wait for an acknowledgement.
    stream.set_nodelay(true)?;
    let mut stream = BufReader::new(open(stream)?);
    loop {
        let mut exchange = Exchange { head: String::new(), stream: &mut stream };
        while !exchange.head.ends_with("\r\n\r\n") {
            let line = exchange.line()?;
            exchange.head.push_str(&line);
        }
        notes.begun.fetch_add(1, Ordering::SeqCst);
        converse(&mut exchange, notes)?;
    }
}
