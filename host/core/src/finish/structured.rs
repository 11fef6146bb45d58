//! Does the structured result keep the promise of its schema, before scrubbing and after?

use crate::error::{Failure, FailureKind, ToolError};
use crate::finish::current::CurrentScrubber;
use crate::finish::scrub::Scrubbed;
use crate::output::{Content, RawOutput, ToolOutput};
use crate::registry::Registered;

/// Hands `raw` on when its structured result agrees with the tool's output schema. What it says of one that does not,
/// `scrubber` makes clean.
///
/// # Errors
/// [`ToolError::Failed`] when it does not, or is missing.
pub(crate) fn check(raw: RawOutput, tool: &Registered, scrubber: &CurrentScrubber) -> Result<RawOutput, ToolError> {
    let Some(validator) = tool.validators().ok().and_then(|validators| validators.output.as_ref()) else {
        return Ok(raw);
    };
    let problems = match &raw.structured {
        Some(value) => validator.problems(value, scrubber).join("; "),
        None => "the tool promises a structured result and gave none".into(),
    };
    if problems.is_empty() {
        return Ok(raw);
    }
    Err(ToolError::Failed(Failure {
        kind: FailureKind::Failed,
        code: "invalid_output".into(),
        message: format!("its result does not agree with its own schema: {problems}"),
        retry_after: None,
    }))
}

/// Drops a structured result that redaction has made invalid, and says so in the text.
pub(crate) fn keep_valid(scrubbed: Scrubbed, tool: &Registered) -> ToolOutput {
    let Scrubbed { mut output, structured_changed } = scrubbed;
    if !structured_changed {
        return output;
    }
    let validator = tool.validators().ok().and_then(|validators| validators.output.as_ref());
    if let (Some(validator), Some(value)) = (validator, &output.structured)
        && !validator.accepts(value)
    {
        output.structured = None;
        output.content.push(Content::text("(The structured result held a secret and was left out.)"));
    }
    output
}
