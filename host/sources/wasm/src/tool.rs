//! One tool of a component.

use std::convert::Infallible;
use std::sync::Arc;

use async_trait::async_trait;
use ringfence_core::error::ToolError;
use ringfence_core::limit::LimitExceeded;
use ringfence_core::output::{RawOutput, Usage};
use ringfence_core::permit::Permit;
use ringfence_core::tool::{Tool, ToolSpec};
use ringfence_package::Effective;
use wasmtime::Store;

use crate::component::{GRANT_ENDED, GuestComponent};
use crate::concurrency::ToolPlaces;
use crate::spare::{Holds, Ready, Spare, Used};
use crate::state::GuestState;
use crate::wasi_http::InFlight;
use crate::{fault, instance};

pub(crate) struct WasmTool {
    pub(crate) spec: ToolSpec,
    pub(crate) component: Arc<GuestComponent>,
    pub(crate) places: ToolPlaces,
    pub(crate) spare: Spare,
}

#[async_trait]
impl Tool for WasmTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn execute(&self, permit: Permit) -> Result<RawOutput, ToolError> {
        let call = permit.call();
        let (caller, depth) = (call.context().caller.key(), call.context().depth);
        let place = permit.wait_for(self.places.place(caller, depth)).await?;
        let loaded = self.component.loaded().await;
        let loaded = loaded.map_err(|error| ToolError::Unavailable { reason: error.to_string(), retry_after: None })?;

        let engine = self.component.engine();
        let limits = &permit.grant().limits;
        // The room is freed when the store is gone: what is declared first is dropped last.
        let (room, mut store, ready) = match self.spare.take(limits).map(Ready::into_parts) {
            Some((store, guest, room)) => (Some(room), store, Some(guest)),
            None => {
                let store = instance::store(engine, GuestState::waiting(limits));
                (None, store.map_err(|error| ToolError::Trapped(error.to_string()))?, None)
            }
        };
        let ended =
            |error, store: &Store<GuestState>| fault::classify(error, store.data(), engine.settings().stack_bytes);
        store.data_mut().begin(&permit, self.component.reach());
        let guest = match ready {
            Some(guest) => guest,
            None => {
                let (exceeded, requests) = (store.data().until_exceeded(), store.data().in_flight());
                let guest = beside(exceeded, requests, loaded.kind.instantiate(&mut store)).await;
                guest.map_err(|error| ended(error, &store))?
            }
        };
        let (exceeded, requests) = (store.data().until_exceeded(), store.data().in_flight());
        let call = guest.call(&mut store, &self.spec.name, &permit, self.component.package());
        let answer = tokio::select! {
            biased;
            () = end_of(&self.component.reach().grant) => {
                return Err(ToolError::Unavailable { reason: GRANT_ENDED.into(), retry_after: None });
            }
            answer = beside(exceeded, requests, call) => answer,
        };
        // A guest that was told so may have returned at once.
        let answer = store.data().exceeded().map_or(answer, |exceeded| Err(exceeded.into()));
        let answer = answer.map_err(|error| ended(error, &store))?;
        let fuel = instance::fuel_used(&store, limits);
        let peak_memory = Some(store.data().growth.peak_memory());
        let result = answer.output(Usage { fuel, peak_memory }, limits);
        store.data_mut().end();
        let holds = match room {
            Some(room) => Holds::Room { _room: room },
            None => Holds::Place { _place: place },
        };
        self.spare.leave(Used { _store: store, holds }, engine, loaded, limits);
        result
    }
}

/// Waits for the end of `grant`: what is under way by it stops there, as it does where the operator takes it back.
async fn end_of(grant: &Effective) {
    match grant.ends_in() {
        Some(left) => tokio::time::sleep(left).await,
        None => std::future::pending().await,
    }
}

/// What `work` of a guest results in. Its `requests` go on while it waits, and end it where one goes over a limit.
async fn beside<T>(
    exceeded: impl Future<Output = LimitExceeded>,
    requests: Option<InFlight>,
    work: impl Future<Output = wasmtime::Result<T>>,
) -> wasmtime::Result<T> {
    tokio::select! {
        biased;
        exceeded = exceeded => Err(exceeded.into()),
        result = work => result,
        never = go_on(requests.as_ref()) => match never {},
    }
}

/// Goes on with `requests`, where any may be sent, for as long as it is waited for.
async fn go_on(requests: Option<&InFlight>) -> Infallible {
    match requests {
        Some(requests) => requests.go_on().await,
        None => std::future::pending().await,
    }
}
