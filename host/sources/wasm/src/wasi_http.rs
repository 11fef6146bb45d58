//! `wasi:http` for guests: its requests pass the same door as those of our own interface.
//!
//! The types and streams are wasmtime's; what it leaves to its host, sending a request, is here. Bodies go both ways as
//! they are made. Redirects are not followed: a guest sees one as the answer that it is, and its next request is a
//! decision of its own. Requests run beside the guest, so going over a limit ends the call through its [`Outlet`].

mod errors;

use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::Bytes;
use futures::{StreamExt as _, stream};
use http::header::CONTENT_LENGTH;
use http_body::{Body as _, Frame};
use http_body_util::{BodyExt as _, BodyStream, StreamBody};
use ringfence_egress::{Body, EgressError, Request, Upload, UploadError, is_forbidden_header};
use wasmtime::component::Linker;
use wasmtime_wasi_http::{
    Error, ForbiddenHeaderFilter, RequestOptions, WasiBody, WasiHttpCtx, WasiHttpCtxView, WasiHttpHooks, WasiHttpView,
};

use crate::outlet::Outlet;
use crate::state::GuestState;

/// The largest piece of a request's body, in bytes. Two of each body are held.
const CHUNK: usize = 64 << 10;

/// The most that the fields of one header or trailer section take in memory, in bytes. Servers refuse far less.
const MAX_FIELDS: usize = 64 << 10;

/// Links `wasi:http`.
pub(crate) fn link(linker: &mut Linker<GuestState>) -> wasmtime::Result<()> {
    wasmtime_wasi_http::p2::add_only_http_to_linker_async(linker)
}

/// What the host holds of `wasi:http` for one instance.
pub(crate) struct WasiHttp {
    ctx: WasiHttpCtx,
    sender: Sender,
}

impl WasiHttp {
    /// Nothing to send through yet.
    pub(crate) fn new() -> Self {
        let mut ctx = WasiHttpCtx::new();
        ctx.set_field_size_limit(MAX_FIELDS);
        Self { ctx, sender: Sender { outlet: None, instance: Arc::default() } }
    }

    /// From now on requests go through `outlet`.
    pub(crate) fn begin(&mut self, outlet: Option<Outlet>) {
        self.sender.outlet = outlet;
    }
}

impl WasiHttpView for GuestState {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        let (http, table) = self.wasi_http();
        WasiHttpCtxView { hooks: &mut http.sender, table, ctx: &mut http.ctx }
    }
}

/// Sends requests, each in a task that ends with the guest's handle on it.
struct Sender {
    outlet: Option<Outlet>,
    /// Goes with the instance, and before its streams do.
    instance: Arc<()>,
}

type Answer = (http::Response<WasiBody>, Box<dyn Future<Output = Result<(), Error>> + Send>);

impl WasiHttpHooks for Sender {
    fn forbidden_header_filter(&mut self) -> ForbiddenHeaderFilter {
        // The length is checked against the body, and then the host's to set.
        Arc::new(|name| is_forbidden_header(name) && name != CONTENT_LENGTH)
    }

    fn set_host_header(&mut self) -> bool {
        false
    }

    fn p2_outgoing_body_chunk_size(&mut self) -> usize {
        CHUNK
    }

    fn send_request(
        &mut self,
        request: http::Request<WasiBody>,
        options: Option<RequestOptions>,
        _response_processed: Box<dyn Future<Output = Result<(), Error>> + Send>,
    ) -> Box<dyn Future<Output = Result<Answer, Error>> + Send> {
        let (outlet, instance) = (self.outlet.clone(), Arc::downgrade(&self.instance));
        Box::new(async move {
            let outlet = outlet.ok_or_else(|| errors::of(&EgressError::Nothing))?;
            let response = exchange(&outlet, request, options.unwrap_or_default(), instance).await?;
            let nothing_more: Box<dyn Future<Output = _> + Send> = Box::new(async { Ok(()) });
            Ok((response, nothing_more))
        })
    }
}

async fn exchange(
    outlet: &Outlet,
    request: http::Request<WasiBody>,
    options: RequestOptions,
    instance: Weak<()>,
) -> Result<http::Response<WasiBody>, Error> {
    let (request, body) = taken(request, instance).map_err(|error| told(outlet, &error))?;
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
fn taken(request: http::Request<WasiBody>, instance: Weak<()>) -> Result<(Request, Upload), EgressError> {
    let (mut parts, body) = request.into_parts();
    let said = parts.headers.remove(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    let length = said.or(body.size_hint().exact());
    let headers = parts.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
    let request = Request::new(parts.method.as_str(), &parts.uri.to_string(), headers, "")?;
    Ok((request, Upload::new(pieces(body, instance), length)))
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
        match within(between_bytes, body.chunk()).await?.map_err(|error| told(&outlet, &error))? {
            Some(piece) => Ok(Some((Frame::data(piece), Some((body, outlet))))),
            None => Ok(body.trailers().map(|trailers| (Frame::trailers(trailers), None))),
        }
    });
    StreamBody::new(frames).boxed_unsync()
}

/// What `work` results in, if that is within the guest's own time.
async fn within<T>(time: Option<Duration>, work: impl Future<Output = T>) -> Result<T, Error> {
    match time {
        None => Ok(work.await),
        Some(time) => tokio::time::timeout(time, work).await.map_err(|_elapsed| Error::ConnectionReadTimeout),
    }
}

/// Tells the operator why, and gives what the guest learns. Over a limit, the call ends.
fn told(outlet: &Outlet, error: &EgressError) -> Error {
    match error {
        EgressError::Limit(exceeded) => outlet.end(exceeded),
        _ => outlet.report(error),
    }
    errors::of(error)
}
