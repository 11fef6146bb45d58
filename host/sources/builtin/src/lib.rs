//! The protected native tools, one file each. Their names are reserved: nothing else can take them.

mod echo;
mod json;
mod time;

use std::sync::Arc;

use ringfence_core::error::{Failure, FailureKind, ToolError};
use ringfence_core::limit::LimitSet;
use ringfence_core::name::SourceName;
use ringfence_core::source::{Ceiling, Offered, ToolSource};
use ringfence_core::tool::{Effects, Origin, Tool};

/// All built-in tools.
pub struct Builtins {
    name: SourceName,
}

impl Builtins {
    /// The source of the built-ins.
    pub fn new() -> Self {
        Self { name: SourceName::builtin() }
    }
}

impl Default for Builtins {
    fn default() -> Self {
        Self::new()
    }
}

impl ToolSource for Builtins {
    fn name(&self) -> &SourceName {
        &self.name
    }

    fn tools(&self) -> Vec<Offered> {
        let tools: [Arc<dyn Tool>; 3] =
            [Arc::new(echo::Echo::new()), Arc::new(json::Json::new()), Arc::new(time::Time::new())];
        let offer = |tool| Offered {
            tool,
            origin: Origin::Builtin,
            requested: LimitSet::default(),
            ceiling: Ceiling::default(),
            effects_believed: true,
        };
        tools.into_iter().map(offer).collect()
    }
}

/// All three only look at their parameters.
const PURE: Effects = Effects { read_only: true, destructive: false, idempotent: true, open_world: false, pure: true };

fn invalid(message: String) -> ToolError {
    ToolError::Failed(Failure {
        kind: FailureKind::InvalidParams,
        code: "invalid_params".into(),
        message,
        retry_after: None,
    })
}
