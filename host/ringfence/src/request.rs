//! Everything that can be asked of the one process that owns a state folder, and what it answers.
//!
//! The command line and the MCP server speak these types whether the owner is their own process or another one behind
//! the socket, so that limits, policy and audit have one keeper.

use std::path::PathBuf;

use ringfence_core::Secret;
use ringfence_core::call::Progress;
use ringfence_core::caller::Caller;
use ringfence_core::error::CallError;
use ringfence_core::limit::{LimitKind, LimitSet};
use ringfence_core::output::ToolOutput;
use ringfence_core::registry::Registered;
use ringfence_core::tool::{Origin, ToolSpec};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

pub use crate::explanation::Explanation;
pub use crate::grants::GrantChange;
pub use crate::means::{Asked, HeldBack};

/// What is asked.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// Make a call.
    Call {
        /// The tool's wire name, or its bare name where that is unique.
        tool: String,
        /// The parameters.
        params: Value,
        /// Who calls. The socket is the operator's own, so what it says is believed.
        caller: Caller,
    },
    /// Which tools may be called?
    Tools,
    /// Tell of every change of the set of tools, until the asker goes away.
    Watch,
    /// Install a package.
    Install(InstallRequest),
    /// Which packages are installed?
    List,
    /// Remove a package.
    Remove {
        /// Its source name.
        source: String,
    },
    /// Trust a publisher's key.
    TrustAdd {
        /// The public key: the text of a `.pub` file, or its base64 line.
        key: String,
        /// Whose it is, for people.
        publisher: String,
        /// The source names that it may sign: exact, or with `*` at the end.
        names: Vec<String>,
    },
    /// Which keys are trusted?
    TrustList,
    /// Trust a key no longer. Tools that it signed stop.
    TrustRevoke {
        /// The key's id.
        key_id: String,
        /// Why, for people.
        reason: String,
    },
    /// Is this file signed by a trusted key?
    Verify {
        /// The component. Its signature stands beside it.
        file: PathBuf,
    },
    /// Grant a source more.
    Grant {
        /// The source.
        source: String,
        /// What.
        change: GrantChange,
    },
    /// Take back all that a source was granted.
    Revoke {
        /// The source.
        source: String,
    },
    /// What does each source ask for, and what of it is granted?
    Grants,
    /// Would a tool's request be sent?
    Explain {
        /// The tool's wire name, or its source.
        tool: String,
        /// The request, as `GET https://…`.
        request: String,
    },
    /// Store a new secret, or give one that is there a new value.
    SecretSet {
        /// Its name.
        name: String,
        /// Its value.
        value: SecretValue,
        /// Whether it has to be there already.
        rotate: bool,
        /// Where secrets are to live: counts with the first one.
        place: Option<PlaceChoice>,
    },
    /// Store many secrets, all or none.
    SecretImport {
        /// Their names and values.
        secrets: Vec<(String, SecretValue)>,
    },
    /// Which secrets are there?
    SecretList,
    /// Remove a secret.
    SecretRemove {
        /// Its name.
        name: String,
    },
    /// How much does each package keep for each user?
    StateList,
    /// Forget what the tools of a source kept.
    StateClear {
        /// The source.
        source: String,
        /// For this user only.
        user: Option<String>,
    },
    /// Is the audit log whole?
    AuditVerify,
    /// The last events of the audit log.
    AuditRecent {
        /// At most how many.
        limit: usize,
    },
}

/// Where secrets are to live, and what opens that.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlaceChoice {
    /// The system's keyring.
    Keyring,
    /// The kernel's keyring.
    Kernel,
    /// The encrypted file, with a key file beside it.
    File,
    /// The encrypted file, with a systemd credential of the process that owns the state.
    FileWithCredential,
    /// The encrypted file, with this passphrase.
    FileWithPassphrase(SecretValue),
}

/// The value of a secret on its way to the owner of the state, over the socket that only the operator can open.
#[derive(Clone)]
pub struct SecretValue(pub Secret);

impl std::fmt::Debug for SecretValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SecretValue(…)")
    }
}

impl Serialize for SecretValue {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.expose())
    }
}

impl<'de> Deserialize<'de> for SecretValue {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self(Secret::new(text)))
    }
}

/// How to install a package.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct InstallRequest {
    /// The component. Its signature stands beside it.
    pub file: PathBuf,
    /// Where the file was fetched from, to be remembered.
    pub location: Option<String>,
    /// The source name; without it, the one that the manifest proposes.
    pub name: Option<String>,
    /// Take a package that nobody signed.
    pub allow_unsigned: bool,
    /// Believe what the tools say of their effects.
    pub accept_effects: bool,
    /// Believe it where the package that it replaces was believed, and none of its tools says anything else or new.
    pub keep_effects: bool,
    /// Take an older version than was once installed.
    pub allow_downgrade: bool,
    /// Take a package of this signer, although the one before was another's.
    pub accept_signer: Option<String>,
    /// Only verify it and say what would change.
    pub check_only: bool,
}

/// How many events may wait for whoever asked. Further ones are dropped: a tool cannot fill the host with its progress.
pub(crate) const EVENT_QUEUE: usize = 256;

/// What happens before the answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// A call reports its progress.
    Progress(Progress),
    /// A longer piece of work begins.
    Step(String),
    /// The set of tools has changed.
    Changed,
}

/// What is answered.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// How a call ended.
    Called(Result<ToolOutput, CallError>),
    /// The tools that may be called.
    Tools(Vec<ToolEntry>),
    /// A package is installed.
    Installed(Box<InstallReport>),
    /// A package is removed.
    Removed(RemoveReport),
    /// What installing a package would change. Nothing has changed.
    Planned(Changes),
    /// The installed packages.
    Packages(Vec<PackageEntry>),
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
    /// What tools keep, by source, package and user.
    State(Vec<StateEntry>),
    /// What tools kept is forgotten.
    StateCleared {
        /// How many keys.
        keys: usize,
    },
    /// The audit log is whole.
    AuditWhole {
        /// How many events it holds.
        events: u64,
    },
    /// The last events of the audit log, newest first.
    Audit(Vec<Value>),
    /// Done; there is nothing to add.
    Done,
}

/// A tool, as listings show it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ToolEntry {
    /// The name that clients use.
    pub name: String,
    /// Where it comes from.
    pub source: String,
    /// How it came to be here.
    pub origin: Origin,
    /// What it says of itself, with only those effects that the host believes.
    pub spec: ToolSpec,
    /// The limits of each call, as far as they mean something for this tool.
    pub limits: LimitSet,
}

impl From<&Registered> for ToolEntry {
    fn from(tool: &Registered) -> Self {
        let meaningful = LimitKind::all().filter(|kind| !tool.origin().is_native() || kind.applies_to_native());
        let limits = meaningful.fold(LimitSet::default(), |set, kind| set.with(kind, tool.limits().get(kind)));
        Self {
            name: tool.wire_name().to_owned(),
            source: tool.id().source.to_string(),
            origin: tool.origin().clone(),
            spec: ToolSpec { effects: tool.effects(), ..tool.spec().clone() },
            limits,
        }
    }
}

/// What was installed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct InstallReport {
    /// The package.
    pub package: PackageEntry,
    /// The version that it replaces.
    pub replaced: Option<String>,
    /// How it differs from that.
    pub changes: Changes,
    /// What it asks for and does not get, in sentences.
    pub narrowed: Vec<String>,
    /// What is worth knowing about its schemas, in sentences.
    pub warnings: Vec<String>,
    /// What it asks for beside limits.
    pub asked: Vec<Asked>,
    /// What is worth knowing about its grant, in sentences.
    pub grant: Vec<String>,
}

/// What is left of a package that was removed.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RemoveReport {
    /// The file of its grant, where there is one. It is the operator's, so it stays.
    pub grant: Option<PathBuf>,
    /// The entries under `[policy]` in the configuration that name it.
    pub policy: Vec<String>,
}

/// How a package differs from the one that it replaces.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    /// Its version.
    pub version: String,
    /// What it asks for that the other did not, in words. Nothing of it is granted by itself.
    pub asks_more: Vec<String>,
    /// What is different about its tools, in words.
    pub tools: Vec<String>,
}

/// An installed package, as listings show it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PackageEntry {
    /// The source name.
    pub source: String,
    /// Its version.
    pub version: String,
    /// Who says that they made it.
    pub publisher: String,
    /// What it is for, as its manifest says.
    pub description: String,
    /// Where it came from, as `ringfence install` takes it; `None` where that is not known.
    pub location: Option<String>,
    /// The key that signed it; `None` marks an unsigned package.
    pub key_id: Option<String>,
    /// SHA-256 of the component.
    pub digest: String,
    /// The wire names of its tools.
    pub tools: Vec<String>,
    /// Whether what they say of their effects is believed.
    pub effects_accepted: bool,
    /// The limits that the manifest asks for.
    pub requested: LimitSet,
    /// Why it does not run, where it does not.
    pub stopped: Option<String>,
}

/// What a source asks for and is granted.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GrantEntry {
    /// The source.
    pub source: String,
    /// The operator's file, whether it is there or not.
    pub file: PathBuf,
    /// When the grant ends.
    pub expires: Option<String>,
    /// What is asked for.
    pub asked: Vec<Asked>,
    /// What the grant leaves of limits and rate, in words.
    pub ceiling: Vec<String>,
    /// Why the file cannot be used, where that is so. Nothing is granted then.
    pub unusable: Option<String>,
    /// Why nothing of the grant may be used, where it was given to the package of somebody else.
    pub suspended: Option<String>,
    /// What the grant gives and the package does not ask for, in words. It has no effect until an update asks for it.
    pub unused: Vec<String>,
}

impl GrantEntry {
    /// What is worth knowing about the grant, in sentences.
    pub fn notes(&self) -> Vec<String> {
        let unused = (!self.unused.is_empty()).then(|| {
            let (source, file, unused) = (&self.source, self.file.display(), self.unused.join("; "));
            format!("{file} grants what `{source}` does not ask for, and would get with an update that does: {unused}")
        });
        self.suspended.clone().into_iter().chain(unused).collect()
    }
}

/// The secrets, as listings show them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SecretReport {
    /// Where they live; `None` before the first one.
    pub place: Option<String>,
    /// Each, by name.
    pub secrets: Vec<SecretEntry>,
}

/// A secret, as listings show it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SecretEntry {
    /// Its name.
    pub name: String,
    /// When it was stored, in milliseconds since the Unix epoch.
    pub created: u64,
    /// When it last got a new value.
    pub rotated: Option<u64>,
    /// Whether its value is gone from where secrets live.
    #[serde(default)]
    pub lost: bool,
}

/// What a package keeps for one user, as listings show it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StateEntry {
    /// The source.
    pub source: String,
    /// What its package calls itself.
    pub package: String,
    /// The user; `None` where the door knew nobody.
    pub user: Option<String>,
    /// How many keys.
    pub keys: u64,
    /// Bytes of all keys and values.
    pub bytes: u64,
}

/// A trusted key, as listings show it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KeyEntry {
    /// Its id.
    pub key_id: String,
    /// Whose it is.
    pub publisher: String,
    /// The source names that it may sign.
    pub names: Vec<String>,
    /// Why and that it is trusted no longer.
    pub revoked: Option<String>,
}

/// Who signed a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct VerifyReport {
    /// The key's id.
    pub key_id: String,
    /// Whose it is.
    pub publisher: String,
    /// What the signer wrote beside the signature; it is covered by it.
    pub trusted_comment: String,
}

/// Why a request was not fulfilled.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
#[error("{message}")]
pub struct RequestError {
    /// What kind of no it is.
    pub kind: ErrorKind,
    /// A stable code.
    pub code: String,
    /// What was refused, why, and what to do.
    pub message: String,
}

/// What kind of no a [`RequestError`] is. Each has an exit code of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// It makes no sense as it was asked.
    Usage,
    /// What was asked for does not exist.
    NotFound,
    /// A rule forbids it.
    Refused,
    /// It was tried and did not work.
    Failed,
}

impl RequestError {
    /// An error of `kind` whose text is that of `error` with all that is behind it.
    pub fn new(kind: ErrorKind, code: &str, error: &dyn std::error::Error) -> Self {
        let mut message = error.to_string();
        let mut source = error.source();
        while let Some(error) = source {
            let text = error.to_string();
            // Transparent wrappers would say the same twice.
            if !message.contains(&text) {
                message.push_str(": ");
                message.push_str(&text);
            }
            source = error.source();
        }
        Self { kind, code: code.to_owned(), message }
    }
}
