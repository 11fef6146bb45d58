//! Between the host's words and MCP's.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ringfence_core::error::CallError;
use ringfence_core::output::{Body, Content, Media, Resource, ToolOutput};
use rmcp::model::{
    Annotations, CallToolResponse, CallToolResult, ContentBlock, ErrorData, JsonObject, MetaObject, ResourceContents,
    Role, Tool, ToolAnnotations,
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
    // Spelt as in the output that `ringfence call --json` prints.
    let mut usage = json!(output.usage);
    usage["duration_us"] = json!(u64::try_from(output.duration.as_micros()).unwrap_or(u64::MAX));
    usage["cost"] = json!(output.cost.map(|cost| cost.to_string()));
    let mut result = CallToolResult::success(contents(output.content, output.user_content));
    result.structured_content = output.structured;
    result.meta = Some(meta(USAGE_META, usage));
    result
}

/// A name that is not a tool is a fault of the request; everything else is for the model to read.
pub(super) fn error(error: &CallError) -> Result<CallToolResponse, ErrorData> {
    let details = json!({
        "code": error.code(),
        "tool_code": error.tool_code(),
        "retry_after_ms": error.retry_after_ms(),
    });
    if matches!(error, CallError::NotFound { .. }) {
        return Err(ErrorData::invalid_params(error.for_model(), Some(details)));
    }
    let mut result = CallToolResult::error(vec![ContentBlock::text(error.for_model())]);
    result.meta = Some(meta(ERROR_META, details));
    Ok(result.into())
}

/// What is for the user follows what is for the model, where the two differ: each piece says for whom it is.
fn contents(for_model: Vec<Content>, for_user: Option<Vec<Content>>) -> Vec<ContentBlock> {
    let Some(for_user) = for_user else { return for_model.into_iter().map(content).collect() };
    let for_model = for_model.into_iter().map(|piece| addressed(content(piece), Role::Assistant));
    for_model.chain(for_user.into_iter().map(|piece| addressed(content(piece), Role::User))).collect()
}

fn addressed(mut block: ContentBlock, reader: Role) -> ContentBlock {
    let annotations = Some(Annotations::default().with_audience(vec![reader]));
    match &mut block {
        ContentBlock::Text(text) => text.annotations = annotations,
        ContentBlock::Image(image) => image.annotations = annotations,
        ContentBlock::Audio(audio) => audio.annotations = annotations,
        ContentBlock::Resource(resource) => resource.annotations = annotations,
        // No piece becomes another kind of block.
        _ => {}
    }
    block
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// How a client reads what the front makes of `for_model` and `for_user`.
    fn read(for_model: Vec<Content>, for_user: Option<Vec<Content>>) -> Value {
        serde_json::to_value(contents(for_model, for_user)).unwrap()
    }

    fn media(data: &[u8]) -> Media {
        Media { media_type: "x/y".into(), data: data.into() }
    }

    #[test]
    fn every_kind_of_content_has_its_block() {
        let resource = |media_type: Option<&str>, body| {
            let media_type = media_type.map(str::to_owned);
            Content::Resource(Resource { uri: "urn:a".into(), media_type, body })
        };
        for (content, expected) in [
            (Content::text("a"), json!({"type": "text", "text": "a"})),
            (Content::Json { value: json!({"b": 1}) }, json!({"type": "text", "text": "{\"b\":1}"})),
            (Content::Image(media(&[0, 255])), json!({"type": "image", "mimeType": "x/y", "data": "AP8="})),
            (Content::Audio(media(b"a")), json!({"type": "audio", "mimeType": "x/y", "data": "YQ=="})),
            (
                resource(Some("x/y"), Body::Text("c".into())),
                json!({"type": "resource", "resource": {"uri": "urn:a", "mimeType": "x/y", "text": "c"}}),
            ),
            (
                resource(None, Body::Blob(vec![0])),
                json!({"type": "resource", "resource": {"uri": "urn:a", "blob": "AA=="}}),
            ),
        ] {
            assert_eq!(read(vec![content.clone()], None), json!([expected]));
            let mut addressed = [expected.clone(), expected];
            addressed[0]["annotations"] = json!({"audience": ["assistant"]});
            addressed[1]["annotations"] = json!({"audience": ["user"]});
            assert_eq!(read(vec![content.clone()], Some(vec![content])), json!(addressed));
        }
    }

    #[test]
    fn an_error_is_a_result_with_its_code_and_when_to_retry() {
        let unavailable = CallError::Unavailable {
            tool: "t".into(),
            reason: "busy".into(),
            retry_after: Some(Duration::from_millis(1500)),
        };
        let Ok(CallToolResponse::Complete(result)) = error(&unavailable) else { panic!("it is a result") };
        let result = serde_json::to_value(result).unwrap();
        assert_eq!(result["isError"], true);
        assert_eq!(result["content"][0]["text"], unavailable.for_model());
        assert_eq!(
            result["_meta"][ERROR_META],
            json!({"code": "unavailable", "tool_code": null, "retry_after_ms": 1500})
        );
        let endless =
            CallError::Unavailable { tool: "t".into(), reason: String::new(), retry_after: Some(Duration::MAX) };
        let Ok(CallToolResponse::Complete(result)) = error(&endless) else { panic!("it is a result") };
        assert_eq!(serde_json::to_value(result).unwrap()["_meta"][ERROR_META]["retry_after_ms"], u64::MAX);
    }

    #[test]
    fn a_name_that_is_no_tool_is_a_fault_of_the_request() {
        let absent = CallError::NotFound { name: "ecko".into(), nearest: vec!["echo".into()] };
        let fault = error(&absent).unwrap_err();
        assert_eq!(fault.message, absent.for_model());
        assert_eq!(fault.data, Some(json!({"code": "not_found", "tool_code": null, "retry_after_ms": null})));
    }
}
