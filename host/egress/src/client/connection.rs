//! One connection. It is driven by whoever waits for an answer or reads it. A task for it would have to be woken for
//! each request and for each piece of an answer, which takes longer than the rest of a short exchange.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker, ready};

use bytes::Bytes;
use futures::FutureExt as _;
use http::Request;
use http_body::{Body as _, Frame};
use http_body_util::Either;
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_rustls::MaybeHttpsStream;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio_util::task::AbortOnDropHandle;

use super::ClientError;
use super::idle::Home;
use super::message::{Answer, RequestBody};

/// The most headers of a response; the largest of real ones have some 60.
const MAX_HEADERS: usize = 128;

type Stream = MaybeHttpsStream<TokioIo<TcpStream>>;
/// Large, and moved from one who drives it to the next.
type Driving = Box<http1::Connection<Stream, RequestBody>>;

/// A connection that is ready for a request.
pub(super) struct Connection {
    sender: SendRequest<RequestBody>,
    driver: Driver,
}

/// Why an exchange failed.
pub(super) struct Failed {
    error: hyper::Error,
    /// The request, where nothing of it was sent.
    pub(super) unsent: Option<Request<RequestBody>>,
}

impl From<Failed> for ClientError {
    fn from(failed: Failed) -> Self {
        Self::Exchange(failed.error)
    }
}

impl Connection {
    pub(super) async fn new(stream: Stream) -> hyper::Result<Self> {
        let (sender, driving) = http1::Builder::new().max_headers(MAX_HEADERS).handshake(stream).await?;
        Ok(Self { sender, driver: Driver::Reader(Some(Box::new(driving))) })
    }

    /// Sends `request` and waits for the head of the answer. Once all of that has been read, the connection goes `home`.
    pub(super) async fn exchange(mut self, request: Request<RequestBody>, home: &Home) -> Result<Answer, Failed> {
        if matches!(request.body(), Either::Right(_)) {
            self.driver = self.driver.in_background();
        }
        let mut answering = pin!(self.sender.try_send_request(request));
        let answer = poll_fn(|context| {
            self.driver.poll(context);
            answering.as_mut().poll(context)
        });
        let answer = answer.await.map_err(|mut failed| {
            let unsent = failed.take_message();
            Failed { error: failed.into_error(), unsent }
        })?;
        Ok(Answer::new(answer, |body| Arriving::new(body, self, home.clone())))
    }

    /// Whether a request can be sent over it, as far as one can see. The server may have closed it.
    pub(super) fn is_usable(&mut self) -> bool {
        // Nobody waits for it.
        self.driver.poll(&mut Context::from_waker(Waker::noop()));
        self.driver.is_alive() && self.sender.is_ready()
    }
}

/// What makes a connection work.
enum Driver {
    /// Whoever reads from it does; `None` once it has ended.
    Reader(Option<Driving>),
    /// While a request is still being made, it has to be sent also when nobody reads the answer.
    Background(Background),
}

impl Driver {
    /// Goes on as far as that is possible now. What it fails with, the answer or its body tells.
    fn poll(&mut self, context: &mut Context<'_>) {
        if let Self::Reader(driving) = self {
            drive(driving, context);
        }
    }

    fn is_alive(&self) -> bool {
        matches!(self, Self::Reader(Some(_)))
    }

    fn in_background(self) -> Self {
        match self {
            Self::Reader(driving) => Self::Background(Background::new(driving)),
            background => background,
        }
    }

    fn in_reader(self) -> Self {
        match self {
            Self::Background(background) => Self::Reader(background.take()),
            reader => reader,
        }
    }
}

fn drive(driving: &mut Option<Driving>, context: &mut Context<'_>) {
    if driving.as_mut().is_some_and(|driving| driving.poll_unpin(context).is_ready()) {
        *driving = None;
    }
}

/// A connection that a task drives. Dropping it closes the connection at once.
struct Background {
    driving: Arc<Mutex<Option<Driving>>>,
    _task: AbortOnDropHandle<()>,
}

impl Background {
    fn new(driving: Option<Driving>) -> Self {
        let driving = Arc::new(Mutex::new(driving));
        let shared = Arc::clone(&driving);
        let task = poll_fn(move |context| {
            let mut driving = shared.lock().unwrap_or_else(PoisonError::into_inner);
            drive(&mut driving, context);
            if driving.is_some() { Poll::Pending } else { Poll::Ready(()) }
        });
        Self { driving, _task: AbortOnDropHandle::new(tokio::spawn(task)) }
    }

    fn take(&self) -> Option<Driving> {
        self.driving.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        drop(self.take());
    }
}

/// The body of an answer. Reading it drives the connection.
pub(crate) struct Arriving {
    body: Incoming,
    /// `None` at the end.
    connection: Option<(Connection, Home)>,
}

impl Arriving {
    fn new(body: Incoming, connection: Connection, home: Home) -> Self {
        let mut arriving = Self { body, connection: Some((connection, home)) };
        if arriving.body.is_end_stream() {
            arriving.end();
        }
        arriving
    }

    /// All of it is here.
    fn end(&mut self) {
        if let Some((mut connection, home)) = self.connection.take() {
            connection.driver = connection.driver.in_reader();
            if connection.is_usable() {
                home.give(connection);
            }
        }
    }
}

impl futures::Stream for Arriving {
    type Item = hyper::Result<Frame<Bytes>>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        let mut next = Pin::new(&mut this.body).poll_frame(context);
        if next.is_pending()
            && let Some((connection, _)) = &mut this.connection
        {
            connection.driver.poll(context);
            next = Pin::new(&mut this.body).poll_frame(context);
        }
        let next = ready!(next);
        match &next {
            Some(Err(_)) => this.connection = None,
            Some(Ok(_)) if !this.body.is_end_stream() => (),
            _ => this.end(),
        }
        Poll::Ready(next)
    }
}
