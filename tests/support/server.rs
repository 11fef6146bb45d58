//! A small HTTP server in a thread, that says back what it got.

use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// What the server got: first line, headers and body.
pub type Seen = Arc<Mutex<Vec<String>>>;

/// A server on the loopback interface.
pub struct Server {
    pub address: SocketAddr,
    seen: Seen,
}

impl Server {
    /// Starts one that answers each request with what `answer` makes of it: status line, headers, body.
    pub fn new(answer: impl Fn(&str) -> (String, Vec<u8>) + Send + Sync + 'static) -> Self {
        Self::over(Ok, answer)
    }

    /// The same over TLS, as who `identity` says.
    pub fn tls(
        identity: Arc<ServerConfig>,
        answer: impl Fn(&str) -> (String, Vec<u8>) + Send + Sync + 'static,
    ) -> Self {
        let secured = move |stream: TcpStream| {
            let connection = ServerConnection::new(identity.clone()).map_err(io::Error::other)?;
            Ok(StreamOwned::new(connection, stream))
        };
        Self::over(secured, answer)
    }

    /// One that speaks HTTP over what `open` makes of a connection.
    fn over<S: Read + Write>(
        open: impl Fn(TcpStream) -> io::Result<S> + Send + Sync + 'static,
        answer: impl Fn(&str) -> (String, Vec<u8>) + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Seen::default();
        let (answer, open, log) = (Arc::new(answer), Arc::new(open), seen.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (answer, open, log) = (answer.clone(), open.clone(), log.clone());
                std::thread::spawn(move || drop(open(stream).and_then(|stream| serve(stream, &*answer, &log))));
            }
        });
        Self { address, seen }
    }

    /// One that says back what it got, as text.
    pub fn echo() -> Self {
        Self::new(|request| ("200 OK\r\ncontent-type: text/plain".into(), request.as_bytes().to_vec()))
    }

    /// The URL of `path` on it.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Everything that it got so far.
    pub fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

fn serve(stream: impl Read + Write, answer: &dyn Fn(&str) -> (String, Vec<u8>), log: &Seen) -> io::Result<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let mut request = String::new();
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            request.push_str(&line);
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        request.push_str(&String::from_utf8_lossy(&body));
        log.lock().unwrap().push(request.clone());
        let (head, body) = answer(&request);
        let writer = reader.get_mut();
        write!(writer, "HTTP/1.1 {head}\r\ncontent-length: {}\r\n\r\n", body.len())?;
        writer.write_all(&body)?;
        writer.flush()?;
    }
}
