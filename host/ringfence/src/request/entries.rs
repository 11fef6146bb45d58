//! What listings show.

use std::path::PathBuf;

use ringfence_core::gates::policy::{RulePlace, Ruling};
use ringfence_core::limit::{LimitKind, LimitSet};
use ringfence_core::registry::Registered;
use ringfence_core::tool::{Origin, ToolSpec};
use ringfence_package::Identity;
use ringfence_store::audit::IndexedEvent;
use serde::{Deserialize, Serialize};

use super::Asked;

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

/// A tool that the policy hides.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct HiddenTool {
    /// The name that clients would use.
    pub(crate) name: String,
    /// What its own source calls it.
    pub(crate) bare_name: String,
    /// The rule that decides, in words.
    pub(crate) rule: String,
    /// Where that stands.
    pub(crate) place: Option<RulePlace>,
}

impl HiddenTool {
    /// `tool`, which `ruling` forbids.
    pub(crate) fn new(tool: &Registered, ruling: Ruling) -> Self {
        let (name, bare_name) = (tool.wire_name().to_owned(), tool.id().name.as_str().to_owned());
        Self { name, bare_name, rule: ruling.rule, place: ruling.place }
    }
}

/// An installed package, as listings show it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PackageEntry {
    /// The source name.
    pub(crate) source: String,
    /// Its version.
    pub(crate) version: String,
    /// Who says that they made it.
    pub(crate) publisher: String,
    /// What it is for, as its manifest says.
    pub(crate) description: String,
    /// Where it came from, as `ringfence install` takes it; `None` where that is not known.
    pub(crate) location: Option<String>,
    /// The key that signed it; `None` marks an unsigned package.
    pub(crate) key_id: Option<String>,
    /// SHA-256 of the component.
    pub(crate) digest: String,
    /// The wire names of its tools.
    pub(crate) tools: Vec<String>,
    /// Whether what they say of their effects is believed.
    pub(crate) effects_accepted: bool,
    /// The limits that the manifest asks for.
    pub(crate) requested: LimitSet,
    /// Why it does not run, where it does not.
    pub(crate) stopped: Option<String>,
}

/// What a source asks for and is granted.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct GrantEntry {
    /// The source.
    pub(crate) source: String,
    /// The operator's file, whether it is there or not.
    pub(crate) file: PathBuf,
    /// When the grant ends.
    pub(crate) expires: Option<String>,
    /// What is asked for.
    pub(crate) asked: Vec<Asked>,
    /// What the grant leaves of limits and rate, in words.
    pub(crate) ceiling: Vec<String>,
    /// Why the file cannot be used, where that is so. Nothing is granted then.
    pub(crate) unusable: Option<String>,
    /// Why nothing of the grant may be used, where it was given to the package of somebody else.
    pub(crate) suspended: Option<String>,
    /// What the grant gives and the package does not ask for, in words. It has no effect until an update asks for it.
    pub(crate) unused: Vec<String>,
}

impl GrantEntry {
    /// What is worth knowing about the grant, in sentences.
    pub(crate) fn notes(&self) -> Vec<String> {
        let unused = (!self.unused.is_empty()).then(|| {
            let (source, file, unused) = (&self.source, self.file.display(), self.unused.join("; "));
            format!("{file} grants what `{source}` does not ask for, and would get with an update that does: {unused}")
        });
        self.suspended.clone().into_iter().chain(unused).collect()
    }
}

/// An event of the audit log, as listings show it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct AuditEntry {
    /// Its place in the log.
    pub(crate) sequence: u64,
    /// When it was, in milliseconds since the Unix epoch.
    pub(crate) time: u64,
    /// What happened.
    pub(crate) event: String,
    /// To which call.
    pub(crate) call: Option<String>,
    /// Of which tool, where the event says so; likewise all below.
    pub(crate) tool: Option<String>,
    /// For which person.
    pub(crate) user: Option<String>,
    /// How the call ended, or the secret that it gave out.
    pub(crate) outcome: Option<String>,
    /// How the tool came to be here.
    pub(crate) origin: Option<String>,
    /// The call that made it.
    pub(crate) parent: Option<String>,
}

impl From<IndexedEvent> for AuditEntry {
    fn from(indexed: IndexedEvent) -> Self {
        let IndexedEvent { seq: sequence, time, event, call, tool, user, outcome, origin, parent } = indexed;
        Self { sequence, time, event, call, tool, user, outcome, origin, parent }
    }
}

/// A secret, as listings show it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SecretEntry {
    /// Its name.
    pub(crate) name: String,
    /// When it was stored, in milliseconds since the Unix epoch.
    pub(crate) created: u64,
    /// When it last got a new value.
    pub(crate) rotated: Option<u64>,
    /// Whether its value is gone from where secrets live.
    #[serde(default)]
    pub(crate) lost: bool,
}

/// What a package keeps for one user, as listings show it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StateEntry {
    /// The source.
    pub(crate) source: String,
    /// Who signed its package: the id of a key, or `unsigned/` and whom it names as its publisher.
    pub(crate) signer: String,
    /// What its package calls itself.
    pub(crate) package: String,
    /// The user; `None` where the door knew nobody.
    pub(crate) user: Option<String>,
    /// How many keys.
    pub(crate) keys: u64,
    /// Bytes of all keys and values.
    pub(crate) bytes: u64,
}

/// A trusted key, as listings show it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct KeyEntry {
    /// Its id.
    pub(crate) key_id: String,
    /// Who signs, where that is an identity and no key.
    #[serde(default)]
    pub(crate) identity: Option<Identity>,
    /// Whether the operator's own root has to prove it, and not that of the public sigstore instance.
    #[serde(default)]
    pub(crate) own_root: bool,
    /// Whose it is.
    pub(crate) publisher: String,
    /// The source names that it may sign.
    pub(crate) names: Vec<String>,
    /// Why and that it is trusted no longer.
    pub(crate) revoked: Option<String>,
    /// The id of the key that took its place.
    #[serde(default)]
    pub(crate) successor: Option<String>,
}
