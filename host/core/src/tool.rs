//! What a tool is: its description, where it comes from, and the trait that every tool implements.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::access::{ArgumentRule, Assessment};
use crate::error::ToolError;
use crate::output::RawOutput;
use crate::permit::Permit;

/// A tool, whatever it is made of. It is shared between calls, so it holds nothing that belongs to one.
#[async_trait]
pub trait Tool: Send + Sync {
    /// What the tool says of itself.
    fn spec(&self) -> &ToolSpec;

    /// What a call with these (valid) parameters touches, and the approval it needs.
    fn assess(&self, params: &Value) -> Assessment {
        Assessment::of(self.spec(), params)
    }

    /// Runs one call. Dropping the future ends the call: the pipeline does so at the deadline and on cancellation.
    async fn execute(&self, permit: Permit) -> Result<RawOutput, ToolError>;
}

/// What a tool says of itself. For a guest it is a claim, part of the signed package.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolSpec {
    /// The name inside the tool's source.
    pub name: String,
    /// A few words for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// For the model: what the tool does and when to use it.
    pub description: String,
    /// JSON Schema of the parameters.
    pub parameters: Value,
    /// JSON Schema of the structured output, where the tool promises one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// Where a call runs.
    #[serde(default)]
    pub domain: Domain,
    /// What the tool claims about its effects.
    #[serde(default)]
    pub effects: Effects,
    /// The least approval that every call needs.
    #[serde(default)]
    pub approval: Approval,
    /// What depends on the arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<ArgumentRule>,
    /// A tighter rate limit than the host's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_limit: Option<RateLimit>,
    /// Whether the schema may be withheld until the model asks for the tool.
    #[serde(default)]
    pub deferrable: bool,
    /// Search words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<String>,
    /// One line for listings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub short_doc: Option<String>,
    /// The manual, in Markdown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub long_doc: Option<String>,
    /// Calls that show how the tool is used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Example>,
}

impl ToolSpec {
    /// One line for listings: the short documentation, or else the first sentence of the description.
    pub fn summary(&self) -> &str {
        let text = self.short_doc.as_deref().unwrap_or(&self.description);
        let line = text.lines().next().unwrap_or_default();
        line.split_once(". ").map_or(line, |(sentence, _)| sentence).trim_end_matches('.')
    }
}

/// Where a call runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Domain {
    /// In the host's process (a native tool, or a guest in its sandbox), without access to files.
    #[default]
    Orchestrator,
    /// In a container.
    Container,
}

/// Claims about effects. Without any, a tool counts as writing, impure and exclusive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Effects {
    /// Changes nothing outside the call.
    pub read_only: bool,
    /// May destroy something that cannot be restored.
    pub destructive: bool,
    /// A second call with the same parameters changes nothing more.
    pub idempotent: bool,
    /// Deals with the world outside the host.
    pub open_world: bool,
    /// The same parameters always give the same output.
    pub pure: bool,
}

impl Effects {
    /// Those of a tool whose claims are not believed: it may do anything, anywhere.
    pub const UNKNOWN: Self =
        Self { read_only: false, destructive: false, idempotent: false, open_world: true, pure: false };
}

/// Whether a call waits for a person. Ordered: a later one asks more often.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Approval {
    /// No.
    #[default]
    Never,
    /// Unless the operator approves such calls by a standing rule.
    UnlessAutoApproved,
    /// Yes, each time.
    Always,
}

/// Calls per caller and tool. Both numbers are at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateLimit {
    /// In any minute.
    pub per_minute: u32,
    /// In any hour.
    pub per_hour: u32,
}

impl RateLimit {
    /// The smaller of both, number by number.
    #[must_use]
    pub fn min(self, other: Self) -> Self {
        Self { per_minute: self.per_minute.min(other.per_minute), per_hour: self.per_hour.min(other.per_hour) }
    }
}

impl Default for RateLimit {
    /// 60 a minute and 1,000 an hour, as IronClaw's tool-system document has it.
    fn default() -> Self {
        Self { per_minute: 60, per_hour: 1000 }
    }
}

/// A worked example.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Example {
    /// What it shows.
    pub description: String,
    /// The parameters.
    pub input: Value,
    /// What comes back, where it is worth showing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
}

/// How a tool came to be here. Audit and listings show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Origin {
    /// Compiled into ringfence. The only origin that may have a reserved name.
    Builtin,
    /// A native tool that the embedding program registered.
    Native,
    /// An installed package.
    Installed {
        /// SHA-256 of the component, in hexadecimal.
        digest: String,
        /// Version of the package.
        version: String,
        /// Id of the key that signed it; `None` marks an unsigned package.
        key_id: Option<String>,
    },
    /// A component that the embedding program handed over as bytes. Nobody signed it.
    Embedded {
        /// SHA-256 of the component, in hexadecimal.
        digest: String,
    },
}

impl Origin {
    /// The word that listings and audit use.
    pub fn label(&self) -> &'static str {
        match self {
            Self::Builtin => "builtin",
            Self::Native => "native",
            Self::Installed { key_id: Some(_), .. } => "signed",
            Self::Installed { key_id: None, .. } => "unsigned",
            Self::Embedded { .. } => "embedded",
        }
    }

    /// Whether the tool is native code, compiled into this process.
    pub fn is_native(&self) -> bool {
        matches!(self, Self::Builtin | Self::Native)
    }

    /// The digest of the code that runs, for what is not compiled in.
    pub fn digest(&self) -> Option<&str> {
        match self {
            Self::Builtin | Self::Native => None,
            Self::Installed { digest, .. } | Self::Embedded { digest } => Some(digest),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summary_is_one_sentence() {
        let mut spec = ToolSpec { description: "Counts words. Fast.\nMore.".into(), ..ToolSpec::default() };
        assert_eq!(spec.summary(), "Counts words");
        spec.short_doc = Some("Word count".into());
        assert_eq!(spec.summary(), "Word count");
    }

    #[test]
    fn an_unknown_field_of_a_definition_is_refused() {
        let text = r#"{"name":"a","description":"b","parameters":{},"paramters":{}}"#;
        assert!(serde_json::from_str::<ToolSpec>(text).unwrap_err().to_string().contains("paramters"));
    }
}
