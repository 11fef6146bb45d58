//! What the operator allows: which tools, and how much each may use.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::call::CheckedCall;
use crate::error::CallError;
use crate::grant::Grant;
use crate::limit::{LimitSet, Limits};
use crate::name::{SourceName, ToolId, is_reserved, nearest};
use crate::registry::{Registered, Registry, RegistryError};
use crate::source::Offered;
use crate::tool::Origin;

/// What the operator writes down about tools: `[policy]` in the configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PolicyRules {
    /// The tools and groups that may be used. Absent: all. Empty: none.
    pub allow: Option<Vec<String>>,
    /// The tools and groups that may not, whatever is allowed. Deny is final.
    pub deny: Vec<String>,
}

/// The rules, with every name known to mean something.
#[derive(Debug)]
pub struct Policy {
    allow: Option<Vec<Selector>>,
    deny: Vec<Selector>,
    /// Why the rules could not be read. Nothing is allowed then.
    closed: Option<PolicyError>,
}

/// What an entry of a list selects.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Selector {
    Tool(ToolId),
    /// A name of the reference documents' inventories. It means the built-in, once there is one.
    Reserved(String),
    Source(SourceName),
    /// All guests, installed or embedded.
    Guests,
    /// A group of the reference documents, by its members.
    Members(&'static [&'static str]),
}

/// Why the rules cannot be used.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum PolicyError {
    /// An entry means nothing, so whoever wrote it meant something else.
    #[error(
        "`{entry}` under `{list}` is no tool and no group{hint}; a group is written `group:NAME`, and `ringfence tools` lists the tools"
    )]
    Unknown {
        /// The entry.
        entry: String,
        /// `allow` or `deny`.
        list: &'static str,
        /// What it may have meant.
        hint: String,
    },
}

impl Policy {
    /// Reads the rules against the tools that there are.
    ///
    /// # Errors
    /// [`PolicyError::Unknown`] for an entry that names neither a tool nor a group.
    pub fn load(rules: &PolicyRules, registry: &Registry) -> Result<Self, PolicyError> {
        let allow = rules.allow.as_ref().map(|list| selectors(list, "allow", registry)).transpose()?;
        Ok(Self { allow, deny: selectors(&rules.deny, "deny", registry)?, closed: None })
    }

    /// A policy that allows nothing, because its rules cannot be read.
    pub fn closed(error: PolicyError) -> Self {
        Self { allow: None, deny: Vec::new(), closed: Some(error) }
    }

    /// Why nothing is allowed, where the rules could not be read.
    pub fn fault(&self) -> Option<&PolicyError> {
        self.closed.as_ref()
    }

    /// Whether the tool may be used at all. What may not is neither listed nor suggested.
    pub fn allows(&self, tool: &Registered) -> bool {
        self.refusal(tool).is_none()
    }

    /// What this call may use.
    ///
    /// # Errors
    /// [`CallError::Denied`] with the rule that decided.
    pub fn decide(&self, call: &CheckedCall) -> Result<Grant, CallError> {
        let tool = call.tool();
        match self.refusal(tool) {
            None => Ok(Grant { limits: tool.limits().clone() }),
            Some(rule) => Err(CallError::Denied { tool: tool.wire_name().to_owned(), rule }),
        }
    }

    fn refusal(&self, tool: &Registered) -> Option<String> {
        if let Some(error) = &self.closed {
            return Some(format!("no rule, because they cannot be read ({error}),"));
        }
        if let Some(entry) = self.deny.iter().find(|selector| selector.selects(tool)) {
            return Some(format!("the entry `{entry}` of `deny`"));
        }
        match &self.allow {
            Some(list) if !list.iter().any(|selector| selector.selects(tool)) => {
                Some("`allow`, which does not name it,".into())
            }
            _ => None,
        }
    }
}

impl Selector {
    fn selects(&self, tool: &Registered) -> bool {
        let id = tool.id();
        let builtin = |name: &str| *tool.origin() == Origin::Builtin && id.name.as_str() == name;
        match self {
            Self::Tool(wanted) => id == wanted,
            Self::Reserved(name) => builtin(name),
            Self::Source(source) => id.source == *source,
            Self::Guests => matches!(tool.origin(), Origin::Installed { .. } | Origin::Embedded { .. }),
            Self::Members(names) => names.iter().any(|name| builtin(name)),
        }
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tool(id) => f.write_str(&id.wire_name()),
            Self::Reserved(name) => f.write_str(name),
            Self::Source(source) => write!(f, "group:{source}"),
            Self::Guests => f.write_str("group:wasm"),
            Self::Members(names) => write!(f, "group of {}", names.join(", ")),
        }
    }
}

/// The groups of GoClaw's tools system, by name.
const GROUPS: &[(&str, &[&str])] = &[
    ("automation", &["cron", "gateway"]),
    ("fs", &["read_file", "write_file", "list_files", "edit_file", "search", "glob"]),
    ("memory", &["memory_search", "memory_get"]),
    ("messaging", &["message"]),
    ("runtime", &["exec", "process"]),
    (
        "sessions",
        &["sessions_list", "sessions_history", "sessions_send", "sessions_spawn", "subagents", "session_status"],
    ),
    ("ui", &["browser", "canvas"]),
    ("web", &["web_search", "web_fetch"]),
];

fn selectors(list: &[String], key: &'static str, registry: &Registry) -> Result<Vec<Selector>, PolicyError> {
    list.iter().map(|entry| selector(entry, key, registry)).collect()
}

fn selector(entry: &str, list: &'static str, registry: &Registry) -> Result<Selector, PolicyError> {
    let tools = registry.all();
    let found = match entry.strip_prefix("group:") {
        Some(group) => group_selector(group, &tools),
        None if is_reserved(entry) => Some(Selector::Reserved(entry.to_owned())),
        None => tools
            .iter()
            .find(|tool| tool.wire_name() == entry || tool.id().to_string() == entry)
            .map(|tool| Selector::Tool(tool.id().clone())),
    };
    found.ok_or_else(|| {
        let near = nearest(entry, tools.iter().map(|tool| tool.wire_name()), 1);
        let hint = near.first().map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default();
        PolicyError::Unknown { entry: entry.to_owned(), list, hint }
    })
}

fn group_selector(group: &str, tools: &[std::sync::Arc<Registered>]) -> Option<Selector> {
    if group == "wasm" {
        return Some(Selector::Guests);
    }
    if let Some((_, members)) = GROUPS.iter().find(|(name, _)| *name == group) {
        return Some(Selector::Members(members));
    }
    let source = SourceName::try_from(group.to_owned()).ok()?;
    let known = source.is_bare() || tools.iter().any(|tool| tool.id().source == source);
    known.then_some(Selector::Source(source))
}

/// The ceilings that the operator sets: for all tools, and for some by their source or wire name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OperatorLimits {
    /// For all tools.
    pub general: LimitSet,
    /// For all tools of a source (by its name) or for one tool (by its wire name).
    pub by_name: BTreeMap<String, LimitSet>,
}

impl OperatorLimits {
    /// The limits of a tool: what its manifest asks for, under the operator's ceilings and under the grant of its source.
    /// One tool's own ceilings come before those of its source, and these before the general ones.
    pub(crate) fn narrow(&self, id: &ToolId, offered: &Offered) -> Result<Limits, RegistryError> {
        let nothing = LimitSet::default();
        let own = self.by_name.get(&id.wire_name()).unwrap_or(&nothing);
        let source = self.by_name.get(id.source.as_str()).unwrap_or(&nothing);
        if offered.origin.is_native() {
            enforceable(id, own)?;
            enforceable(id, source)?;
        }
        let limits = Limits::effective(&offered.requested, &own.or(source).or(&self.general));
        Ok(limits.under_grant(&offered.ceiling.limits))
    }
}

/// A setting that nothing enforces is refused.
fn enforceable(id: &ToolId, set: &LimitSet) -> Result<(), RegistryError> {
    match set.iter().find(|(kind, _)| !kind.applies_to_native()) {
        Some((kind, _)) => Err(RegistryError::Unenforceable { tool: id.clone(), limit: kind.key() }),
        None => Ok(()),
    }
}
