//! Where tools come from.

use std::sync::Arc;

use crate::limit::LimitSet;
use crate::name::SourceName;
use crate::tool::{Origin, Tool};

/// A tool as its source offers it for registration.
#[derive(Clone)]
pub struct Offered {
    /// The tool.
    pub tool: Arc<dyn Tool>,
    /// How it came to be here.
    pub origin: Origin,
    /// The limits that its manifest asks for.
    pub requested: LimitSet,
    /// Whether what it says of its effects is believed: always for native tools, else when the operator accepted it.
    pub effects_believed: bool,
}

/// A place that tools come from. It says which there are; the registry asks again whenever the source changed.
pub trait ToolSource: Send + Sync {
    /// The source's name.
    fn name(&self) -> &SourceName;

    /// All its tools.
    fn tools(&self) -> Vec<Offered>;
}
