//! `secret_list`: which secrets there are, and what they are for.

use std::sync::Arc;

use async_trait::async_trait;
use ringfence_core::SecretShelf;
use ringfence_core::error::ToolError;
use ringfence_core::output::RawOutput;
use ringfence_core::permit::Permit;
use ringfence_core::tool::{Effects, Tool, ToolSpec};
use serde_json::json;

pub(crate) struct SecretList {
    spec: ToolSpec,
    shelf: Arc<dyn SecretShelf>,
}

impl SecretList {
    pub(crate) fn new(shelf: Arc<dyn SecretShelf>) -> Self {
        let spec = ToolSpec {
            name: "secret_list".into(),
            title: Some("Secrets".into()),
            description:
                "Lists the operator's secrets by name, and which tools use each for what. Never their values: \
                          the host places those into requests by itself."
                    .into(),
            parameters: json!({"type": "object", "properties": {}, "additionalProperties": false}),
            // What the operator stores meanwhile changes the answer.
            effects: Effects { pure: false, ..crate::PURE },
            categories: vec!["secret".into()],
            ..ToolSpec::default()
        };
        Self { spec, shelf }
    }
}

#[async_trait]
impl Tool for SecretList {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn execute(&self, _permit: Permit) -> Result<RawOutput, ToolError> {
        // Under the name `secrets` the scrubber would hide all of it.
        Ok(RawOutput::json(json!({"stored": self.shelf.list().await?})))
    }
}
