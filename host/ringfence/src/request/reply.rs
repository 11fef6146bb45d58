//! What is answered.

use std::path::PathBuf;

use ringfence_core::error::CallError;
use ringfence_core::name::SourceName;
use ringfence_core::output::ToolOutput;
use ringfence_package::Identity;
use serde::{Deserialize, Serialize};

use super::{
    Asked, AuditEntry, Explanation, GrantEntry, HiddenTool, KeyEntry, PackageEntry, SecretEntry, StateEntry, ToolEntry,
};

/// What is answered.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reply {
    /// How a call ended.
    Called(Result<ToolOutput, CallError>),
    /// The tools that may be called.
    Tools(Vec<ToolEntry>),
    /// The tools that the policy hides.
    Hidden(Vec<HiddenTool>),
    /// A package is installed.
    Installed(Box<InstallReport>),
    /// A package is removed.
    Removed(LeftBehind),
    /// A key is revoked. What it signed has stopped.
    KeyRevoked(Vec<LeftBehind>),
    /// What installing a package would change. Nothing has changed.
    Planned(Changes),
    /// The installed packages.
    Packages(Vec<PackageEntry>),
    /// A key is trusted.
    KeyTrusted(TrustReport),
    /// The trusted keys.
    Keys(Vec<KeyEntry>),
    /// Who signed a file.
    Verified(VerifyReport),
    /// What was asked for and granted, by source.
    Grants(Vec<GrantEntry>),
    /// Whether a request would be sent.
    Explained(Explanation),
    /// The secrets, without values.
    Secrets(SecretReport),
    /// What tools keep, by source, signer, package and user.
    State(Vec<StateEntry>),
    /// What tools kept is forgotten.
    StateCleared {
        /// How many keys.
        keys: usize,
    },
    /// What tools kept belongs to the package of another signer now.
    StateGiven {
        /// How many keys.
        keys: usize,
    },
    /// The audit log is whole.
    AuditWhole {
        /// How many events it holds.
        events: u64,
    },
    /// The last events of the audit log, newest first.
    Audit(Vec<AuditEntry>),
    /// Done; there is nothing to add.
    Done,
}

/// What was installed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct InstallReport {
    /// The package.
    pub(crate) package: PackageEntry,
    /// The version that it replaces.
    pub(crate) replaced: Option<String>,
    /// How it differs from that.
    pub(crate) changes: Changes,
    /// What it asks for and does not get, in sentences.
    pub(crate) narrowed: Vec<String>,
    /// What is worth knowing about its schemas, in sentences.
    pub(crate) warnings: Vec<String>,
    /// What its tools say of their effects and is not believed, in words.
    pub(crate) unbelieved: Vec<String>,
    /// What it asks for beside limits.
    pub(crate) asked: Vec<Asked>,
    /// What is worth knowing about its grant, and about what was kept under its name, in sentences.
    pub(crate) grant: Vec<String>,
}

/// What is left of a package that was removed or stopped.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LeftBehind {
    /// Its source.
    pub(crate) source: SourceName,
    /// The file of its grant, where there is one. It is the operator's, so it stays.
    pub(crate) grant: Option<PathBuf>,
    /// The entries under `[policy]` in the configuration that name it.
    pub(crate) policy: Vec<String>,
}

/// How it stands with a key that was to be trusted.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct TrustReport {
    /// The key.
    pub(crate) key: KeyEntry,
    /// Whether it was trusted before.
    pub(crate) known: bool,
    /// The source names that it might not sign before.
    pub(crate) added: Vec<String>,
    /// Whether it is an identity that another root proves from now on.
    #[serde(default)]
    pub(crate) other_root: bool,
}

/// How a package differs from the one that it replaces.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Changes {
    /// Its version.
    pub(crate) version: String,
    /// What it asks for that the other did not, in words. Nothing of it is granted by itself.
    pub(crate) asks_more: Vec<String>,
    /// What is different about its tools, in words.
    pub(crate) tools: Vec<String>,
}

/// The secrets, as listings show them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SecretReport {
    /// Where they live; `None` before the first one.
    pub(crate) place: Option<String>,
    /// Each, by name.
    pub(crate) secrets: Vec<SecretEntry>,
    /// The sources whose grants name the one that was removed just now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) missed_by: Vec<String>,
}

/// Who signed a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct VerifyReport {
    /// The key's id.
    pub(crate) key_id: String,
    /// Who signed, where that is an identity and no key.
    #[serde(default)]
    pub(crate) identity: Option<Identity>,
    /// Whose it is.
    pub(crate) publisher: String,
    /// What the signer wrote beside the signature, where they could; it is covered by it.
    pub(crate) trusted_comment: Option<String>,
}
