//! A small HTTP server in a thread, that says back what it got.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

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
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Seen::default();
        let (answer, log) = (Arc::new(answer), seen.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (answer, log) = (answer.clone(), log.clone());
                std::thread::spawn(move || drop(serve(stream, &*answer, &log)));
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

fn serve(stream: TcpStream, answer: &dyn Fn(&str) -> (String, Vec<u8>), log: &Seen) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut writer = stream;
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
        // One that says a length itself may be lying.
        let length =
            if head.contains("content-length") { String::new() } else { format!("\r\ncontent-length: {}", body.len()) };
        write!(writer, "HTTP/1.1 {head}{length}\r\n\r\n")?;
        writer.write_all(&body)?;
        if head.contains("connection: close") {
            return Ok(());
        }
    }
}
