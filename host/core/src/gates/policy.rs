//! What the operator allows: which tools, and how much each may use.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::call::CheckedCall;
use crate::error::CallError;
use crate::grant::Grant;
use crate::limit::{LimitSet, Limits, SetBy};
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
    /// The entries that name what is not there.
    absent: Vec<Absent>,
    /// Why the rules could not be read, in words. Nothing is allowed then.
    closed: Option<String>,
}

/// What forbids a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ruling {
    /// The rule, in words.
    pub rule: String,
    /// Where it stands; `None` where the rules could not be read.
    pub place: Option<RulePlace>,
}

/// Where a rule stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RulePlace {
    /// `allow` or `deny`.
    pub list: List,
    /// The entry of that list, from 0; `None` where the list as a whole decides, because it does not name the tool.
    pub entry: Option<usize>,
}

/// One of the two lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum List {
    /// What may be used.
    Allow,
    /// What may not.
    Deny,
}

impl List {
    /// Its key in the configuration.
    pub fn key(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
        }
    }
}

/// An entry for what is not there: a source that was removed, or stopped, or is still to be installed, or a tool that an
/// update dropped. It opens and forbids nothing that there is, so it stops nobody else; it holds from the moment at which
/// what it names is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Absent {
    /// The entry.
    pub entry: String,
    /// Where it stands.
    pub place: RulePlace,
    /// What is not there, in words.
    pub what: String,
    /// What it may have meant, in words.
    pub hint: String,
}

/// What an entry of a list selects.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Selector {
    Tool(ToolId),
    /// A tool, as it is written, that is not there, or whose source is not.
    Absent(String),
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
        "`{entry}` under `{}` is no tool and no group{hint}; a group is written `group:NAME`, and `ringfence tools` lists the tools",
        .place.list.key()
    )]
    Unknown {
        /// The entry.
        entry: String,
        /// Where it stands.
        place: RulePlace,
        /// What it may have meant.
        hint: String,
    },
}

impl PolicyError {
    /// Where the entry stands.
    pub fn place(&self) -> RulePlace {
        let Self::Unknown { place, .. } = self;
        *place
    }
}

impl Policy {
    /// Reads the rules against the tools that there are. What names a source or a tool that is not there is kept for when
    /// it is: to remove or update a tool must not stop all others, and a rule may stand before its tool is installed.
    ///
    /// # Errors
    /// [`PolicyError::Unknown`] for an entry that can never be the name of a tool, a source or a group, or that is a slip
    /// in the name of a group.
    pub fn load(rules: &PolicyRules, registry: &Registry) -> Result<Self, PolicyError> {
        let mut absent = Vec::new();
        let allow = rules.allow.as_ref().map(|list| selectors(list, List::Allow, registry, &mut absent)).transpose()?;
        let deny = selectors(&rules.deny, List::Deny, registry, &mut absent)?;
        Ok(Self { allow, deny, absent, closed: None })
    }

    /// A policy that allows nothing, because its rules cannot be read: `reason` says why, and where they stand.
    pub fn closed(reason: String) -> Self {
        Self { allow: None, deny: Vec::new(), absent: Vec::new(), closed: Some(reason) }
    }

    /// The entries for what was not there when the rules were read.
    pub fn absent(&self) -> &[Absent] {
        &self.absent
    }

    /// The entries that name `source` or a tool of it, in the form in which they are shown.
    pub fn entries_for(&self, source: &SourceName) -> Vec<String> {
        let all = self.allow.iter().flatten().chain(&self.deny);
        all.filter(|selector| selector.names(source)).map(ToString::to_string).collect()
    }

    /// Why nothing is allowed, where the rules could not be read.
    pub fn fault(&self) -> Option<&str> {
        self.closed.as_deref()
    }

    /// Whether the tool may be used at all. What may not is neither listed nor suggested.
    pub fn allows(&self, tool: &Registered) -> bool {
        self.ruling(tool).is_none()
    }

    /// What this call may use.
    ///
    /// # Errors
    /// [`CallError::Denied`] with the rule that decided.
    pub fn decide(&self, call: &CheckedCall) -> Result<Grant, CallError> {
        let tool = call.tool();
        match self.ruling(tool) {
            None => Ok(Grant { limits: tool.limits().clone() }),
            Some(Ruling { rule, .. }) => Err(CallError::Denied { tool: tool.wire_name().to_owned(), rule }),
        }
    }

    /// What forbids the tool; `None` where it may be used.
    pub fn ruling(&self, tool: &Registered) -> Option<Ruling> {
        if let Some(reason) = &self.closed {
            return Some(Ruling { rule: format!("no rule, because they cannot be read ({reason}),"), place: None });
        }
        if let Some(entry) = self.deny.iter().position(|selector| selector.selects(tool)) {
            let rule = format!("the entry `{}` of `deny`", self.deny[entry]);
            return Some(Ruling { rule, place: Some(RulePlace { list: List::Deny, entry: Some(entry) }) });
        }
        match &self.allow {
            Some(list) if !list.iter().any(|selector| selector.selects(tool)) => Some(Ruling {
                rule: "`allow`, which does not name it,".into(),
                place: Some(RulePlace { list: List::Allow, entry: None }),
            }),
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
            Self::Absent(name) => is_called(tool, name),
            Self::Reserved(name) => builtin(name),
            Self::Source(source) => id.source == *source,
            Self::Guests => matches!(tool.origin(), Origin::Installed { .. } | Origin::Embedded { .. }),
            Self::Members(names) => names.iter().any(|name| builtin(name)),
        }
    }

    fn names(&self, source: &SourceName) -> bool {
        match self {
            Self::Tool(id) => id.source == *source,
            Self::Absent(name) => source_of(name).as_ref() == Some(source),
            Self::Source(named) => named == source,
            Self::Reserved(_) | Self::Guests | Self::Members(_) => false,
        }
    }
}

impl fmt::Display for Absent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { entry, place, what, hint } = self;
        let list = place.list.key();
        write!(f, "`{entry}` under `{list}` names {what} that is not there{hint}; it holds as soon as that is there")
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tool(id) => f.write_str(&id.wire_name()),
            Self::Reserved(name) | Self::Absent(name) => f.write_str(name),
            Self::Source(source) => write!(f, "group:{source}"),
            Self::Guests => write!(f, "group:{GUESTS}"),
            Self::Members(names) => write!(f, "group of {}", names.join(", ")),
        }
    }
}

/// The group of all guests.
const GUESTS: &str = "wasm";

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

fn selectors(
    entries: &[String],
    list: List,
    registry: &Registry,
    absent: &mut Vec<Absent>,
) -> Result<Vec<Selector>, PolicyError> {
    let place = |entry| RulePlace { list, entry: Some(entry) };
    entries.iter().enumerate().map(|(index, entry)| selector(entry, place(index), registry, absent)).collect()
}

fn selector(
    entry: &str,
    place: RulePlace,
    registry: &Registry,
    absent: &mut Vec<Absent>,
) -> Result<Selector, PolicyError> {
    let tools = registry.all();
    let found = match entry.strip_prefix("group:") {
        Some(group) => group_selector(group, &tools),
        None => tool_selector(entry, &tools),
    };
    let group = |name: &str| format!("group:{name}");
    let hint = || {
        if is_name_of_source(entry, &tools) {
            return format!(" but a source, which is written `{}`", group(entry));
        }
        let mut names: Vec<String> = match entry.starts_with("group:") {
            true => group_names().map(group).chain(tools.iter().map(|tool| group(tool.id().source.as_str()))).collect(),
            false => tools.iter().map(|tool| tool.wire_name().to_owned()).collect(),
        };
        names.retain(|name| name != entry);
        let near = nearest(entry, names.iter().map(String::as_str), 1);
        near.first().map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default()
    };
    let is_known = |source: &SourceName| source.is_bare() || is_there(source, &tools);
    let missing = match &found {
        Some(Selector::Absent(name)) => match source_of(name).filter(|source| is_there(source, &tools)) {
            Some(source) => Some(format!("a tool of `{source}`")),
            None => Some("a source".to_owned()),
        },
        Some(Selector::Source(source)) if !is_known(source) => Some("a source".to_owned()),
        _ => None,
    };
    absent.extend(missing.map(|what| Absent { entry: entry.to_owned(), place, what, hint: hint() }));
    found.ok_or_else(|| PolicyError::Unknown { entry: entry.to_owned(), place, hint: hint() })
}

fn tool_selector(entry: &str, tools: &[Arc<Registered>]) -> Option<Selector> {
    if is_name_of_source(entry, tools) {
        // Taken for a built-in of that name, it would leave open what it forbids.
        return None;
    }
    if is_reserved(entry) {
        return Some(Selector::Reserved(entry.to_owned()));
    }
    match tools.iter().find(|tool| is_called(tool, entry)) {
        Some(tool) => Some(Selector::Tool(tool.id().clone())),
        None => source_of(entry).map(|_| Selector::Absent(entry.to_owned())),
    }
}

/// A group, or the source of that name, which need not be there. What is one letter off the name of a group is taken for
/// a slip: as that of a source it would leave open what a group forbids.
fn group_selector(group: &str, tools: &[Arc<Registered>]) -> Option<Selector> {
    if group == GUESTS {
        return Some(Selector::Guests);
    }
    if let Some((_, members)) = GROUPS.iter().find(|(name, _)| *name == group) {
        return Some(Selector::Members(members));
    }
    let source = SourceName::try_from(group.to_owned()).ok()?;
    let is_slip = group_names().any(|name| name.len() > 2 && strsim::osa_distance(name, group) == 1);
    (!is_slip || is_there(&source, tools)).then_some(Selector::Source(source))
}

/// The groups that are always there: those above, and the sources of tools without a prefix.
fn group_names() -> impl Iterator<Item = &'static str> {
    GROUPS.iter().map(|(name, _)| *name).chain([GUESTS, SourceName::BUILTIN, SourceName::EMBEDDER])
}

/// Whether there is a source of that name, and no tool.
fn is_name_of_source(name: &str, tools: &[Arc<Registered>]) -> bool {
    let is_source = SourceName::try_from(name.to_owned()).is_ok_and(|source| is_there(&source, tools));
    is_source && !tools.iter().any(|tool| is_called(tool, name))
}

/// Whether `name` is how `tool` is written: on the wire, or as a source and its tool.
fn is_called(tool: &Registered, name: &str) -> bool {
    tool.wire_name() == name || tool.id().to_string() == name
}

/// The source in the name of a tool, as it may be written.
fn source_of(name: &str) -> Option<SourceName> {
    let (source, tool) = name.split_once("__").or_else(|| name.split_once('/'))?;
    SourceName::try_from(source.to_owned()).ok().filter(|_| !tool.is_empty())
}

fn is_there(source: &SourceName, tools: &[Arc<Registered>]) -> bool {
    tools.iter().any(|tool| tool.id().source == *source)
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
        let limits = Limits::effective(&offered.requested, &own.or(source).or(&self.general))
            .told_by(source, SetBy::OperatorForSource)
            .told_by(own, SetBy::OperatorForTool);
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
