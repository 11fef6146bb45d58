//! `echo`: gives back what it was given.

use async_trait::async_trait;
use ringfence_core::error::ToolError;
use ringfence_core::output::RawOutput;
use ringfence_core::permit::Permit;
use ringfence_core::tool::{Tool, ToolSpec};
use serde_json::json;

pub(crate) struct Echo(ToolSpec);

impl Echo {
    pub(crate) fn new() -> Self {
        Self(ToolSpec {
            name: "echo".into(),
            title: Some("Echo".into()),
            description: "Gives back the message. Useful to see that calls arrive.".into(),
            parameters: json!({
                "type": "object",
                "properties": {"message": {"type": "string", "description": "What to give back."}},
                "required": ["message"],
                "additionalProperties": false,
            }),
            effects: crate::PURE,
            categories: vec!["test".into()],
            ..ToolSpec::default()
        })
    }
}

#[async_trait]
impl Tool for Echo {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn execute(&self, permit: Permit) -> Result<RawOutput, ToolError> {
        let message = permit.call().arguments().value()["message"].as_str().unwrap_or_default();
        Ok(RawOutput::text(message))
    }
}
