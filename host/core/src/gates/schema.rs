//! Are the parameters what the tool's schema says?

use std::sync::Arc;

use crate::call::{CheckedCall, ToolCall};
use crate::error::CallError;
use crate::finish::current::CurrentScrubber;
use crate::limit::LimitKind;
use crate::registry::Registered;

/// Turns what a door received into a call with valid parameters. What it says of wrong ones, `scrubber` makes clean.
///
/// # Errors
/// [`CallError::LimitExceeded`] for parameters that are too large, [`CallError::InvalidParams`] for wrong ones, and
/// [`CallError::Unavailable`] when the tool's schema cannot be used.
pub fn check(tool: Arc<Registered>, call: ToolCall, scrubber: &CurrentScrubber) -> Result<CheckedCall, CallError> {
    let size = call.arguments.text().len() as u64;
    if size > tool.limits().get(LimitKind::Params) {
        let exceeded = tool.limits().exceeded(LimitKind::Params, Some(size));
        return Err(CallError::LimitExceeded { tool: tool.wire_name().to_owned(), exceeded });
    }
    let validator = match tool.validators() {
        Ok(validators) => &validators.parameters,
        Err(reason) => {
            let reason = format!("its schema is not usable: {reason}");
            return Err(CallError::Unavailable { tool: tool.wire_name().to_owned(), reason, retry_after: None });
        }
    };
    let problems = validator.problems(call.arguments.value(), scrubber);
    if !problems.is_empty() {
        return Err(CallError::InvalidParams { tool: tool.wire_name().to_owned(), said_by_tool: false, problems });
    }
    Ok(CheckedCall { id: call.id, tool, arguments: call.arguments, context: call.context })
}
