//! The protected native tools, one file each. Their names are reserved: nothing else can take them.

mod echo;
mod json;
mod secret_get;
mod secret_list;
mod time;

use std::sync::Arc;

use ringfence_core::SecretShelf;
use ringfence_core::error::{Failure, FailureKind, ToolError};
use ringfence_core::limit::LimitSet;
use ringfence_core::name::SourceName;
use ringfence_core::source::{Ceiling, Offered, ToolSource};
use ringfence_core::tool::{Effects, Origin, Tool};

/// All built-in tools.
pub struct Builtins {
    name: SourceName,
    tools: Vec<Arc<dyn Tool>>,
}

impl Builtins {
    /// The source of the built-ins, with those that need nothing.
    pub fn new() -> Self {
        let tools: Vec<Arc<dyn Tool>> =
            vec![Arc::new(echo::Echo::new()), Arc::new(json::Json::new()), Arc::new(time::Time::new())];
        Self { name: SourceName::builtin(), tools }
    }

    /// With the one that lists the secrets of `shelf`, and, where `revealing`, the one that gives out values.
    #[must_use]
    pub fn with_secrets(mut self, shelf: Arc<dyn SecretShelf>, revealing: bool) -> Self {
        self.tools.push(Arc::new(secret_list::SecretList::new(shelf.clone())));
        if revealing {
            self.tools.push(Arc::new(secret_get::SecretGet::new(shelf)));
        }
        self
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
        let offer = |tool| Offered {
            tool,
            origin: Origin::Builtin,
            requested: LimitSet::default(),
            ceiling: Ceiling::default(),
            effects_believed: true,
        };
        self.tools.iter().cloned().map(offer).collect()
    }
}

/// Those that only look at their parameters.
const PURE: Effects = Effects { read_only: true, destructive: false, idempotent: true, open_world: false, pure: true };

fn invalid(message: String) -> ToolError {
    ToolError::Failed(Failure {
        kind: FailureKind::InvalidParams,
        code: "invalid_params".into(),
        message,
        retry_after: None,
    })
}
