//! One tool, as it stands in the registry.

use std::fmt;
use std::sync::{Arc, OnceLock};

use tokio_util::sync::CancellationToken;

use crate::limit::Limits;
use crate::name::ToolId;
use crate::schema_check::Validators;
use crate::tool::{Effects, Origin, RateLimit, Tool, ToolSpec};

/// A tool that can be called: what its source offered, and what the host concluded from it at registration.
pub struct Registered {
    pub(super) id: ToolId,
    pub(super) wire_name: String,
    pub(super) tool: Arc<dyn Tool>,
    pub(super) origin: Origin,
    pub(super) effects: Effects,
    pub(super) limits: Limits,
    pub(super) rate_limit: Option<RateLimit>,
    pub(super) withdrawn: CancellationToken,
    pub(super) validators: OnceLock<Result<Validators, String>>,
}

impl Registered {
    /// The tool's identity.
    pub fn id(&self) -> &ToolId {
        &self.id
    }

    /// The name that clients use.
    pub fn wire_name(&self) -> &str {
        &self.wire_name
    }

    /// What the tool says of itself.
    pub fn spec(&self) -> &ToolSpec {
        self.tool.spec()
    }

    /// How it came to be here.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The effects that the host reckons with: the claimed ones where they are believed, else none.
    pub fn effects(&self) -> Effects {
        self.effects
    }

    /// The limits of each call: requested by the manifest, narrowed by configuration and grant.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The rate limit that the tool asks for or the grant of its source sets, the smaller where both do.
    pub fn rate_limit(&self) -> Option<RateLimit> {
        self.rate_limit
    }

    /// Cancelled when its source is removed: nothing of it may run from then on.
    pub(crate) fn withdrawn(&self) -> &CancellationToken {
        &self.withdrawn
    }

    pub(crate) fn tool(&self) -> &Arc<dyn Tool> {
        &self.tool
    }

    pub(crate) fn validators(&self) -> Result<&Validators, &str> {
        self.validators.get_or_init(|| Validators::compile(self.spec())).as_ref().map_err(String::as_str)
    }
}

impl fmt::Debug for Registered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registered").field("id", &self.id).field("origin", &self.origin).finish_non_exhaustive()
    }
}
