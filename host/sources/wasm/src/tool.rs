//! One tool of a component.

use std::sync::Arc;

use async_trait::async_trait;
use ringfence_core::error::ToolError;
use ringfence_core::output::{RawOutput, Usage};
use ringfence_core::permit::Permit;
use ringfence_core::tool::{Tool, ToolSpec};

use crate::component::GuestComponent;
use crate::concurrency::ToolPlaces;
use crate::state::GuestState;
use crate::{fault, instance};

pub(crate) struct WasmTool {
    pub(crate) spec: ToolSpec,
    pub(crate) component: Arc<GuestComponent>,
    pub(crate) places: ToolPlaces,
}

#[async_trait]
impl Tool for WasmTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn execute(&self, permit: Permit) -> Result<RawOutput, ToolError> {
        let call = permit.call();
        let caller = call.context().caller.key();
        // Bound before the store, so freed after it: the pool's slot is free when the next one gets the place.
        let _place = self.places.place(caller).await?;
        let loaded = self.component.loaded().await;
        let loaded = loaded.map_err(|error| ToolError::Unavailable { reason: error.to_string(), retry_after: None })?;

        let engine = self.component.engine();
        let limits = &permit.grant().limits;
        let state = GuestState::for_call(call, limits);
        let mut store = instance::store(engine, state).map_err(|error| ToolError::Trapped(error.to_string()))?;
        match loaded.kind.call(&mut store, &self.spec.name, call).await {
            Ok(answer) => {
                let fuel = instance::fuel_used(&store, limits);
                let peak_memory = Some(store.data().growth.peak_memory());
                answer.output(Usage { fuel, peak_memory }, limits)
            }
            Err(error) => Err(fault::classify(error, store.data(), engine.settings().stack_bytes)),
        }
    }
}
