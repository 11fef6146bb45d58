//! What a client sends, and what it gets.

use bytes::Bytes;
use futures::StreamExt as _;
use futures::stream::BoxStream;
use http::header::{ACCEPT, HOST, USER_AGENT};
use http::{HeaderMap, HeaderValue, Request, StatusCode, Uri};
use http_body::{Body as _, Frame};
use http_body_util::{Either, Full, StreamBody};
use hyper::body::Incoming;
use url::Position;

use super::connection::Arriving;
use crate::outgoing::Outgoing;
use crate::upload::UploadError;

/// How the host calls itself where a guest says nothing else.
const AGENT: &str = concat!("ringfence/", env!("CARGO_PKG_VERSION"));

/// A body at hand, or one that is still being made.
pub(super) type RequestBody = Either<Full<Bytes>, StreamBody<BoxStream<'static, Result<Frame<Bytes>, UploadError>>>>;

/// A request as a client takes it.
pub(crate) struct Message {
    /// Scheme, host and port.
    pub(super) origin: String,
    pub(super) request: Request<RequestBody>,
}

impl Message {
    /// The message for `outgoing`.
    ///
    /// # Errors
    /// When its URL, which has been parsed as one, cannot stand in a request.
    pub(crate) fn new(outgoing: Outgoing) -> Result<Self, http::Error> {
        let url = &outgoing.url;
        let host = HeaderValue::from_str(&url[Position::BeforeHost..Position::AfterPort])?;
        let mut request = Request::new(Either::Left(Full::new(outgoing.body)));
        *request.uri_mut() = Uri::try_from(&url[Position::BeforePath..Position::AfterQuery])?;
        *request.method_mut() = outgoing.method;
        *request.headers_mut() = outgoing.headers;
        let headers = request.headers_mut();
        headers.insert(HOST, host);
        headers.entry(ACCEPT).or_insert(HeaderValue::from_static("*/*"));
        headers.entry(USER_AGENT).or_insert(HeaderValue::from_static(AGENT));
        Ok(Self { origin: url[..Position::BeforePath].to_owned(), request })
    }

    /// The same with a body that is still being made.
    pub(crate) fn with_upload(mut self, pieces: BoxStream<'static, Result<Bytes, UploadError>>) -> Self {
        let frames = pieces.map(|piece| piece.map(Frame::data)).boxed();
        *self.request.body_mut() = Either::Right(StreamBody::new(frames));
        self
    }

    /// Its headers.
    pub(crate) fn headers_mut(&mut self) -> &mut HeaderMap {
        self.request.headers_mut()
    }
}

/// The head of an answer, and its body as it arrives. Dropping it closes the connection, unless all of it has arrived.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    /// Bytes of the body, where the server says so.
    pub(crate) length: Option<u64>,
    pub(crate) body: Arriving,
}

impl Answer {
    pub(super) fn new(response: http::Response<Incoming>, arriving: impl FnOnce(Incoming) -> Arriving) -> Self {
        let (head, body) = response.into_parts();
        let length = body.size_hint().exact();
        Self { status: head.status, headers: head.headers, length, body: arriving(body) }
    }
}
