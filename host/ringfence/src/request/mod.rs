//! Everything that can be asked of the one process that owns a state folder, and what it answers.
//!
//! The command line and the MCP server speak these types whether the owner is their own process or another one behind
//! the socket, so that limits, policy and audit have one keeper.

mod entries;
mod error;
mod reply;
mod secret;

use std::path::PathBuf;

use ringfence_core::call::Progress;
use ringfence_core::caller::Caller;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) use crate::explanation::Explanation;
pub(crate) use crate::grants::GrantChange;
pub(crate) use crate::means::{Asked, HeldBack, NeededSecret};
pub use entries::ToolEntry;
pub(crate) use entries::{AuditEntry, GrantEntry, HiddenTool, KeyEntry, PackageEntry, SecretEntry, StateEntry};
pub(crate) use error::{ErrorKind, RequestError, VERSION};
pub(crate) use reply::{Changes, InstallReport, LeftBehind, Reply, SecretReport, TrustReport, VerifyReport};
pub(crate) use secret::{PlaceChoice, SecretValue};

/// What is asked.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Request {
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
    /// Which tools does the policy hide, and by which rule?
    Hidden,
    /// Tell of every change of the set of tools, until the asker goes away.
    Watch,
    /// Something about packages, trusted keys and grants.
    Package(PackageRequest),
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
    /// Give what the package of another signer kept to the one that is installed.
    StateGive {
        /// The source.
        source: String,
        /// Who signed the other.
        from: String,
    },
    /// Is the audit log whole?
    AuditVerify,
    /// The last events of the audit log.
    AuditRecent {
        /// At most how many.
        limit: usize,
    },
}

/// What is asked about packages, trusted keys and grants.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PackageRequest {
    /// Install a package.
    Install(InstallRequest),
    /// Which packages are installed?
    List,
    /// Remove a package.
    Remove {
        /// Its source name.
        source: String,
    },
    /// Trust a publisher's key or identity.
    TrustAdd {
        /// The public key, as the text of a `.pub` file or its base64 line, or the text of an identity.
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
    /// Call the owner of a key otherwise.
    TrustRename {
        /// The key's id.
        key_id: String,
        /// Whose it is, for people.
        publisher: String,
    },
    /// Take a publisher's change of keys.
    TrustRotate {
        /// What the old key signed: a text that names the new one.
        statement: String,
        /// Its signature.
        signature: String,
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
        change: Box<GrantChange>,
    },
    /// Take back all that a source was granted.
    GrantRevoke {
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
}

impl From<PackageRequest> for Request {
    fn from(request: PackageRequest) -> Self {
        Self::Package(request)
    }
}

/// How to install a package.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct InstallRequest {
    /// The component. Its signature stands beside it.
    pub(crate) file: PathBuf,
    /// Where the file was fetched from, to be remembered.
    pub(crate) location: Option<String>,
    /// The source name; without it, the one that the manifest proposes.
    pub(crate) name: Option<String>,
    /// Take a package that nobody signed.
    pub(crate) allow_unsigned: bool,
    /// Believe what the tools say of their effects.
    pub(crate) accept_effects: bool,
    /// Believe it where the package that it replaces was believed, and none of its tools says anything else or new.
    pub(crate) keep_effects: bool,
    /// Take an older version than was once installed.
    pub(crate) allow_downgrade: bool,
    /// Take a package of this signer, although the one before was another's.
    pub(crate) accept_signer: Option<String>,
    /// Only verify it and say what would change.
    pub(crate) check_only: bool,
}

/// How many events may wait for whoever asked. Further ones are dropped: a tool cannot fill the host with its progress. A
/// report has at most a kilobyte of text, so these are a quarter of a megabyte, and more than anybody reads at a time.
pub(crate) const EVENT_QUEUE: usize = 256;

/// What happens before the answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Event {
    /// A call reports its progress.
    Progress(Progress),
    /// A longer piece of work begins.
    Step(String),
    /// The set of tools has changed.
    Changed,
}
