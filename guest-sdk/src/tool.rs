//! A tool, and the way from the contract's two functions to the author's.

use serde::de::DeserializeOwned;

use crate::bindings::exports::ringfence::tool::guest;
use crate::{CallInfo, Definition, Failure, Output};

/// What the attribute [`tool`](crate::tool) makes of a function.
#[derive(Clone, Copy, Debug)]
pub struct Tool {
    /// The name of the tool, unique in its component.
    pub name: &'static str,
    /// Whether that is its name. A call finds its tool by this, without reading any data: what a table of names lies
    /// beside would count as memory of every instance.
    pub is_named: fn(&str) -> bool,
    /// Makes the definition. Never called on the way of a call: making schemas is slow.
    pub define: fn() -> Definition,
    /// Runs the tool.
    pub call: Run,
}

/// Runs a tool with parameters that are a JSON text.
pub type Run = fn(&str, &CallInfo) -> Result<Output, Failure>;

/// The component's `definitions`.
#[must_use]
pub fn definitions(tools: &[Tool]) -> Vec<Definition> {
    #[cfg(target_arch = "wasm32")]
    crate::panic::tell_host();
    tools.iter().map(|tool| (tool.define)()).collect()
}

/// The component's `call`, of the tool that `find` knows by `name`.
///
/// # Errors
///
/// The failure of the tool, or `not_found` where there is none with this name.
pub fn call(
    name: &str,
    parameters: &str,
    info: &CallInfo,
    find: impl FnOnce(&str) -> Option<Run>,
) -> Result<Output, guest::Failure> {
    #[cfg(target_arch = "wasm32")]
    crate::panic::tell_host();
    let outcome = match find(name) {
        Some(run) => run(parameters, info),
        None => Err(Failure::not_found(format!("This component has no tool `{name}`."))),
    };
    outcome.map_err(Failure::into_wire)
}

/// Reads the arguments of a tool.
///
/// # Errors
///
/// `invalid_params` with what serde has against them.
pub fn arguments<T: DeserializeOwned>(parameters: &str) -> Result<T, Failure> {
    serde_json::from_str(parameters).map_err(Failure::invalid_params)
}
