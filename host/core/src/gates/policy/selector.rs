//! The entries of `allow` and `deny`: what each selects, and what those mean that name nothing that there is.

use std::fmt;
use std::sync::Arc;

use super::{List, PolicyError, RulePlace};
use crate::name::{SourceName, ToolId, is_reserved, nearest};
use crate::registry::{Registered, Registry};
use crate::tool::Origin;

/// What an entry of a list selects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Selector {
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

impl Selector {
    /// Whether it is for `tool`.
    pub(super) fn selects(&self, tool: &Registered) -> bool {
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

    /// Whether it is for `source` or a tool of it.
    pub(super) fn names(&self, source: &SourceName) -> bool {
        match self {
            Self::Tool(id) => id.source == *source,
            Self::Absent(name) => source_of(name).as_ref() == Some(source),
            Self::Source(named) => named == source,
            Self::Reserved(_) | Self::Guests | Self::Members(_) => false,
        }
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

impl fmt::Display for Absent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { entry, place, what, hint } = self;
        let list = place.list.key();
        write!(f, "`{entry}` under `{list}` names {what} that is not there{hint}; it holds as soon as that is there")
    }
}

/// Reads the `entries` of a `list`; what names something that is not there is `absent`.
pub(super) fn selectors(
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
