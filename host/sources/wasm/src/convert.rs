//! Between the contract's types and the host's. What a guest wrote is checked here: JSON is parsed, names are bounded.

use std::time::Duration;

use ringfence_core::access::ArgumentRule;
use ringfence_core::error::{CallError, Failure, FailureKind, ToolError};
use ringfence_core::limit::{LimitKind, Limits};
use ringfence_core::output::{Body, Content, Media, RawOutput, Resource, ToolOutput, Usage};
use ringfence_core::tool::{Approval, Domain, Effects, Example, RateLimit, ToolSpec};
use serde_json::Value;

use crate::bindings::exports::ringfence::tool::guest;

/// A definition, or what in it is not JSON.
pub(crate) fn spec(definition: guest::Definition) -> Result<ToolSpec, String> {
    let name = definition.name;
    let json = |what: &str, text: &str| -> Result<Value, String> {
        serde_json::from_str(text).map_err(|error| format!("`{what}` of the tool `{name}` is not JSON: {error}"))
    };
    let parameters = json("parameters", &definition.parameters)?;
    let output_schema = definition.output_schema.map(|text| json("output-schema", &text)).transpose()?;
    let rules = definition.rules.into_iter().map(|rule| argument_rule(rule, &json)).collect::<Result<_, _>>()?;
    let examples = definition.examples.into_iter().map(|e| example(e, &json)).collect::<Result<_, _>>()?;
    Ok(ToolSpec {
        title: definition.title,
        description: definition.description,
        parameters,
        output_schema,
        domain: Domain::Orchestrator,
        effects: effects(definition.effects),
        approval: approval(definition.approval),
        rules,
        rate_limit: definition
            .rate_limit
            .map(|limit| RateLimit { per_minute: limit.per_minute.max(1), per_hour: limit.per_hour.max(1) }),
        deferrable: definition.deferrable,
        categories: definition.categories,
        short_doc: definition.short_doc,
        long_doc: definition.long_doc,
        examples,
        name,
    })
}

fn argument_rule(
    rule: guest::ArgumentRule,
    json: &impl Fn(&str, &str) -> Result<Value, String>,
) -> Result<ArgumentRule, String> {
    Ok(match rule {
        guest::ArgumentRule::ReadsPath(pointer) => ArgumentRule::ReadsPath(pointer),
        guest::ArgumentRule::WritesPath(pointer) => ArgumentRule::WritesPath(pointer),
        guest::ArgumentRule::NeedsApproval(rule) => ArgumentRule::NeedsApproval {
            pointer: rule.pointer,
            equals: rule.equals.map(|text| json("rules", &text)).transpose()?,
            approval: approval(rule.approval),
        },
    })
}

fn example(example: guest::Example, json: &impl Fn(&str, &str) -> Result<Value, String>) -> Result<Example, String> {
    let input = json("examples", &example.input)?;
    Ok(Example { description: example.description, input, output: example.output })
}

fn effects(flags: guest::Effects) -> Effects {
    Effects {
        read_only: flags.contains(guest::Effects::READ_ONLY),
        destructive: flags.contains(guest::Effects::DESTRUCTIVE),
        idempotent: flags.contains(guest::Effects::IDEMPOTENT),
        open_world: flags.contains(guest::Effects::OPEN_WORLD),
        pure: flags.contains(guest::Effects::PURE),
    }
}

fn approval(approval: guest::Approval) -> Approval {
    match approval {
        guest::Approval::Never => Approval::Never,
        guest::Approval::UnlessAutoApproved => Approval::UnlessAutoApproved,
        guest::Approval::Always => Approval::Always,
    }
}

/// An output. Its size is checked before its JSON is parsed, because parsed JSON is many times as large.
pub(crate) fn output(output: guest::Output, usage: Usage, limits: &Limits) -> Result<RawOutput, ToolError> {
    let size = size(&output);
    if size > limits.get(LimitKind::Result) {
        return Err(limits.exceeded(LimitKind::Result, Some(size)).into());
    }
    let cost = output.cost.map(|text| text.parse().map_err(|e| malformed("cost", e))).transpose()?;
    let same =
        matches!(output.content.as_slice(), [guest::Content::Json(text)] if Some(text) == output.structured.as_ref());
    let content = contents(output.content)?;
    let structured = match (output.structured, content.as_slice()) {
        // The usual output: one value, for the model and as the structured result. It is parsed once.
        (Some(_), [Content::Json { value }]) if same => Some(value.clone()),
        (structured, _) => structured.map(|text| parse("structured", &text)).transpose()?,
    };
    Ok(RawOutput {
        content,
        user_content: output.user_content.map(contents).transpose()?,
        structured,
        raw: output.raw,
        cost,
        usage,
        // A guest holds no secret.
        revealed: None,
    })
}

fn size(output: &guest::Output) -> u64 {
    let contents = output.content.iter().chain(output.user_content.iter().flatten()).map(content_size);
    let texts = [&output.structured, &output.raw, &output.cost].map(|text| text.as_ref().map_or(0, String::len));
    contents.chain(texts).map(|bytes| bytes as u64).sum()
}

fn content_size(content: &guest::Content) -> usize {
    /// What a piece takes beside its bytes, so that a million empty ones are not free.
    const PIECE: usize = 32;
    PIECE
        + match content {
            guest::Content::Text(text) | guest::Content::Json(text) => text.len(),
            guest::Content::Image(media) | guest::Content::Audio(media) => media.data.len() + media.media_type.len(),
            guest::Content::Resource(resource) => {
                resource.uri.len()
                    + resource.media_type.as_ref().map_or(0, String::len)
                    + match &resource.body {
                        guest::Body::Text(text) => text.len(),
                        guest::Body::Blob(bytes) => bytes.len(),
                    }
            }
        }
}

fn contents(contents: Vec<guest::Content>) -> Result<Vec<Content>, ToolError> {
    contents.into_iter().map(content).collect()
}

fn content(content: guest::Content) -> Result<Content, ToolError> {
    Ok(match content {
        guest::Content::Text(text) => Content::Text { text },
        guest::Content::Json(text) => Content::Json { value: parse("content", &text)? },
        guest::Content::Image(media) => Content::Image(self::media(media)),
        guest::Content::Audio(media) => Content::Audio(self::media(media)),
        guest::Content::Resource(resource) => Content::Resource(Resource {
            uri: resource.uri,
            media_type: resource.media_type,
            body: match resource.body {
                guest::Body::Text(text) => Body::Text(text),
                guest::Body::Blob(bytes) => Body::Blob(bytes),
            },
        }),
    })
}

fn media(media: guest::Media) -> Media {
    Media { media_type: media.media_type, data: media.data }
}

fn parse(what: &str, text: &str) -> Result<Value, ToolError> {
    serde_json::from_str(text).map_err(|error| malformed(what, error))
}

/// A result that cannot be read.
pub(crate) fn malformed(what: &str, error: impl std::fmt::Display) -> ToolError {
    ToolError::Failed(Failure {
        kind: FailureKind::Failed,
        code: "invalid_output".into(),
        message: format!("`{what}` of its result cannot be read: {error}"),
        retry_after: None,
    })
}

/// A failure in the guest's words. The scrubber bounds and cleans them.
pub(crate) fn failure(failure: guest::Failure) -> ToolError {
    ToolError::Failed(Failure {
        kind: match failure.kind {
            guest::FailureKind::InvalidParams => FailureKind::InvalidParams,
            guest::FailureKind::NotFound => FailureKind::NotFound,
            guest::FailureKind::AuthRequired => FailureKind::AuthRequired,
            guest::FailureKind::Unavailable => FailureKind::Unavailable,
            guest::FailureKind::Failed => FailureKind::Failed,
        },
        code: failure.code,
        message: failure.message,
        retry_after: failure.retry_after_ms.map(Duration::from_millis),
    })
}

/// The output of another tool, for the guest that called it.
pub(crate) fn clean_output(output: ToolOutput) -> guest::Output {
    guest::Output {
        content: output.content.into_iter().map(clean_content).collect(),
        user_content: output.user_content.map(|contents| contents.into_iter().map(clean_content).collect()),
        structured: output.structured.map(|value| value.to_string()),
        raw: output.raw,
        cost: output.cost.map(|cost| cost.to_string()),
    }
}

fn clean_content(content: Content) -> guest::Content {
    match content {
        Content::Text { text } => guest::Content::Text(text),
        Content::Json { value } => guest::Content::Json(value.to_string()),
        Content::Image(media) => guest::Content::Image(clean_media(media)),
        Content::Audio(media) => guest::Content::Audio(clean_media(media)),
        Content::Resource(resource) => guest::Content::Resource(guest::Embedded {
            uri: resource.uri,
            media_type: resource.media_type,
            body: match resource.body {
                Body::Text(text) => guest::Body::Text(text),
                Body::Blob(bytes) => guest::Body::Blob(bytes),
            },
        }),
    }
}

fn clean_media(media: Media) -> guest::Media {
    guest::Media { media_type: media.media_type, data: media.data }
}

/// Why the call of another tool has no output, for the guest that made it: in the words that the model would get.
pub(crate) fn call_error(error: &CallError) -> guest::Failure {
    guest::Failure {
        kind: match error {
            CallError::InvalidParams { .. } => guest::FailureKind::InvalidParams,
            CallError::NotFound { .. } | CallError::NotOffered { .. } => guest::FailureKind::NotFound,
            CallError::AuthRequired { .. } => guest::FailureKind::AuthRequired,
            CallError::RateLimited { .. }
            | CallError::Stopped { .. }
            | CallError::Unavailable { .. }
            | CallError::ApprovalTimeout { .. } => guest::FailureKind::Unavailable,
            CallError::Denied { .. }
            | CallError::NeedsApproval { .. }
            | CallError::LimitExceeded { .. }
            | CallError::Trapped { .. }
            | CallError::Cancelled { .. }
            | CallError::Failed { .. } => guest::FailureKind::Failed,
        },
        code: match error {
            CallError::Failed { code, .. } => code.clone(),
            other => other.code().into_owned(),
        },
        message: error.for_model(),
        retry_after_ms: error.retry_after().map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)),
    }
}
