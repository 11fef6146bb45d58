//! One thing that may be reached over HTTP.

use std::collections::BTreeSet;
use std::fmt;
use std::num::NonZeroU64;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::http_target::HttpTarget;
use super::url_pattern::UrlPattern;

/// One thing that may be reached over HTTP. In TOML:
///
/// ```toml
/// url = "https://api.x.com/v1/**"
/// methods = ["GET", "POST"]   # without this line GET and HEAD; ["*"] for all
/// requests = 10               # in one call
/// request_bytes = 65536       # URL, headers and body of each
/// response_bytes = 1048576    # headers and decoded body of each
/// time_ms = 5000              # of each, redirects included
/// ```
///
/// The limits only lower those of the call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HttpRule {
    /// What may be reached.
    pub url: UrlPattern,
    /// How.
    #[serde(default)]
    pub methods: Methods,
    /// Requests in one call that this rule may let pass. Each redirect counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<NonZeroU64>,
    /// Bytes of each request: URL, headers and body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_bytes: Option<NonZeroU64>,
    /// Bytes of each response: headers and decoded body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_bytes: Option<NonZeroU64>,
    /// Milliseconds from the start of a request to the last byte of its response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<NonZeroU64>,
}

/// The methods of a rule: all of them, or those that are named.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
#[schemars(extend("minItems" = 1))]
pub enum Methods {
    /// Written `["*"]`.
    All,
    /// These, exactly as they stand in a request: case matters (RFC 9110, 9.1).
    Named(BTreeSet<String>),
}

impl HttpRule {
    /// A rule without limits of its own.
    pub fn new(url: UrlPattern, methods: Methods) -> Self {
        Self { url, methods, requests: None, request_bytes: None, response_bytes: None, time_ms: None }
    }

    /// Whether a request with `method` to `target` may pass.
    pub fn matches(&self, target: &HttpTarget, method: &str) -> bool {
        self.url.matches(target) && self.methods.contains(method)
    }

    /// Whether there is any request that both this rule and `other` let pass.
    pub fn meets(&self, other: &Self) -> bool {
        self.url.meets(&other.url) && self.methods.meets(&other.methods)
    }
}

impl Methods {
    /// Whether `method` is one of them.
    pub fn contains(&self, method: &str) -> bool {
        match self {
            Self::All => true,
            Self::Named(names) => names.contains(method),
        }
    }

    fn meets(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Named(own), Self::Named(other)) => !own.is_disjoint(other),
            _ => true,
        }
    }
}

impl Default for Methods {
    /// What only reads.
    fn default() -> Self {
        Self::Named(["GET", "HEAD"].map(String::from).into())
    }
}

impl TryFrom<Vec<String>> for Methods {
    type Error = String;

    fn try_from(names: Vec<String>) -> Result<Self, String> {
        if names == ["*"] {
            return Ok(Self::All);
        }
        let bad = |name: &&String| name.is_empty() || !name.bytes().all(|b| b.is_ascii_uppercase() || b == b'-');
        if let Some(name) = names.iter().find(bad) {
            return Err(format!("`{name}` is not a method: write them like `GET`, or `[\"*\"]` for all"));
        }
        match names.is_empty() {
            true => Err("no methods: name some, or leave `methods` out for GET and HEAD".into()),
            false => Ok(Self::Named(names.into_iter().collect())),
        }
    }
}

impl From<Methods> for Vec<String> {
    fn from(methods: Methods) -> Self {
        match methods {
            Methods::All => vec!["*".into()],
            Methods::Named(names) => names.into_iter().collect(),
        }
    }
}

impl fmt::Display for HttpRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", Vec::from(self.methods.clone()).join(","), self.url)
    }
}
