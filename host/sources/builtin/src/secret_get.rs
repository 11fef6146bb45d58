//! `secret_get`: the value of a secret, where the operator lets it be seen.

use std::sync::Arc;

use async_trait::async_trait;
use ringfence_core::SecretShelf;
use ringfence_core::error::ToolError;
use ringfence_core::output::RawOutput;
use ringfence_core::permit::Permit;
use ringfence_core::tool::{Effects, Tool, ToolSpec};
use serde_json::json;

pub(crate) struct SecretGet {
    spec: ToolSpec,
    shelf: Arc<dyn SecretShelf>,
}

impl SecretGet {
    pub(crate) fn new(shelf: Arc<dyn SecretShelf>) -> Self {
        let spec = ToolSpec {
            name: "secret_get".into(),
            title: Some("Secret".into()),
            description:
                "Gives the value of a secret that the operator lets be seen. Each use is recorded. A tool that \
                          was granted a credential needs no value: the host places it."
                    .into(),
            parameters: json!({
                "type": "object",
                "properties": {"name": {"type": "string", "description": "Its name, as secret_list gives it."}},
                "required": ["name"],
                "additionalProperties": false,
            }),
            // What leaves the vault does not come back, so it counts like writing: it has a rate.
            effects: Effects { read_only: false, pure: false, ..crate::PURE },
            categories: vec!["secret".into()],
            ..ToolSpec::default()
        };
        Self { spec, shelf }
    }
}

#[async_trait]
impl Tool for SecretGet {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn execute(&self, permit: Permit) -> Result<RawOutput, ToolError> {
        let name = permit.call().arguments().value()["name"].as_str().unwrap_or_default();
        let revealed = self.shelf.reveal(name).await?;
        Ok(RawOutput { revealed: Some(revealed), ..RawOutput::default() })
    }
}
