//! How a guest waits for the answer to its request.
//!
//! The resource that stands for the answer is ours, and with it the functions that make and use it: wasmtime's starts a task
//! for each request, ours goes on as [`InFlight`](super::in_flight::InFlight) says.

use async_trait::async_trait;
use futures::FutureExt as _;
use tokio::sync::oneshot;
use wasmtime::StoreContextMut;
use wasmtime::component::{Linker, Resource, ResourceType};
use wasmtime_wasi::p2::{DynPollable, Pollable, subscribe};
use wasmtime_wasi_http::p2::bindings::http::types::ErrorCode;
use wasmtime_wasi_http::p2::body::HostIncomingBody;
use wasmtime_wasi_http::p2::types::{HostIncomingResponse, HostOutgoingRequest};
use wasmtime_wasi_http::{FieldMap, RequestOptions, WasiBody};

use crate::state::GuestState;

/// The interfaces as wasmtime links them.
const TYPES: &str = "wasi:http/types@0.2.12";
const HANDLER: &str = "wasi:http/outgoing-handler@0.2.12";

/// How a request ends.
pub(super) type Outcome = Result<http::Response<WasiBody>, ErrorCode>;

/// An answer: `wasi:http/types.future-incoming-response`.
pub(super) enum Answering {
    /// It is on its way.
    Coming(oneshot::Receiver<Outcome>),
    /// It is here.
    Here(Outcome),
    /// The guest has it.
    Taken,
}

impl Answering {
    /// The answer, once it is here; an error for whoever has it already.
    fn take(&mut self) -> Option<Result<Outcome, ()>> {
        let _ = self.ready().now_or_never();
        match std::mem::replace(self, Self::Taken) {
            Self::Here(outcome) => Some(Ok(outcome)),
            Self::Taken => Some(Err(())),
            coming @ Self::Coming(_) => {
                *self = coming;
                None
            }
        }
    }
}

#[async_trait]
impl Pollable for Answering {
    async fn ready(&mut self) {
        if let Self::Coming(outcome) = self {
            let gone = |_| Err(ErrorCode::InternalError(None)); // only with the call itself
            *self = Self::Here(outcome.await.unwrap_or_else(gone));
        }
    }
}

/// Puts the functions of answers, and the one that sends a request, in the place of wasmtime's.
pub(super) fn link(linker: &mut Linker<GuestState>) -> wasmtime::Result<()> {
    linker.allow_shadowing(true);
    let mut types = linker.instance(TYPES)?;
    types.resource("future-incoming-response", ResourceType::host::<Answering>(), drop_answer)?;
    types.func_wrap("[method]future-incoming-response.subscribe", wait)?;
    types.func_wrap("[method]future-incoming-response.get", get)?;
    linker.instance(HANDLER)?.func_wrap("handle", handle)?;
    linker.allow_shadowing(false);
    Ok(())
}

fn drop_answer(mut store: StoreContextMut<'_, GuestState>, number: u32) -> wasmtime::Result<()> {
    let (_, table) = store.data_mut().wasi_http();
    table.delete(Resource::<Answering>::new_own(number))?;
    Ok(())
}

fn wait(
    mut store: StoreContextMut<'_, GuestState>,
    (answering,): (Resource<Answering>,),
) -> wasmtime::Result<(Resource<DynPollable>,)> {
    let (_, table) = store.data_mut().wasi_http();
    Ok((subscribe(table, answering)?,))
}

/// What the guest gets: nothing yet, an error for the second time, the response or why there is none.
type Got = Option<Result<Result<Resource<HostIncomingResponse>, ErrorCode>, ()>>;

fn get(mut store: StoreContextMut<'_, GuestState>, (answering,): (Resource<Answering>,)) -> wasmtime::Result<(Got,)> {
    let (http, table) = store.data_mut().wasi_http();
    let response = match table.get_mut(&answering)?.take() {
        Some(Ok(Ok(response))) => response,
        Some(Ok(Err(code))) => return Ok((Some(Ok(Err(code))),)),
        Some(Err(())) => return Ok((Some(Err(())),)),
        None => return Ok((None,)),
    };
    let (head, body) = response.into_parts();
    let response = table.push(HostIncomingResponse {
        status: head.status.as_u16(),
        headers: FieldMap::new_immutable(&mut http.hooks, head.headers),
        body: Some(HostIncomingBody::new(body)),
    })?;
    Ok((Some(Ok(Ok(response))),))
}

fn handle(
    mut store: StoreContextMut<'_, GuestState>,
    (request, options): (Resource<HostOutgoingRequest>, Option<Resource<RequestOptions>>),
) -> wasmtime::Result<(Result<Resource<Answering>, ErrorCode>,)> {
    let (http, table) = store.data_mut().wasi_http();
    let request = table.delete(request)?;
    let options = options.map(|options| table.delete(options)).transpose()?.unwrap_or_default();
    Ok((Ok(table.push(http.send(request, options))?),))
}
