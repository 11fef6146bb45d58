//! What a call gives back: tainted as it comes from a tool, clean when it has been scrubbed.

use std::time::Duration;

pub use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::secret::Revealed;

/// A piece of output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "type")]
pub enum Content {
    /// Plain text.
    Text {
        /// The text.
        text: String,
    },
    /// A JSON value.
    Json {
        /// The value.
        value: Value,
    },
    /// A picture.
    Image(Media),
    /// Sound.
    Audio(Media),
    /// A document.
    Resource(Resource),
}

impl Content {
    /// Plain text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }
}

/// Bytes with their media type (RFC 6838).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Media {
    /// Such as `image/png`.
    pub media_type: String,
    /// The bytes; base64 when serialised.
    #[serde(with = "base64_bytes")]
    pub data: Vec<u8>,
}

/// A document inside the output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resource {
    /// Names the document (RFC 3986).
    pub uri: String,
    /// Its media type, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// What it holds.
    pub body: Body,
}

/// What a document holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    /// Text.
    Text(String),
    /// Bytes; base64 when serialised.
    #[serde(with = "base64_bytes")]
    Blob(Vec<u8>),
}

/// What a call used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Fuel burnt (about one unit a WebAssembly instruction); `None` for a tool that is not metered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fuel: Option<u64>,
    /// The largest size of all memories together, in bytes; `None` where it is not measured.
    #[serde(rename = "peak_memory_bytes", skip_serializing_if = "Option::is_none")]
    pub peak_memory: Option<u64>,
}

/// What a tool gave back. Tainted: only the scrubber can turn it into a [`ToolOutput`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RawOutput {
    /// For the model.
    pub content: Vec<Content>,
    /// For the user, where it differs.
    pub user_content: Option<Vec<Content>>,
    /// The structured result.
    pub structured: Option<Value>,
    /// The unprocessed result, for programs; never shown to the model.
    pub raw: Option<String>,
    /// What the call cost, in the unit that the tool documents.
    pub cost: Option<Decimal>,
    /// What it used.
    pub usage: Usage,
    /// A secret that was asked for. It joins the content behind the scrubber, and after it was recorded.
    pub revealed: Option<Revealed>,
}

impl RawOutput {
    /// An output of one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![Content::text(text)], ..Self::default() }
    }

    /// An output of one JSON value, which is the structured result as well.
    pub fn json(value: Value) -> Self {
        Self { content: vec![Content::Json { value: value.clone() }], structured: Some(value), ..Self::default() }
    }
}

/// What a call gave back, clean. Only the scrubber makes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolOutput {
    /// For the model.
    pub content: Vec<Content>,
    /// For the user, where it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_content: Option<Vec<Content>>,
    /// The structured result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured: Option<Value>,
    /// The unprocessed result, for programs; never shown to the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
    /// What the call cost, in the unit that the tool documents.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "rust_decimal::serde::str_option")]
    pub cost: Option<Decimal>,
    /// From permit to result.
    #[serde(rename = "duration_us", with = "microseconds")]
    pub duration: Duration,
    /// What it used.
    pub usage: Usage,
}

mod base64_bytes {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        STANDARD.decode(String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

pub(crate) mod microseconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        Ok(Duration::from_micros(u64::deserialize(deserializer)?))
    }
}
