//! Between the host's words and MCP's.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ringfence_core::error::CallError;
use ringfence_core::output::{Body, Content, Media, Resource, ToolOutput};
use rmcp::model::{
    CallToolResponse, CallToolResult, ContentBlock, ErrorData, JsonObject, MetaObject, ResourceContents, Tool,
    ToolAnnotations,
};
use serde_json::{Value, json};

use crate::request::ToolEntry;

/// The keys of our own metadata, under the reverse-domain prefix that MCP asks for.
const ERROR_META: &str = "dev.ringfence/error";
const USAGE_META: &str = "dev.ringfence/usage";

pub(super) fn tool(entry: ToolEntry) -> Tool {
    let spec = entry.spec;
    let mut tool = Tool::new(entry.name, spec.description, Arc::new(object(spec.parameters)));
    tool.title.clone_from(&spec.title);
    tool.output_schema = spec.output_schema.map(|schema| Arc::new(object(schema)));
    let mut hints = ToolAnnotations::default();
    hints.title = spec.title;
    hints.read_only_hint = Some(spec.effects.read_only);
    hints.destructive_hint = Some(spec.effects.destructive || !spec.effects.read_only);
    hints.idempotent_hint = Some(spec.effects.idempotent);
    hints.open_world_hint = Some(spec.effects.open_world);
    tool.annotations = Some(hints);
    tool
}

pub(super) fn output(output: ToolOutput) -> CallToolResult {
    let usage = json!({
        "fuel": output.usage.fuel,
        "peak_memory_bytes": output.usage.peak_memory,
        "duration_us": u64::try_from(output.duration.as_micros()).unwrap_or(u64::MAX),
        "cost": output.cost.map(|cost| cost.to_string()),
    });
    let mut result = CallToolResult::success(output.content.into_iter().map(content).collect());
    result.structured_content = output.structured;
    result.meta = Some(meta(USAGE_META, usage));
    result
}

/// A name that is not a tool is a fault of the request; everything else is for the model to read.
pub(super) fn error(error: &CallError) -> Result<CallToolResponse, ErrorData> {
    let details = json!({
        "code": error.code(),
        "retry_after_ms": error.retry_after().map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)),
    });
    if matches!(error, CallError::NotFound { .. }) {
        return Err(ErrorData::invalid_params(error.for_model(), Some(details)));
    }
    let mut result = CallToolResult::error(vec![ContentBlock::text(error.for_model())]);
    result.meta = Some(meta(ERROR_META, details));
    Ok(result.into())
}

fn content(content: Content) -> ContentBlock {
    match content {
        Content::Text { text } => ContentBlock::text(text),
        Content::Json { value } => ContentBlock::text(value.to_string()),
        Content::Image(Media { media_type, data }) => ContentBlock::image(STANDARD.encode(data), media_type),
        Content::Audio(Media { media_type, data }) => ContentBlock::audio(STANDARD.encode(data), media_type),
        Content::Resource(resource) => ContentBlock::resource(self::resource(resource)),
    }
}

fn resource(resource: Resource) -> ResourceContents {
    let contents = match resource.body {
        Body::Text(text) => ResourceContents::text(text, resource.uri),
        Body::Blob(bytes) => ResourceContents::blob(STANDARD.encode(bytes), resource.uri),
    };
    match resource.media_type {
        Some(media_type) => contents.with_mime_type(media_type),
        None => contents,
    }
}

/// Every schema that is registered has an object at its root.
fn object(schema: Value) -> JsonObject {
    match schema {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    }
}

fn meta(key: &str, value: Value) -> MetaObject {
    let mut meta = MetaObject::default();
    meta.insert(key.to_owned(), value);
    meta
}
