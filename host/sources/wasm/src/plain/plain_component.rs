//! A component of plain functions, ready for calls.

use ringfence_core::error::{Failure, FailureKind, ToolError};
use ringfence_core::limit::{LimitKind, Limits};
use ringfence_core::output::{RawOutput, Usage};
use ringfence_core::tool::ToolSpec;
use serde::Serialize;
use serde_json::{Map, Value};
use wasmtime::Store;
use wasmtime::component::{Instance, InstancePre, Val};

use super::FunctionError;
use super::from_json::{self, FromJsonError};
use super::function::{Function, functions};
use super::to_json::{self, Json, Only};
use super::val_type::ValType;
use crate::convert::malformed;
use crate::state::GuestState;

/// A component of plain functions, ready for instances.
pub(crate) struct PlainComponent {
    pre: InstancePre<GuestState>,
    functions: Vec<Function>,
}

/// What a function gave back.
pub(crate) struct Returned<'a> {
    function: &'a Function,
    val: Option<Val>,
}

impl PlainComponent {
    /// Reads the functions of a component.
    ///
    /// # Errors
    /// When one of them cannot be a tool.
    pub(crate) fn new(pre: InstancePre<GuestState>) -> Result<Self, FunctionError> {
        Ok(Self { functions: functions(pre.component())?, pre })
    }

    /// The functions as tools.
    pub(crate) fn specs(&self) -> Vec<ToolSpec> {
        self.functions.iter().map(Function::spec).collect()
    }

    /// Makes an instance.
    ///
    /// # Errors
    /// How its initialiser ended, when it did not end well.
    pub(crate) async fn instantiate(&self, store: &mut Store<GuestState>) -> wasmtime::Result<Instance> {
        self.pre.instantiate_async(store).await
    }

    /// Calls the function behind `tool` in `instance`.
    ///
    /// # Errors
    /// The outer error is how the guest ended; the inner one is why it was not called.
    pub(crate) async fn call(
        &self,
        instance: Instance,
        store: &mut Store<GuestState>,
        tool: &str,
        arguments: &Value,
    ) -> wasmtime::Result<Result<Returned<'_>, ToolError>> {
        let limits = &store.data().limits;
        let (function, params) = match self.prepare(tool, arguments, limits) {
            Ok(prepared) => prepared,
            Err(error) => return Ok(Err(error)),
        };
        let func = instance.get_func(&mut *store, function.index);
        let func = func.ok_or_else(|| wasmtime::format_err!("the function is not in the instance"))?;
        let mut results: Vec<_> = function.result.iter().map(|_| Val::Bool(false)).collect();
        func.call_async(&mut *store, &params, &mut results).await?;
        Ok(Ok(Returned { function, val: results.pop() }))
    }

    fn prepare(&self, tool: &str, arguments: &Value, limits: &Limits) -> Result<(&Function, Vec<Val>), ToolError> {
        let function = self.functions.iter().find(|function| function.tool == tool);
        let function = function.ok_or_else(|| ToolError::Unavailable {
            reason: format!("the component has no function for `{tool}`; install it again"),
            retry_after: None,
        })?;
        let params = from_json::parameters(&function.params, arguments, limits.get(LimitKind::HostCall));
        let params = params.map_err(|error| match error {
            FromJsonError::Wrong { .. } => failed(FailureKind::InvalidParams, "invalid_params", error.to_string()),
            FromJsonError::TooLarge => limits.exceeded(LimitKind::HostCall, None).into(),
        })?;
        Ok((function, params))
    }
}

impl Returned<'_> {
    /// What the call gives back: the result as JSON, or the guest's own error.
    ///
    /// # Errors
    /// When the function gave back an error, or a result that is too large.
    pub(crate) fn output(&self, usage: Usage, limits: &Limits) -> Result<RawOutput, ToolError> {
        let result = match (&self.function.result, &self.val) {
            (Some(ValType::Result(_, ty)), Some(Val::Result(Err(val)))) => {
                return Err(failure(json(ty.as_deref(), val.as_deref()), limits)?);
            }
            (Some(ValType::Result(ty, _)), Some(Val::Result(Ok(val)))) => json(ty.as_deref(), val.as_deref()),
            (ty, val) => json(ty.as_ref(), val.as_ref()),
        };
        let value = match result {
            Some(json) => tree(&Only("result", json), limits)?,
            None => Value::Object(Map::new()),
        };
        Ok(RawOutput { usage, ..RawOutput::json(value) })
    }
}

fn json<'a>(ty: Option<&'a ValType>, val: Option<&'a Val>) -> Option<Json<'a>> {
    ty.zip(val).map(|(ty, val)| Json { ty, val })
}

/// The JSON of `value`. Its size is checked before, because a tree is many times as large as its text.
fn tree(value: &impl Serialize, limits: &Limits) -> Result<Value, ToolError> {
    let size = to_json::size(value).map_err(|error| malformed("result", error))?;
    if size > limits.get(LimitKind::Result) {
        return Err(limits.exceeded(LimitKind::Result, Some(size)).into());
    }
    serde_json::to_value(value).map_err(|error| malformed("result", error))
}

/// The error of a function: a string is the message, anything else stands in it as JSON.
fn failure(error: Option<Json<'_>>, limits: &Limits) -> Result<ToolError, ToolError> {
    let message = match error.map(|json| tree(&json, limits)).transpose()? {
        Some(Value::String(text)) => text,
        Some(value) => value.to_string(),
        None => "it gave back an error that says nothing more".to_owned(),
    };
    Ok(failed(FailureKind::Failed, "err", message))
}

fn failed(kind: FailureKind, code: &str, message: String) -> ToolError {
    ToolError::Failed(Failure { kind, code: code.to_owned(), message, retry_after: None })
}
