//! The manifest inside a package: what the author says, and the definitions of the tools.

use std::collections::BTreeSet;

use ringfence_core::ToolSpec;
use ringfence_core::name::is_reserved;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use crate::author::PackageInfo;
use crate::contract::Contract;
use crate::reading::{ReadError, unknown_name};

/// The format of manifests that this version writes and reads.
pub const FORMAT: u32 = 1;

/// The largest manifest, in bytes. The definitions of 256 tools fit when each is a kilobyte long, as good ones are.
pub const MAX_BYTES: usize = 256 << 10;

/// The most tools that one package may have: beyond that, a client's list of tools is of no use to a model.
pub const MAX_TOOLS: usize = 256;

/// The longest name of a tool, in bytes. Behind most source names it fits into what clients accept.
pub const MAX_TOOL_NAME: usize = 48;

/// The manifest of a package.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// [`FORMAT`].
    pub format: u32,
    /// What the component speaks: the name of a [`Contract`].
    pub contract: String,
    /// What the author says.
    pub package: PackageInfo,
    /// Its tools, as the component itself defines them.
    pub tools: Vec<ToolSpec>,
}

/// What is wrong with a manifest or a `ringfence.toml`.
#[derive(Debug, Error)]
pub enum ManifestError {
    /// Over [`MAX_BYTES`].
    #[error("the manifest has {size} bytes, at most {MAX_BYTES} are allowed: shorten the descriptions of its tools")]
    TooLarge {
        /// Its size.
        size: usize,
    },
    /// Not JSON, or not of the form of a manifest.
    #[error("the manifest is malformed: {0}; build the package again with `ringfence build`")]
    Malformed(#[source] serde_json::Error),
    /// Not TOML, or not of the form of a `ringfence.toml`.
    #[error(transparent)]
    Toml(#[from] ReadError),
    /// A field or a value that does not exist.
    #[error("the manifest has an {0}")]
    UnknownName(String),
    /// Another format than [`FORMAT`].
    #[error("the manifest has format {found}, this ringfence reads {FORMAT}: use a ringfence that knows that format")]
    Format {
        /// Its format.
        found: u64,
    },
    /// A contract that this host does not speak.
    #[error(
        "the manifest is for the contract `{found}`, this ringfence speaks {}: build the package again with a matching SDK",
        Contract::ALL.map(Contract::name).join(", ")
    )]
    Contract {
        /// Its name.
        found: String,
    },
    /// Another contract than the component's.
    #[error(
        "the manifest says that the component speaks `{named}`, but it speaks `{spoken}`: build the package again with \
         `ringfence build`"
    )]
    WrongContract {
        /// What the manifest names.
        named: String,
        /// What the component speaks.
        spoken: &'static str,
    },
    /// A field whose text cannot be used.
    #[error("`{field}` {problem}: correct it in ringfence.toml")]
    Field {
        /// The field.
        field: &'static str,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A name, or a text, among what it asks for that cannot be used.
    #[error("{name:?} under `capabilities.{field}` {problem}: correct it in ringfence.toml")]
    Capability {
        /// The field.
        field: &'static str,
        /// The name.
        name: String,
        /// What is wrong with it, or with its description.
        problem: &'static str,
    },
    /// There are no tools.
    #[error("the package has no tools: a function becomes a tool by the SDK's attribute")]
    NoTools,
    /// More than [`MAX_TOOLS`].
    #[error("the package has {count} tools, at most {MAX_TOOLS} are allowed: make several packages of it")]
    TooManyTools {
        /// How many.
        count: usize,
    },
    /// A tool's name cannot be used.
    #[error("the name {name:?} of a tool {problem}: call it otherwise")]
    ToolName {
        /// The name.
        name: String,
        /// What is wrong with it.
        problem: &'static str,
    },
}

impl ManifestError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "manifest.too_large",
            Self::Malformed(_) | Self::Toml(_) => "manifest.malformed",
            Self::UnknownName(_) => "manifest.unknown_field",
            Self::Format { .. } => "manifest.format",
            Self::Contract { .. } => "manifest.contract",
            Self::WrongContract { .. } => "manifest.wrong_contract",
            Self::Field { .. } => "manifest.field",
            Self::Capability { .. } => "manifest.capability",
            Self::NoTools => "manifest.no_tools",
            Self::TooManyTools { .. } => "manifest.too_many_tools",
            Self::ToolName { .. } => "manifest.tool_name",
        }
    }
}

impl Manifest {
    /// The manifest of a package with these tools, whose component speaks `contract`.
    ///
    /// # Errors
    /// When the tools cannot make a package.
    pub fn new(package: PackageInfo, contract: Contract, tools: Vec<ToolSpec>) -> Result<Self, ManifestError> {
        let manifest = Self { format: FORMAT, contract: contract.name().into(), package, tools };
        manifest.check()?;
        manifest.to_bytes()?;
        Ok(manifest)
    }

    /// Reads the manifest out of a package.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(bytes: &[u8]) -> Result<Self, ManifestError> {
        if bytes.len() > MAX_BYTES {
            return Err(ManifestError::TooLarge { size: bytes.len() });
        }
        let manifest: Self = serde_json::from_slice(bytes).map_err(|error| explain(bytes, error))?;
        manifest.check()?;
        Ok(manifest)
    }

    /// Whether the component has to define the same tools.
    pub(crate) fn repeats_component(&self) -> bool {
        Contract::called(&self.contract).is_some_and(Contract::lists_tools)
    }

    /// Checks that the manifest names the contract that the component speaks.
    ///
    /// # Errors
    /// [`ManifestError::WrongContract`].
    pub fn check_contract(&self, spoken: Contract) -> Result<(), ManifestError> {
        if self.contract == spoken.name() {
            return Ok(());
        }
        Err(ManifestError::WrongContract { named: self.contract.clone(), spoken: spoken.name() })
    }

    /// The manifest as it stands in a package.
    ///
    /// # Errors
    /// [`ManifestError::TooLarge`].
    pub fn to_bytes(&self) -> Result<Vec<u8>, ManifestError> {
        let bytes = serde_json::to_vec(self).map_err(ManifestError::Malformed)?;
        if bytes.len() > MAX_BYTES { Err(ManifestError::TooLarge { size: bytes.len() }) } else { Ok(bytes) }
    }

    fn check(&self) -> Result<(), ManifestError> {
        if self.format != FORMAT {
            return Err(ManifestError::Format { found: self.format.into() });
        }
        if Contract::called(&self.contract).is_none() {
            return Err(ManifestError::Contract { found: self.contract.escape_debug().to_string() });
        }
        self.package.check()?;
        check_tools(&self.tools)
    }
}

fn check_tools(tools: &[ToolSpec]) -> Result<(), ManifestError> {
    match tools.len() {
        0 => return Err(ManifestError::NoTools),
        1..=MAX_TOOLS => {}
        count => return Err(ManifestError::TooManyTools { count }),
    }
    let mut names = BTreeSet::new();
    for ToolSpec { name, .. } in tools {
        let problem = if !is_tool_name(name) {
            "is not 1 to 48 of a-z, 0-9, _ and -, beginning with a letter"
        } else if is_reserved(name) {
            "is reserved for ringfence's own tools"
        } else if !names.insert(name) {
            "occurs twice"
        } else {
            continue;
        };
        return Err(ManifestError::ToolName { name: name.chars().take(MAX_TOOL_NAME).collect(), problem });
    }
    Ok(())
}

fn is_tool_name(name: &str) -> bool {
    name.len() <= MAX_TOOL_NAME
        && name.bytes().next().is_some_and(|first| first.is_ascii_lowercase())
        && name.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-'))
}

/// Says more of what could not be read, where more can be said: that it is of another format, or a slip in a name.
fn explain(bytes: &[u8], error: serde_json::Error) -> ManifestError {
    let manifest: Value = serde_json::from_slice(bytes).unwrap_or_default();
    match manifest.get("format").and_then(Value::as_u64) {
        Some(format) if format != u64::from(FORMAT) => return ManifestError::Format { found: format },
        _ => {}
    }
    unknown_name(&error.to_string()).map_or(ManifestError::Malformed(error), ManifestError::UnknownName)
}
