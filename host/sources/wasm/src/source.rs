//! All tools of one component, as a source of tools.

use std::sync::Arc;

use ringfence_core::limit::LimitSet;
use ringfence_core::name::SourceName;
use ringfence_core::source::{Offered, ToolSource};
use ringfence_core::tool::{Origin, ToolSpec};

use crate::component::GuestComponent;
use crate::concurrency::Concurrency;
use crate::tool::WasmTool;

/// The tools of one component. They share its code.
pub struct WasmSource {
    name: SourceName,
    tools: Vec<Offered>,
}

impl WasmSource {
    /// The tools `specs` of `component`, which ask for the limits `requested` and get what its grant leaves of them.
    pub fn new(
        name: SourceName,
        origin: &Origin,
        specs: Vec<ToolSpec>,
        requested: &LimitSet,
        effects_believed: bool,
        component: &Arc<GuestComponent>,
        concurrency: &Concurrency,
    ) -> Self {
        let offer = |spec| Offered {
            tool: Arc::new(WasmTool {
                spec,
                component: component.clone(),
                places: concurrency.tool(),
                spare: concurrency.spare(),
            }),
            origin: origin.clone(),
            requested: requested.clone(),
            ceiling: component.reach().grant.ceiling(),
            effects_believed,
        };
        Self { name, tools: specs.into_iter().map(offer).collect() }
    }
}

impl ToolSource for WasmSource {
    fn name(&self) -> &SourceName {
        &self.name
    }

    fn tools(&self) -> Vec<Offered> {
        self.tools.clone()
    }
}
