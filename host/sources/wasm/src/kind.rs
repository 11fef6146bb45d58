//! What a component speaks, and so how its tools are listed and called.

use std::sync::Arc;

use ringfence_core::error::ToolError;
use ringfence_core::limit::{LimitKind, Limits};
use ringfence_core::name::SourceName;
use ringfence_core::output::{RawOutput, Usage};
use ringfence_core::permit::Permit;
use ringfence_package::Contract;
use wasmtime::component::{Instance, InstancePre};
use wasmtime::{Result, Store};

use crate::bindings::exports::ringfence::tool::guest::{CallInfo, Failure, Output};
use crate::bindings::{Tool, ToolPre};
use crate::component::{CodeError, missing_import};
use crate::convert;
use crate::near_agent::{NearAgent, NearAgentPre, Reply};
use crate::plain::{PlainComponent, Returned};
use crate::state::GuestState;

/// A component by what it speaks.
pub(crate) enum Kind {
    /// Our contract.
    Contract(ToolPre<GuestState>),
    /// No contract: functions that know nothing of us.
    Plain(Arc<PlainComponent>),
    /// `near:agent`, in either version.
    NearAgent(NearAgentPre),
}

/// An instance, by what it speaks.
pub(crate) enum Guest {
    /// Our contract.
    Contract(Tool),
    /// Plain functions, with what is known of them.
    Plain(Arc<PlainComponent>, Instance),
    /// `near:agent`.
    NearAgent(NearAgent),
}

/// What a guest gave back.
pub(crate) enum Answer<'a> {
    /// By our contract.
    Contract(Result<Output, Failure>),
    /// From a plain function, or why the function was not called.
    Plain(Result<Returned<'a>, ToolError>),
    /// By `near:agent`.
    NearAgent(Reply),
}

impl Kind {
    /// Tells by the exports: whoever names a contract, in any version, is held to it.
    ///
    /// # Errors
    /// When the component does not keep to the contract, or has functions that cannot be tools.
    pub(crate) fn of(pre: InstancePre<GuestState>) -> Result<Self, CodeError> {
        let component = pre.component();
        let exports = component.component_type();
        let contract = exports.exports(component.engine()).find_map(|(name, _)| Contract::named_by(name));
        match contract.unwrap_or(Contract::Plain) {
            Contract::Tool => ToolPre::new(pre).map(Self::Contract).map_err(missing_import),
            Contract::Plain => Ok(Self::Plain(Arc::new(PlainComponent::new(pre)?))),
            contract => NearAgentPre::new(contract, pre).map(Self::NearAgent).map_err(missing_import),
        }
    }

    /// Makes an instance.
    ///
    /// # Errors
    /// How its initialiser ended, when it did not end well.
    pub(crate) async fn instantiate(&self, store: &mut Store<GuestState>) -> Result<Guest> {
        match self {
            Self::Contract(pre) => pre.instantiate_async(store).await.map(Guest::Contract),
            Self::Plain(plain) => plain.instantiate(store).await.map(|instance| Guest::Plain(plain.clone(), instance)),
            Self::NearAgent(pre) => pre.instantiate(store).await.map(Guest::NearAgent),
        }
    }
}

impl Guest {
    /// Calls the tool `name` of the component that its author called `package`, for the call of `permit`.
    ///
    /// # Errors
    /// How the guest ended, when it did not end well.
    pub(crate) async fn call(
        &self,
        store: &mut Store<GuestState>,
        name: &str,
        permit: &Permit,
        package: Option<&SourceName>,
    ) -> Result<Answer<'_>> {
        let call = permit.call();
        match self {
            Self::Contract(tool) => {
                let parameters = call.arguments().text().to_owned();
                let guest = tool.ringfence_tool_guest();
                guest.call_call(store, name, &parameters, &info(permit)).await.map(Answer::Contract)
            }
            Self::Plain(plain, instance) => {
                plain.call(*instance, store, name, call.arguments().value()).await.map(Answer::Plain)
            }
            Self::NearAgent(agent) => agent.call(store, call, package).await.map(Answer::NearAgent),
        }
    }
}

impl Answer<'_> {
    /// What the caller gets.
    ///
    /// # Errors
    /// When the guest says that it failed, or what it gave back cannot be passed on.
    pub(crate) fn output(self, usage: Usage, limits: &Limits) -> Result<RawOutput, ToolError> {
        match self {
            Self::Contract(Ok(output)) => convert::output(output, usage, limits),
            Self::Contract(Err(failure)) => Err(convert::failure(failure)),
            Self::Plain(returned) => returned?.output(usage, limits),
            Self::NearAgent(reply) => reply.output(usage, limits),
        }
    }
}

fn info(permit: &Permit) -> CallInfo {
    let call = permit.call();
    CallInfo {
        id: call.id().as_str().to_owned(),
        deadline_ms: u64::try_from(permit.time_left().as_millis()).unwrap_or(u64::MAX),
        max_result_bytes: call.tool().limits().get(LimitKind::Result),
    }
}
