//! Calls that a tool makes of other tools.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;
use tokio::time::Instant;

use crate::call::{CallContext, ToolCall};
use crate::error::CallError;
use crate::output::ToolOutput;
use crate::permit::Permit;
use crate::pipeline::ToolHost;

/// The way from a running call to other tools.
///
/// Each call that is made through it is a new one, and passes all gates: it is made for the same caller, so it may do what
/// that caller may and no more. It stands one level deeper, ends with the call above it at the latest, and is on record
/// with that call as its parent. Its progress goes to nobody.
#[derive(Clone)]
pub struct Onward {
    host: Arc<ToolHost>,
    context: CallContext,
}

impl Onward {
    /// From the call of `permit`; `None` for a call that did not come through a pipeline.
    pub(crate) fn of(permit: &Permit) -> Option<Self> {
        let above = permit.call().context();
        let context = CallContext {
            caller: above.caller.clone(),
            depth: above.depth.saturating_add(1),
            parent: Some(permit.call().id().clone()),
            cancel: above.cancel.child_token(),
            ends: permit.ends(),
            ..CallContext::default()
        };
        Some(Self { host: above.host.clone()?, context })
    }

    /// Calls the tool with the wire name `tool`. Dropping the future ends the call.
    ///
    /// # Errors
    /// Every end of a call but success.
    pub async fn call(&self, tool: &str, params: Value) -> Result<ToolOutput, CallError> {
        self.host.call(ToolCall::new(tool, params, self.context.clone())).await
    }

    /// Whether the call from which this is the way has no time left.
    pub fn is_over(&self) -> bool {
        self.context.ends.is_some_and(|ends| ends <= Instant::now())
    }
}

impl fmt::Debug for Onward {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Onward").field("context", &self.context).finish_non_exhaustive()
    }
}
