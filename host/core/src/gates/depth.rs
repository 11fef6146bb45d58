//! Does the call stand too deep under other calls?

use crate::call::ToolCall;
use crate::error::CallError;
use crate::limit::LimitExceeded;
use crate::registry::Registered;

/// How many calls may stand above a call. It ends tools that call each other in a circle, and is no setting because the
/// host keeps room for instances at each depth. The reference documents name no number; a tool that builds on others needs
/// one or two.
pub const MAX_DEPTH: u32 = 4;

/// Refuses a call that stands too deep.
///
/// # Errors
/// [`CallError::LimitExceeded`] with the code `limit.depth`.
pub fn check(tool: &Registered, call: &ToolCall) -> Result<(), CallError> {
    let depth = call.context.depth;
    if depth <= MAX_DEPTH {
        return Ok(());
    }
    let exceeded = LimitExceeded::depth(depth.into(), MAX_DEPTH.into());
    Err(CallError::LimitExceeded { tool: tool.wire_name().to_owned(), exceeded })
}
