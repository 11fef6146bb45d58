//! The names of tools: what a source calls them, and what the wire calls them.

mod nearest;
mod reserved;

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use thiserror::Error;

pub use self::nearest::nearest;
pub use self::reserved::is_reserved;

/// The longest name that common MCP clients accept; two of them refuse every tool of a server when one name is longer.
pub const MAX_WIRE_NAME: usize = 64;

/// The longest name that a source may have, so that something of the tool's own name is always left on the wire.
pub const MAX_SOURCE_NAME: usize = 32;

/// The longest name that a tool may have inside its source, in bytes.
pub const MAX_TOOL_NAME: usize = 256;

/// Hexadecimal digits of the digest at the end of a wire name that had to be altered.
const DIGEST_DIGITS: usize = 8;

/// Where a tool comes from, as the operator calls it: `[a-z0-9][a-z0-9-]*`, at most [`MAX_SOURCE_NAME`] bytes. It begins
/// with no hyphen, so that a command line never takes it for an option.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(extend("pattern" = "^[a-z0-9][a-z0-9-]{0,31}$"))]
pub struct SourceName(String);

/// What a source calls its tool: 1 to [`MAX_TOOL_NAME`] bytes without control characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ToolName(String);

/// The identity of a tool: policy, grants, limits and approvals key on it, never on the wire name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ToolId {
    /// The source.
    pub source: SourceName,
    /// The tool's name in that source.
    pub name: ToolName,
}

/// Why a text is not a name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NameError {
    /// Not `[a-z0-9][a-z0-9-]*`, or too long.
    #[error(
        "{0:?} is not a source name: use 1 to {MAX_SOURCE_NAME} of a-z, 0-9 and -, beginning with a letter or digit"
    )]
    Source(String),
    /// Empty, too long, or with control characters.
    #[error("{0:?} is not a tool name: use 1 to {MAX_TOOL_NAME} bytes without control characters")]
    Tool(String),
}

impl SourceName {
    /// The source of ringfence's own native tools. They stand on the wire under their bare names.
    pub const BUILTIN: &str = "builtin";
    /// The source of native tools that an embedding program registers. They, too, have bare names.
    pub const EMBEDDER: &str = "native";

    /// The source of the built-ins.
    pub fn builtin() -> Self {
        Self(Self::BUILTIN.into())
    }

    /// The source of the embedding program's native tools.
    pub fn embedder() -> Self {
        Self(Self::EMBEDDER.into())
    }

    /// Whether tools of this source stand on the wire without a prefix.
    pub fn is_bare(&self) -> bool {
        self.0 == Self::BUILTIN || self.0 == Self::EMBEDDER
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for SourceName {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, NameError> {
        let good = (1..=MAX_SOURCE_NAME).contains(&text.len())
            && !text.starts_with('-')
            && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        if good { Ok(Self(text)) } else { Err(NameError::Source(text)) }
    }
}

impl ToolName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for ToolName {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, NameError> {
        let good = (1..=MAX_TOOL_NAME).contains(&text.len()) && !text.chars().any(char::is_control);
        if good { Ok(Self(text)) } else { Err(NameError::Tool(text)) }
    }
}

impl ToolId {
    /// Names the tool `name` of `source`.
    ///
    /// # Errors
    /// When one of the two is not a name.
    pub fn new(source: &str, name: &str) -> Result<Self, NameError> {
        Ok(Self { source: source.to_owned().try_into()?, name: name.to_owned().try_into()? })
    }

    /// The name under which clients see the tool: at most [`MAX_WIRE_NAME`] of `[a-zA-Z0-9_-]`, the same in every run.
    ///
    /// A name that had to be cut or cleaned carries a digest of the full one. So does a name that could be taken for
    /// such a one, which is why no two tools can meet under one name.
    pub fn wire_name(&self) -> String {
        let full =
            if self.source.is_bare() { self.name.0.clone() } else { format!("{}__{}", self.source.0, self.name.0) };
        let clean: String = full.chars().map(|c| if is_wire_char(c) { c } else { '_' }).collect();
        if clean == full && full.len() <= MAX_WIRE_NAME && !ends_like_digest(&full) {
            return full;
        }
        let digest = Sha256::digest(full.as_bytes());
        let digits: String = digest.iter().take(DIGEST_DIGITS / 2).map(|b| format!("{b:02x}")).collect();
        let kept: String = clean.chars().take(MAX_WIRE_NAME - DIGEST_DIGITS - 1).collect();
        format!("{kept}_{digits}")
    }
}

impl fmt::Display for SourceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for ToolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.source, self.name)
    }
}

impl From<SourceName> for String {
    fn from(name: SourceName) -> Self {
        name.0
    }
}

impl From<ToolName> for String {
    fn from(name: ToolName) -> Self {
        name.0
    }
}

fn is_wire_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

fn ends_like_digest(name: &str) -> bool {
    name.len() > DIGEST_DIGITS
        && name.as_bytes()[name.len() - DIGEST_DIGITS - 1] == b'_'
        && name.bytes().rev().take(DIGEST_DIGITS).all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_source_name_is_never_taken_for_an_option() {
        for good in ["weather", "9to5", "a-b", "a-", "x".repeat(MAX_SOURCE_NAME).as_str()] {
            assert!(SourceName::try_from(good.to_owned()).is_ok(), "{good}");
        }
        for bad in ["", "-", "-h", "--json", "Weather", "../x", "a_b", "x".repeat(MAX_SOURCE_NAME + 1).as_str()] {
            assert!(SourceName::try_from(bad.to_owned()).is_err(), "{bad}");
        }
    }

    #[test]
    fn wire_names_of_plain_tools_are_plain() {
        assert_eq!(ToolId::new("calc", "evaluate").unwrap().wire_name(), "calc__evaluate");
        assert_eq!(ToolId::new("builtin", "echo").unwrap().wire_name(), "echo");
    }

    #[test]
    fn altered_names_carry_a_digest_and_stay_apart() {
        let long_a = ToolId::new("s", &format!("{}-alpha", "x".repeat(64))).unwrap().wire_name();
        let long_b = ToolId::new("s", &format!("{}-beta", "x".repeat(64))).unwrap().wire_name();
        assert_ne!(long_a, long_b);
        assert!(long_a.len() <= MAX_WIRE_NAME);
        let dotted = ToolId::new("s", "a.b").unwrap().wire_name();
        assert!(dotted.starts_with("s__a_b_") && dotted.len() == "s__a_b_".len() + DIGEST_DIGITS);
        // A tool that is called what the cleaned one is called does not meet it.
        let mimic = ToolId::new("s", dotted.strip_prefix("s__").unwrap()).unwrap().wire_name();
        assert_ne!(mimic, dotted);
    }

    proptest! {
        #[test]
        fn every_wire_name_is_acceptable_to_clients(source in "[a-z0-9][a-z0-9-]{0,31}", name in "[^\\p{Cc}]{1,60}") {
            let wire = ToolId::new(&source, &name).unwrap().wire_name();
            prop_assert!((1..=MAX_WIRE_NAME).contains(&wire.len()));
            prop_assert!(wire.chars().all(is_wire_char));
        }

        #[test]
        fn different_tools_have_different_wire_names(a in "[a-c._/]{1,70}", b in "[a-c._/]{1,70}") {
            let (x, y) = (ToolId::new("s", &a).unwrap(), ToolId::new("s", &b).unwrap());
            prop_assert_eq!(x == y, x.wire_name() == y.wire_name());
        }
    }
}
