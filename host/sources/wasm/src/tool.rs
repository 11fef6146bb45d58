//! One tool of a component.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ringfence_core::call::CheckedCall;
use ringfence_core::error::ToolError;
use ringfence_core::limit::LimitKind;
use ringfence_core::output::{RawOutput, Usage};
use ringfence_core::permit::Permit;
use ringfence_core::tool::{Tool, ToolSpec};

use crate::bindings::exports::ringfence::tool::guest::CallInfo;
use crate::component::GuestComponent;
use crate::concurrency::ToolPlaces;
use crate::spare::{Ready, Spare, Used};
use crate::state::GuestState;
use crate::{convert, fault, instance};

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
        let caller = call.context().caller.key();
        let place = self.places.place(caller).await?;
        let loaded = self.component.loaded().await;
        let loaded = loaded.map_err(|error| ToolError::Unavailable { reason: error.to_string(), retry_after: None })?;

        let engine = self.component.engine();
        let limits = &permit.grant().limits;
        let (mut store, ready, room) = match self.spare.take(limits).map(Ready::into_parts) {
            Some((store, tool, room)) => (store, Some(tool), Some(room)),
            None => {
                let store = instance::store(engine, GuestState::waiting(limits));
                (store.map_err(|error| ToolError::Trapped(error.to_string()))?, None, None)
            }
        };
        store.data_mut().begin(call);
        let called = async {
            let tool = match ready {
                Some(tool) => tool,
                None => loaded.pre.instantiate_async(&mut store).await?,
            };
            let parameters = call.arguments().text().to_owned();
            tool.ringfence_tool_guest().call_call(&mut store, &self.spec.name, &parameters, &info(call)).await
        };
        let result = match called.await {
            Ok(Ok(output)) => {
                let fuel = instance::fuel_used(&store, limits);
                let peak_memory = Some(store.data().growth.peak_memory());
                convert::output(output, Usage { fuel, peak_memory }, limits)
            }
            Ok(Err(failure)) => Err(convert::failure(failure)),
            Err(error) => return Err(fault::classify(error, store.data(), engine.settings().stack_bytes)),
        };
        self.spare.leave(Used { _store: store, _place: place, _room: room }, engine, loaded, limits);
        result
    }
}

fn info(call: &CheckedCall) -> CallInfo {
    let limits = call.tool().limits();
    let deadline = Duration::from_millis(limits.get(LimitKind::Deadline));
    CallInfo {
        id: call.id().as_str().to_owned(),
        deadline_ms: u64::try_from(deadline.as_millis()).unwrap_or(u64::MAX),
        max_result_bytes: limits.get(LimitKind::Result),
    }
}
