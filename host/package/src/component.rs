//! What a file is: a component that speaks our contract, or which of the many other things.

use thiserror::Error;
use wasmparser::{BinaryReaderError, ComponentExternalKind, Parser, Payload, Validator};

use crate::contract::{Contract, Package};
use crate::manifest::{Manifest, ManifestError};
use crate::section;

/// The largest package, in bytes. A JavaScript engine with its program, the largest kind of guest, has about 12 MiB.
pub const MAX_BYTES: usize = 64 << 20;

/// A component, taken apart as far as its surface. That it is valid is checked; that it runs is not.
#[derive(Debug)]
pub struct Component<'a> {
    /// The names of what it imports, which is what it asks for.
    pub imports: Vec<String>,
    /// The names of what it exports.
    pub exports: Vec<String>,
    /// Whether functions are among the exports, by themselves or in an interface.
    has_functions: bool,
    manifest: Option<&'a [u8]>,
}

/// Why a file is not a component of ours.
#[derive(Debug, Error)]
pub enum ComponentError {
    /// There is nothing in it.
    #[error("the file is empty: it was probably not copied in full")]
    Empty,
    /// Over [`MAX_BYTES`].
    #[error(
        "the file has {size} bytes, at most {MAX_BYTES} are allowed: strip it, or build it without debug information"
    )]
    TooLarge {
        /// Its size, as far as it was read.
        size: usize,
    },
    /// It does not begin as WebAssembly does.
    #[error("the file is not WebAssembly: give the `.wasm` file that `ringfence build` made")]
    NotWasm,
    /// It begins as WebAssembly, but goes on otherwise.
    #[error("the file is truncated or damaged: {0}; copy it again, or build it again")]
    Invalid(#[from] BinaryReaderError),
    /// A core module.
    #[error("the file is a core module, expected a component: `ringfence build` makes one of it")]
    CoreModule,
    /// A contract in another version.
    #[error(
        "the component speaks version {found} of the contract `{contract}`, this ringfence speaks {}: \
         build it against a version that both know, or use a matching ringfence",
        .spoken.join(" and ")
    )]
    OtherContract {
        /// The contract.
        contract: &'static str,
        /// Its version.
        found: String,
        /// The versions that could be used.
        spoken: &'static [&'static str],
    },
    /// Neither a contract nor anything else that could be a tool.
    #[error(
        "the component exports neither `{}` nor the `tool` of `{}` nor any function, so it has no tools: build it with \
         the SDK",
        ringfence_wit::GUEST_INTERFACE,
        ringfence_wit::near_agent::PACKAGE
    )]
    NoContract,
    /// No manifest.
    #[error(
        "the component has no manifest: build it with `ringfence build`, or put one into a finished component with \
         `ringfence pack`"
    )]
    NoManifest,
    /// There is a manifest already.
    #[error(
        "the component has a manifest already: replace it with `--replace`, or start from the component without it"
    )]
    HasManifest,
    /// More than one manifest.
    #[error("the component has {count} manifests, so nobody can tell which one holds: build it again")]
    SeveralManifests {
        /// How many.
        count: usize,
    },
    /// A manifest in a module or component inside.
    #[error("a part inside the component has a manifest of its own: remove it there, only the whole may have one")]
    NestedManifest,
}

impl ComponentError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Empty => "component.empty",
            Self::TooLarge { .. } => "component.too_large",
            Self::NotWasm => "component.not_wasm",
            Self::Invalid(_) => "component.invalid",
            Self::CoreModule => "component.core_module",
            Self::OtherContract { .. } => "component.other_contract",
            Self::NoContract => "component.no_contract",
            Self::NoManifest => "manifest.missing",
            Self::HasManifest => "manifest.present",
            Self::SeveralManifests { .. } => "manifest.several",
            Self::NestedManifest => "manifest.nested",
        }
    }
}

impl<'a> Component<'a> {
    /// Takes `bytes` apart. What they speak is left to [`Component::contract`], so that any component can be looked at.
    ///
    /// # Errors
    /// When they are not a valid component with at most one manifest.
    pub fn read(bytes: &'a [u8]) -> Result<Self, ComponentError> {
        check_kind(bytes)?;
        Validator::new().validate_all(bytes)?;
        Ok(Self { manifest: section::find(bytes)?, ..surface(bytes)? })
    }

    /// What the component speaks. Whoever names a contract, in any version, is held to it.
    ///
    /// # Errors
    /// [`ComponentError::OtherContract`] or [`ComponentError::NoContract`].
    pub fn contract(&self) -> Result<Contract, ComponentError> {
        for (package, found) in self.exports.iter().chain(&self.imports).filter_map(|name| Package::of(name)) {
            if !package.versions.contains(&found) {
                let (contract, spoken) = (package.name, package.versions);
                return Err(ComponentError::OtherContract { contract, found: found.to_owned(), spoken });
            }
        }
        if let Some(contract) = self.exports.iter().find_map(|name| Contract::by_export(name)) {
            Ok(contract)
        } else if self.has_functions && !self.exports.iter().any(|name| Package::of(name).is_some()) {
            Ok(Contract::Plain)
        } else {
            Err(ComponentError::NoContract)
        }
    }

    /// The manifest as it stands in the component.
    ///
    /// # Errors
    /// [`ComponentError::NoManifest`].
    pub fn manifest_bytes(&self) -> Result<&'a [u8], ComponentError> {
        self.manifest.ok_or(ComponentError::NoManifest)
    }

    /// The manifest, checked; `None` when there is none.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn manifest(&self) -> Result<Option<Manifest>, ManifestError> {
        self.manifest.map(Manifest::parse).transpose()
    }
}

/// Tells the files apart that are not components at all.
fn check_kind(bytes: &[u8]) -> Result<(), ComponentError> {
    if bytes.is_empty() {
        Err(ComponentError::Empty)
    } else if bytes.len() > MAX_BYTES {
        Err(ComponentError::TooLarge { size: bytes.len() })
    } else if !bytes.starts_with(b"\0asm") {
        Err(ComponentError::NotWasm)
    } else if Parser::is_core_wasm(bytes) {
        Err(ComponentError::CoreModule)
    } else {
        Ok(())
    }
}

/// Imports and exports of the component itself, not of what is inside it.
fn surface<'a>(bytes: &[u8]) -> Result<Component<'a>, ComponentError> {
    let mut surface = Component { imports: Vec::new(), exports: Vec::new(), has_functions: false, manifest: None };
    let mut depth = 0_usize;
    for payload in Parser::new(0).parse_all(bytes) {
        match payload? {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::ComponentImportSection(reader) if depth == 0 => {
                for import in reader {
                    surface.imports.push(import?.name.full_name().into_owned());
                }
            }
            Payload::ComponentExportSection(reader) if depth == 0 => {
                for export in reader {
                    let export = export?;
                    surface.exports.push(export.name.full_name().into_owned());
                    // What an interface holds is seen when the component is asked for its tools.
                    surface.has_functions |=
                        matches!(export.kind, ComponentExternalKind::Func | ComponentExternalKind::Instance);
                }
            }
            _ => {}
        }
    }
    Ok(surface)
}
