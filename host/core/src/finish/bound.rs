//! Is the result small enough?

use serde_json::Value;

use crate::error::ToolError;
use crate::limit::{LimitKind, Limits};
use crate::output::{Body, Content, RawOutput};

/// Hands `raw` on when all its texts, blobs and JSON together keep to the limit of the result.
///
/// # Errors
/// [`ToolError::Limit`] when they do not.
pub fn check(raw: RawOutput, limits: &Limits) -> Result<RawOutput, ToolError> {
    let size = size(&raw);
    if size > limits.get(LimitKind::Result) {
        return Err(limits.exceeded(LimitKind::Result, Some(size)).into());
    }
    Ok(raw)
}

fn size(raw: &RawOutput) -> u64 {
    let contents = raw.content.iter().chain(raw.user_content.iter().flatten()).map(content_size).sum::<u64>();
    let structured = raw.structured.as_ref().map_or(0, json_size);
    let revealed = raw.revealed.as_ref().map_or(0, |revealed| revealed.secret.expose().len() as u64);
    contents + structured + revealed + raw.raw.as_ref().map_or(0, |text| text.len() as u64)
}

fn content_size(content: &Content) -> u64 {
    /// What a piece takes beside its bytes, so that a million empty ones are not free.
    const PIECE: u64 = 32;
    PIECE
        + match content {
            Content::Text { text } => text.len() as u64,
            Content::Json { value } => json_size(value),
            Content::Image(media) | Content::Audio(media) => (media.data.len() + media.media_type.len()) as u64,
            Content::Resource(resource) => {
                let names = resource.uri.len() + resource.media_type.as_ref().map_or(0, String::len);
                let body = match &resource.body {
                    Body::Text(text) => text.len(),
                    Body::Blob(bytes) => bytes.len(),
                };
                (names + body) as u64
            }
        }
}

/// About the length of the value's text, without writing it.
fn json_size(value: &Value) -> u64 {
    match value {
        Value::Null | Value::Bool(_) => 4,
        Value::Number(_) => 8,
        Value::String(text) => text.len() as u64 + 2,
        Value::Array(items) => 2 + items.iter().map(|item| json_size(item) + 1).sum::<u64>(),
        Value::Object(map) => 2 + map.iter().map(|(key, item)| key.len() as u64 + 4 + json_size(item)).sum::<u64>(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::limit::LimitSet;
    use crate::secret::{Revealed, Secret};

    #[test]
    fn every_part_counts() {
        let limits = Limits::effective(&LimitSet::default(), &LimitSet::default().with(LimitKind::Result, 42));
        assert!(check(RawOutput::text("0123456789"), &limits).is_ok());
        let over = [
            RawOutput::text("0123456789a"),
            RawOutput { structured: Some(json!({"a": "0123456789".repeat(5)})), ..RawOutput::default() },
            RawOutput { raw: Some("0123456789".repeat(5)), ..RawOutput::default() },
            RawOutput {
                revealed: Some(Revealed { name: "a".into(), secret: Secret::new("0123456789".repeat(5)) }),
                ..RawOutput::default()
            },
            RawOutput { user_content: Some(vec![Content::text("0123456789a")]), ..RawOutput::default() },
        ];
        for raw in over {
            assert!(matches!(check(raw, &limits), Err(ToolError::Limit(e)) if e.limit == "result"));
        }
    }
}
