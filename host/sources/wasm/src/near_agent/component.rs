//! A component of either version, ready for calls.

use ringfence_core::call::CheckedCall;
use ringfence_core::error::{Failure, FailureKind, ToolError};
use ringfence_core::limit::{LimitKind, Limits};
use ringfence_core::name::SourceName;
use ringfence_core::output::{RawOutput, Usage};
use ringfence_core::tool::ToolSpec;
use ringfence_package::Contract;
use serde_json::{Value, json};
use wasmtime::component::InstancePre;
use wasmtime::{Result, Store};

use super::bindings::v0_3_0::exports::near::agent::tool::Request as Request030;
use super::bindings::v0_4_1::exports::near::agent::tool::Request as Request041;
use super::bindings::{v0_3_0, v0_4_1};
use super::{TOOL, schema};
use crate::state::GuestState;

/// A component, ready for instances.
pub(crate) enum NearAgentPre {
    V030(v0_3_0::SandboxedToolPre<GuestState>),
    V041(v0_4_1::SandboxedToolPre<GuestState>),
}

/// An instance.
pub(crate) enum NearAgent {
    V030(v0_3_0::SandboxedTool),
    V041(v0_4_1::SandboxedTool),
}

/// What a component says of itself.
pub(crate) struct Description {
    description: String,
    /// JSON Schema, as text.
    schema: String,
}

/// What a call gave back: a JSON text, or why there is none.
pub(crate) struct Reply(pub(super) std::result::Result<String, ToolError>);

impl NearAgentPre {
    /// What is needed of a component to call it by the contract in this version.
    ///
    /// # Errors
    /// When the component does not keep to it.
    pub(crate) fn new(contract: Contract, pre: InstancePre<GuestState>) -> Result<Self> {
        match contract {
            Contract::NearAgent030 => v0_3_0::SandboxedToolPre::new(pre).map(Self::V030),
            _ => v0_4_1::SandboxedToolPre::new(pre).map(Self::V041),
        }
    }

    /// Makes an instance.
    ///
    /// # Errors
    /// How its initialiser ended, when it did not end well.
    pub(crate) async fn instantiate(&self, store: &mut Store<GuestState>) -> Result<NearAgent> {
        match self {
            Self::V030(pre) => pre.instantiate_async(store).await.map(NearAgent::V030),
            Self::V041(pre) => pre.instantiate_async(store).await.map(NearAgent::V041),
        }
    }
}

impl NearAgent {
    /// Asks the guest what it is.
    ///
    /// # Errors
    /// How the guest ended, when it did not end well.
    pub(crate) async fn describe(&self, store: &mut Store<GuestState>) -> Result<Description> {
        let (description, schema) = match self {
            Self::V030(agent) => {
                let tool = agent.near_agent_tool();
                (tool.call_description(&mut *store).await?, tool.call_schema(&mut *store).await?)
            }
            Self::V041(agent) => {
                let tool = agent.near_agent_tool();
                (tool.call_description(&mut *store).await?, tool.call_schema(&mut *store).await?)
            }
        };
        Ok(Description { description, schema })
    }

    /// Calls the tool of the component that its author called `package`.
    ///
    /// # Errors
    /// How the guest ended, when it did not end well.
    pub(crate) async fn call(
        &self,
        store: &mut Store<GuestState>,
        call: &CheckedCall,
        package: Option<&SourceName>,
    ) -> Result<Reply> {
        let params = call.arguments().text().to_owned();
        let context = Some(context(call, package));
        match self {
            Self::V030(agent) => {
                let tool = agent.near_agent_tool();
                tool.call_execute(store, &Request030 { params, context }).await.map(Reply::from)
            }
            Self::V041(agent) => {
                let tool = agent.near_agent_tool();
                tool.call_execute(store, &Request041 { params, context }).await.map(Reply::from)
            }
        }
    }
}

/// What a guest learns of a call: which tool was meant, in the words of the contract's own host. The caller's identity
/// is not among it.
fn context(call: &CheckedCall, package: Option<&SourceName>) -> String {
    let id = call.tool().id();
    json!({"capability_id": format!("{}.{}", package.unwrap_or(&id.source), id.name)}).to_string()
}

impl Description {
    /// The tool.
    ///
    /// # Errors
    /// When the schema cannot be read.
    pub(crate) fn spec(self) -> std::result::Result<ToolSpec, String> {
        let parameters: Value = serde_json::from_str(&self.schema)
            .map_err(|error| format!("what its `schema` says is not JSON: {error}"))?;
        let description = self.description;
        Ok(ToolSpec {
            name: TOOL.to_owned(),
            description,
            parameters: schema::complete(parameters),
            ..ToolSpec::default()
        })
    }
}

impl Reply {
    /// What the caller gets. Its size is checked before its JSON is parsed, because parsed JSON is many times as large.
    ///
    /// # Errors
    /// When the guest says that it failed, or its output is too large.
    pub(crate) fn output(self, usage: Usage, limits: &Limits) -> std::result::Result<RawOutput, ToolError> {
        let text = self.0?;
        let size = text.len() as u64;
        if size > limits.get(LimitKind::Result) {
            return Err(limits.exceeded(LimitKind::Result, Some(size)).into());
        }
        // Many guests of this contract give back a text where it says JSON.
        let output = match serde_json::from_str(&text) {
            Ok(Value::String(text)) => RawOutput::text(text),
            Ok(value @ Value::Object(_)) => RawOutput::json(value),
            Ok(_) | Err(_) => RawOutput::text(text),
        };
        Ok(RawOutput { usage, ..output })
    }
}

/// A failure in the guest's words. The scrubber bounds and cleans them.
pub(super) fn failure(kind: FailureKind, code: &str, message: String) -> ToolError {
    ToolError::Failed(Failure { kind, code: code.to_owned(), message, retry_after: None })
}
