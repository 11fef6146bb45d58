//! Every way in which a package can be refused, under one roof.

use ringfence_core::limit::SetBy;
use ringfence_core::{SourceName, ToolError};
use ringfence_store::StoreError;
use semver::Version;
use thiserror::Error;

use crate::compiler::CompileError;
use crate::component::ComponentError;
use crate::difference::ToolChange;
use crate::key::{KeyError, Signer};
use crate::manifest::ManifestError;
use crate::signature::SignatureError;
use crate::trust::TrustError;

/// Why a package was not installed, loaded or removed. Each text says what was refused, why, and what to do.
#[derive(Debug, Error)]
pub enum PackageError {
    /// The file is not a component of ours.
    #[error(transparent)]
    Component(#[from] ComponentError),
    /// Its manifest is wrong.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// There is no signature.
    #[error(
        "the package is not signed: put the publisher's `.minisig` file beside it, \
         or install it with `--allow-unsigned` if you trust where it comes from"
    )]
    SignatureMissing,
    /// The signature is malformed or does not fit.
    #[error(transparent)]
    Signature(#[from] SignatureError),
    /// A key file is malformed.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The signature does not count.
    #[error(transparent)]
    Trust(#[from] TrustError),
    /// The name belongs to ringfence.
    #[error("the name `{0}` belongs to ringfence itself: choose another one with `--as NAME`")]
    ReservedSource(SourceName),
    /// The name was used by somebody else before.
    #[error(
        "`{source_name}` was last installed from {pinned}, this package is from {offered}: \
         choose another name with `--as NAME`, or, if the publisher confirms the change, add `--accept-signer {signer}`"
    )]
    SignerChanged {
        /// The name.
        source_name: SourceName,
        /// Who it was.
        pinned: String,
        /// Who it is now.
        offered: String,
        /// The value of the flag that accepts it.
        signer: Signer,
    },
    /// A higher version was installed once.
    #[error(
        "`{source_name}` {offered} is older than {highest}, which was installed before: an older version may have holes \
         that are known by now; if you need it all the same, add `--allow-downgrade`"
    )]
    Older {
        /// The name.
        source_name: SourceName,
        /// The version of this package.
        offered: Version,
        /// The highest version that was installed.
        highest: Version,
    },
    /// The same version with other contents.
    #[error(
        "`{source_name}` {version} was installed before with other contents ({pinned}, this is {offered}): \
         ask the publisher, who should have given it a new version; if that is you, raise `version` in ringfence.toml and \
         build it again"
    )]
    SameVersion {
        /// The name.
        source_name: SourceName,
        /// The version.
        version: Version,
        /// SHA-256 of what was installed.
        pinned: String,
        /// SHA-256 of this.
        offered: String,
    },
    /// The compiler refused the component.
    #[error("the component cannot be compiled: {0}")]
    Compile(#[from] CompileError),
    /// The component did not say which tools it has.
    #[error("the component does not define its tools: {error}; {}", remedy(.0), error = .0)]
    Definitions(#[source] ToolError),
    /// The component defines other tools than its manifest.
    #[error("the component defines other tools than its manifest: {}; the author has to build it again", list(.0))]
    DefinitionsDiffer(Vec<ToolChange>),
    /// Nothing is installed under the name.
    #[error("nothing is installed as `{source_name}`{hint}")]
    NotInstalled {
        /// The name.
        source_name: SourceName,
        /// What was probably meant.
        hint: String,
    },
    /// What was installed is not what is there now.
    #[error("the installed `{source_name}` was altered: {what}; it does not run; install it again from its package")]
    Altered {
        /// The name.
        source_name: SourceName,
        /// What is different.
        what: &'static str,
    },
    /// The state cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file operation failed; the cause names the file.
    #[error("{0}")]
    Io(#[from] std::io::Error),
}

impl PackageError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Component(error) => error.code(),
            Self::Manifest(error) => error.code(),
            Self::SignatureMissing => "signature.missing",
            Self::Signature(error) => error.code(),
            Self::Key(error) => error.code(),
            Self::Trust(error) => error.code(),
            Self::ReservedSource(_) => "install.reserved_name",
            Self::SignerChanged { .. } => "install.signer_changed",
            Self::Older { .. } => "install.older",
            Self::SameVersion { .. } => "install.same_version",
            Self::Compile(_) => "install.compile",
            Self::Definitions(_) => "install.definitions",
            Self::DefinitionsDiffer(_) => "install.definitions_differ",
            Self::NotInstalled { .. } => "install.not_installed",
            Self::Altered { .. } => "install.altered",
            Self::Store(error) => error.code(),
            Self::Io(_) => "install.io",
        }
    }
}

/// Who can do something about a component that does not define its tools: its author, unless it has less room than it needs.
fn remedy(error: &ToolError) -> String {
    match error {
        ToolError::Limit(exceeded) if exceeded.set_by == SetBy::Engine => exceeded.remedy("", "the configuration"),
        _ => "the author has to correct it".into(),
    }
}

/// The first changes; a hostile component may have thousands.
fn list(changes: &[ToolChange]) -> String {
    const SHOWN: usize = 3;
    let mut text = changes.iter().take(SHOWN).map(ToString::to_string).collect::<Vec<_>>().join(", ");
    if changes.len() > SHOWN {
        text.push_str(&format!(" and {} more", changes.len() - SHOWN));
    }
    text
}

#[cfg(test)]
mod tests {
    use ringfence_core::limit::LimitExceeded;

    use super::*;

    #[test]
    fn an_author_is_not_blamed_for_a_stack_that_is_too_small() {
        let small = PackageError::Definitions(LimitExceeded::stack(16384).into()).to_string();
        assert!(small.contains("`stack_bytes` under [engine]") && !small.contains("author"), "{small}");
        let wrong = PackageError::Definitions(ToolError::Trapped("unreachable".into())).to_string();
        assert!(wrong.ends_with("the author has to correct it"), "{wrong}");
    }
}
