//! `json`: reads, formats and looks into JSON texts.

use async_trait::async_trait;
use ringfence_core::error::ToolError;
use ringfence_core::output::RawOutput;
use ringfence_core::permit::Permit;
use ringfence_core::tool::{Example, Tool, ToolSpec};
use serde_json::{Value, json};

use crate::invalid;

pub(crate) struct Json(ToolSpec);

impl Json {
    pub(crate) fn new() -> Self {
        Self(ToolSpec {
            name: "json".into(),
            title: Some("JSON".into()),
            description: "Works on JSON: `parse` a text, `query` a value by JSON Pointer, `stringify` a value, \
                          `validate` that a text is JSON."
                .into(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "operation": {"type": "string", "enum": ["parse", "query", "stringify", "validate"]},
                    "data": {"description": "The text (parse, validate) or the value (query, stringify); \
                                             for query a text is parsed first."},
                    "path": {"type": "string", "description": "JSON Pointer (RFC 6901) for query, such as /items/0."},
                },
                "required": ["operation", "data"],
                "additionalProperties": false,
            }),
            effects: crate::PURE,
            categories: vec!["data".into()],
            examples: vec![Example {
                description: "Take the name out of a text".into(),
                input: json!({"operation": "query", "data": "{\"user\":{\"name\":\"Ada\"}}", "path": "/user/name"}),
                output: Some("\"Ada\"".into()),
            }],
            ..ToolSpec::default()
        })
    }
}

#[async_trait]
impl Tool for Json {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn execute(&self, permit: Permit) -> Result<RawOutput, ToolError> {
        let params = permit.call().arguments().value();
        let (data, path) = (&params["data"], params["path"].as_str());
        match params["operation"].as_str().unwrap_or_default() {
            "parse" => Ok(RawOutput::json(parse(text_of(data)?)?)),
            "query" => query(data, path).map(RawOutput::json),
            "stringify" => stringify(data).map(RawOutput::text),
            _ => Ok(RawOutput::json(validate(text_of(data)?))),
        }
    }
}

fn text_of(data: &Value) -> Result<&str, ToolError> {
    data.as_str().ok_or_else(|| invalid("`data` has to be a text here; use `query` or `stringify` for a value".into()))
}

fn parse(text: &str) -> Result<Value, ToolError> {
    serde_json::from_str(text).map_err(|error| invalid(format!("`data` is not JSON: {error}")))
}

fn query(data: &Value, path: Option<&str>) -> Result<Value, ToolError> {
    let path = path.ok_or_else(|| invalid("`query` needs `path`, a JSON Pointer such as /items/0".into()))?;
    if !path.is_empty() && !path.starts_with('/') {
        return Err(invalid(format!("`{path}` is not a JSON Pointer: it begins with /")));
    }
    let parsed = data.as_str().map(parse).transpose()?;
    let found = parsed.as_ref().unwrap_or(data).pointer(path).cloned();
    found.ok_or_else(|| invalid(format!("there is nothing at `{path}`")))
}

fn stringify(data: &Value) -> Result<String, ToolError> {
    serde_json::to_string_pretty(data).map_err(|error| invalid(format!("`data` cannot be written: {error}")))
}

fn validate(text: &str) -> Value {
    match serde_json::from_str::<Value>(text) {
        Ok(_) => json!({"valid": true}),
        Err(error) => json!({
            "valid": false, "error": error.to_string(), "line": error.line(), "column": error.column(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn query_finds_and_refuses() {
        assert_eq!(query(&json!("{\"a\":[1,2]}"), Some("/a/1")).unwrap(), json!(2));
        assert_eq!(query(&json!({"a": null}), Some("/a")).unwrap(), Value::Null);
        for (path, part) in [(None, "needs `path`"), (Some("a"), "begins with /"), (Some("/b"), "nothing at")] {
            let error = query(&json!({"a": 1}), path).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn validate_says_where() {
        assert_eq!(validate("{}"), json!({"valid": true}));
        assert_eq!(validate("[1,\n}")["line"], 2);
    }
}
