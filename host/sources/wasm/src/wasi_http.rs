//! `wasi:http` for guests: its requests pass the same door as those of our own interface.
//!
//! The types and streams are wasmtime's; what it leaves to its host, sending a request, is here, and how a guest waits for
//! the answer is in [`answering`]. Bodies go both ways as they are made. Redirects are not followed: a guest sees one as
//! the answer that it is, and its next request is a decision of its own. A request goes on beside the guest, so going over
//! a limit ends the call through its [`Outlet`].

mod answering;
mod errors;
mod in_flight;

use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::Bytes;
use futures::{StreamExt as _, stream};
use http::HeaderMap;
use http::header::CONTENT_LENGTH;
use http_body::{Body as _, Frame};
use http_body_util::{BodyExt as _, BodyStream, StreamBody};
use ringfence_egress::{Body, EgressError, Request, Upload, UploadError, is_forbidden_header};
use wasmtime::component::Linker;
use wasmtime_wasi_http::p2::bindings::http::types::{ErrorCode, Method, Scheme};
use wasmtime_wasi_http::p2::types::HostOutgoingRequest;
use wasmtime_wasi_http::{
    Error, ForbiddenHeaderFilter, RequestOptions, WasiBody, WasiHttpCtx, WasiHttpCtxView, WasiHttpHooks, WasiHttpView,
};

use self::answering::{Answering, Outcome};
pub(crate) use self::in_flight::InFlight;
use crate::outlet::Outlet;
use crate::state::GuestState;

/// The largest piece of a request's body, in bytes. Two of each body are held.
const CHUNK: usize = 64 << 10;

/// The most that the fields of one header or trailer section take in memory, in bytes. Servers refuse far less.
const MAX_FIELDS: usize = 64 << 10;

/// Links `wasi:http`.
pub(crate) fn link(linker: &mut Linker<GuestState>) -> wasmtime::Result<()> {
    wasmtime_wasi_http::p2::add_only_http_to_linker_async(linker)?;
    answering::link(linker)
}

/// What the host holds of `wasi:http` for one instance.
pub(crate) struct WasiHttp {
    ctx: WasiHttpCtx,
    hooks: Hooks,
    /// Through what the requests of the call go, and those that go on; `None` where none may be sent.
    sending: Option<(Outlet, InFlight)>,
    /// Goes with the instance, and before its streams do.
    instance: Arc<()>,
}

impl WasiHttp {
    /// Nothing to send through yet.
    pub(crate) fn new() -> Self {
        let mut ctx = WasiHttpCtx::new();
        ctx.set_field_size_limit(MAX_FIELDS);
        Self { ctx, hooks: Hooks, sending: None, instance: Arc::default() }
    }

    /// From now on requests go through `outlet`. Those before have ended.
    pub(crate) fn begin(&mut self, outlet: Option<Outlet>) {
        self.sending = outlet.map(|outlet| (outlet, InFlight::default()));
    }

    /// The requests of the call, which go on as far as somebody drives them.
    pub(crate) fn in_flight(&self) -> Option<InFlight> {
        self.sending.as_ref().map(|(_, in_flight)| in_flight.clone())
    }

    /// Sends `request`, as soon as the guest waits.
    fn send(&self, request: HostOutgoingRequest, options: RequestOptions) -> Answering {
        let Some((outlet, in_flight)) = &self.sending else {
            return Answering::Here(Err(errors::of(&EgressError::Nothing)));
        };
        let (outlet, instance) = (outlet.clone(), Arc::downgrade(&self.instance));
        let exchange = async move { exchange(&outlet, request, options, instance).await };
        Answering::Coming(in_flight.add(exchange))
    }
}

impl WasiHttpView for GuestState {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        let (http, table) = self.wasi_http();
        WasiHttpCtxView { hooks: &mut http.hooks, table, ctx: &mut http.ctx }
    }
}

/// What of wasmtime's part is ours to say.
struct Hooks;

type Sent = Result<(http::Response<WasiBody>, Box<dyn Future<Output = Result<(), Error>> + Send>), Error>;

impl WasiHttpHooks for Hooks {
    fn forbidden_header_filter(&mut self) -> ForbiddenHeaderFilter {
        // The length is checked against the body, and then the host's to set.
        Arc::new(|name| is_forbidden_header(name) && name != CONTENT_LENGTH)
    }

    fn p2_outgoing_body_chunk_size(&mut self) -> usize {
        CHUNK
    }

    /// Nothing is sent around [`WasiHttp::send`].
    fn send_request(
        &mut self,
        _request: http::Request<WasiBody>,
        _options: Option<RequestOptions>,
        _response_processed: Box<dyn Future<Output = Result<(), Error>> + Send>,
    ) -> Box<dyn Future<Output = Sent> + Send> {
        Box::new(async { Err(Error::HttpRequestDenied) })
    }
}

async fn exchange(
    outlet: &Outlet,
    request: HostOutgoingRequest,
    options: RequestOptions,
    instance: Weak<()>,
) -> Outcome {
    let (request, body) = taken(outlet, request, instance)?;
    let answer = outlet.send_once(request, body, options.connect_timeout);
    let answer = within(options.first_byte_timeout, answer).await?;
    let answer = answer.map_err(|error| told(outlet, &error))?;
    let (status, headers) = (answer.status, answer.headers);
    let mut response = http::Response::new(received(answer.body, outlet.clone(), options.between_bytes_timeout));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    Ok(response)
}

/// What the guest asks for, as the door takes it.
fn taken(outlet: &Outlet, request: HostOutgoingRequest, instance: Weak<()>) -> Result<(Request, Upload), ErrorCode> {
    let url = url(&request)?;
    let mut headers = HeaderMap::from(request.headers);
    let said = headers.remove(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    let headers = headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
    let upload = match request.body {
        Some(body) => {
            let length = said.or(body.size_hint().exact());
            Upload::new(pieces(body, instance), length)
        }
        None => Upload::new(stream::empty(), said.or(Some(0))),
    };
    let request = Request::new(method(&request.method), &url, headers, "");
    Ok((request.map_err(|error| told(outlet, &error.into()))?, upload))
}

fn url(request: &HostOutgoingRequest) -> Result<String, ErrorCode> {
    let scheme = match &request.scheme {
        None | Some(Scheme::Https) => "https",
        Some(Scheme::Http) => "http",
        Some(Scheme::Other(_)) => return Err(ErrorCode::HttpProtocolError),
    };
    let authority = request.authority.as_deref().unwrap_or_default();
    let path = request.path_with_query.as_deref().unwrap_or_default();
    // Without it, what is meant for a path would go on with the host's name.
    let slash = if path.starts_with('/') { "" } else { "/" };
    Ok(format!("{scheme}://{authority}{slash}{path}"))
}

fn method(method: &Method) -> &str {
    match method {
        Method::Get => "GET",
        Method::Head => "HEAD",
        Method::Post => "POST",
        Method::Put => "PUT",
        Method::Delete => "DELETE",
        Method::Connect => "CONNECT",
        Method::Options => "OPTIONS",
        Method::Trace => "TRACE",
        Method::Patch => "PATCH",
        Method::Other(other) => other,
    }
}

/// The body that the guest writes. A body also ends when its instance does, in the middle of it; the server must not
/// take that for the whole.
fn pieces(
    body: WasiBody,
    instance: Weak<()>,
) -> impl futures::Stream<Item = Result<Bytes, UploadError>> + Send + 'static {
    stream::try_unfold(BodyStream::new(body), move |mut body| {
        let instance = instance.clone();
        async move {
            match body.next().await.transpose().map_err(|_given_up| UploadError::Unfinished)?.map(Frame::into_data) {
                Some(Ok(piece)) => Ok(Some((piece, body))),
                Some(Err(trailers)) if trailers.trailers_ref().is_some_and(|fields| !fields.is_empty()) => {
                    Err(UploadError::Trailers)
                }
                _ if instance.strong_count() == 0 => Err(UploadError::Unfinished),
                _ => Ok(None),
            }
        }
    })
}

/// The body that the guest reads, and its trailers.
fn received(body: Body, outlet: Outlet, between_bytes: Option<Duration>) -> WasiBody {
    let frames = stream::try_unfold(Some((body, outlet)), move |open| async move {
        let Some((mut body, outlet)) = open else { return Ok(None) };
        let chunk = within(between_bytes, body.chunk()).await.map_err(Error::from)?;
        match chunk.map_err(|error| Error::from(told(&outlet, &error)))? {
            Some(piece) => Ok(Some((Frame::data(piece), Some((body, outlet))))),
            None => Ok(body.trailers().map(|trailers| (Frame::trailers(trailers), None))),
        }
    });
    StreamBody::new(frames).boxed_unsync()
}

/// What `work` results in, if that is within the guest's own time.
async fn within<T>(time: Option<Duration>, work: impl Future<Output = T>) -> Result<T, ErrorCode> {
    match time {
        None => Ok(work.await),
        Some(time) => tokio::time::timeout(time, work).await.map_err(|_elapsed| ErrorCode::ConnectionReadTimeout),
    }
}

/// Tells the operator why, and gives what the guest learns. Over a limit, the call ends.
fn told(outlet: &Outlet, error: &EgressError) -> ErrorCode {
    match error {
        EgressError::Limit(exceeded) => outlet.end(exceeded),
        _ => outlet.report(error),
    }
    errors::of(error)
}
