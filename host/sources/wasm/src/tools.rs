//! Other tools for guests: a call of one goes through the same gates as any other.

use ringfence_core::error::CallError;
use ringfence_core::limit::LimitKind;
use ringfence_core::onward::Onward;
use wasmtime::Result;

use crate::bindings::ringfence::tool::tools;
use crate::bindings::ringfence::tool::types::{Failure, FailureKind, Output};
use crate::convert;
use crate::state::GuestState;

impl tools::Host for GuestState {
    async fn call(&mut self, alias: String, parameters: String) -> Result<std::result::Result<Output, Failure>> {
        self.take_tool_call()?;
        let Some((onward, tool)) = self.granted_tool(&alias) else { return Ok(Err(self.denied(&alias))) };
        // Parsed JSON is many times as large: what a tool hands on may be as large as what it may be handed.
        let size = parameters.len() as u64;
        if size > self.limits.get(LimitKind::Params) {
            let exceeded = self.limits.exceeded(LimitKind::Params, Some(size));
            return Ok(Err(convert::call_error(&CallError::LimitExceeded { tool, exceeded })));
        }
        let parameters = match serde_json::from_str(&parameters) {
            Ok(parameters) => parameters,
            Err(error) => {
                let problems = vec![format!("they are not JSON: {error}")];
                return Ok(Err(convert::call_error(&CallError::InvalidParams { tool, said_by_tool: false, problems })));
            }
        };
        let ended = onward.call(&tool, parameters).await;
        // Out of time with its caller, the other tool gives a reason that is not its own.
        if onward.is_over() {
            return Err(self.limits.exceeded(LimitKind::Deadline, None).into());
        }
        match ended {
            Ok(output) => Ok(Ok(convert::clean_output(output))),
            Err(error) => Ok(Err(convert::call_error(&error))),
        }
    }
}

impl GuestState {
    /// The way to other tools and the wire name of the one behind `alias`, where its call was granted.
    fn granted_tool(&mut self, alias: &str) -> Option<(Onward, String)> {
        let tool = self.reach()?.grant.tool(alias)?.to_owned();
        Some((self.onward()?, tool))
    }

    /// What the guest learns; the operator gets the remedy in the log.
    fn denied(&self, alias: &str) -> Failure {
        let (tool, alias) = (self.tool(), self.log.shown(alias));
        let alias = &alias[..alias.floor_char_boundary(SHOWN)];
        tracing::warn!(
            target: "tools", %tool, alias,
            "it may call no tool as this: `ringfence grant SOURCE --tool ALIAS=TOOL` says which tool is meant"
        );
        Failure {
            kind: FailureKind::Failed,
            code: "tools.denied".into(),
            message: format!("The operator did not grant the call of a tool as `{alias}`."),
            retry_after_ms: None,
        }
    }
}

/// As much of a made-up alias as is shown, in bytes.
const SHOWN: usize = 64;
