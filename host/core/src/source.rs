//! Where tools come from.

use std::sync::Arc;

use crate::limit::LimitSet;
use crate::name::SourceName;
use crate::tool::{Origin, RateLimit, Tool};

/// A tool as its source offers it for registration.
#[derive(Clone)]
pub struct Offered {
    /// The tool.
    pub tool: Arc<dyn Tool>,
    /// How it came to be here.
    pub origin: Origin,
    /// The limits that its manifest asks for.
    pub requested: LimitSet,
    /// What the operator's grant of the source leaves of limits and rate.
    pub ceiling: Ceiling,
    /// Whether what it says of its effects is believed: always for native tools, else when the operator accepted it.
    pub effects_believed: bool,
}

/// How the grant of a source narrows all its tools, whatever manifest and configuration say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ceiling {
    /// The most of each limit; a limit that is not in it is not narrowed.
    pub limits: LimitSet,
    /// The most calls per caller and tool, where it says so.
    pub rate: Option<RateLimit>,
}

/// A place that tools come from. It says which there are; the registry asks again whenever the source changed.
pub trait ToolSource: Send + Sync {
    /// The source's name.
    fn name(&self) -> &SourceName;

    /// All its tools.
    fn tools(&self) -> Vec<Offered>;
}
