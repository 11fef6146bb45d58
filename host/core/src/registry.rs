//! All tools that can be called, under the names that clients use.

mod registered;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use thiserror::Error;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

pub use self::registered::Registered;
use crate::limit::OperatorLimits;
use crate::name::{NameError, SourceName, ToolId, is_reserved};
use crate::schema_rules::{self, SchemaProblem};
use crate::source::{Offered, ToolSource};
use crate::tool::{Effects, Origin, RateLimit};

/// The tools of all sources.
pub struct Registry {
    operator: OperatorLimits,
    tools: RwLock<Arc<Tools>>,
    replacing: Mutex<()>,
    changes: watch::Sender<u64>,
}

#[derive(Clone, Default)]
struct Tools {
    by_wire_name: BTreeMap<String, Arc<Registered>>,
    sources: HashMap<SourceName, Offering>,
    /// Sources whose tools are not here although they should be, with the reason.
    stopped: BTreeMap<SourceName, String>,
}

/// What the registry holds of one source.
#[derive(Clone, Default)]
struct Offering {
    wire_names: Vec<String>,
    /// Cancelled when the source is removed. It outlives what replaces its tools: calls of the tools before go on then,
    /// and end with the source.
    withdrawn: CancellationToken,
}

/// Why a tool cannot be registered.
#[derive(Debug, Error)]
pub enum RegistryError {
    /// The name belongs to a built-in.
    #[error(
        "the name `{name}` of source `{source_name}` belongs to a built-in tool: only ringfence itself may use it; choose another name"
    )]
    Reserved {
        /// The name.
        name: String,
        /// Whose tool wanted it.
        source_name: SourceName,
    },
    /// Another tool has this wire name.
    #[error("two tools are called `{0}`: a name is given once")]
    Taken(String),
    /// The source is called like a tool that stands on the wire without a source.
    #[error(
        "a tool is called `{0}`, so a source of that name could be mistaken for it; choose another name (`--as NAME`)"
    )]
    Ambiguous(SourceName),
    /// It is not a name at all.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The schema breaks a registration rule, or cannot be compiled.
    #[error("the schema of `{tool}` is not usable: {}", .problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Schema {
        /// The tool.
        tool: ToolId,
        /// All that is wrong with it.
        problems: Vec<SchemaProblem>,
    },
    /// A limit that cannot be enforced for this tool.
    #[error(
        "`{tool}` is a native tool: `{limit}` cannot be enforced for it; deadline_ms, result_bytes and param_bytes can"
    )]
    Unenforceable {
        /// The tool.
        tool: ToolId,
        /// The limit's key.
        limit: &'static str,
    },
}

impl Tools {
    /// Forgets all tools of `source`, and gives what ends their calls.
    fn forget(&mut self, source: &SourceName) -> CancellationToken {
        self.stopped.remove(source);
        let offering = self.sources.remove(source).unwrap_or_default();
        for name in &offering.wire_names {
            self.by_wire_name.remove(name);
        }
        offering.withdrawn
    }
}

impl Registry {
    /// An empty registry, in which `operator` narrows what tools ask for.
    pub fn new(operator: OperatorLimits) -> Self {
        Self { operator, tools: RwLock::default(), replacing: Mutex::default(), changes: watch::Sender::new(0) }
    }

    /// Takes all tools of `source`, in place of those that it offered before. All of them or none.
    ///
    /// # Errors
    /// When one of them cannot be registered.
    pub fn put(&self, source: &dyn ToolSource) -> Result<(), RegistryError> {
        self.change(|tools| self.place(tools, source.name(), source.tools()))
    }

    /// Takes all tools of several sources at once, and says which sources cannot be registered and why.
    pub fn put_all<'a>(
        &self,
        sources: impl IntoIterator<Item = &'a dyn ToolSource>,
    ) -> Vec<(SourceName, RegistryError)> {
        self.change(|tools| {
            let place = |source: &dyn ToolSource| {
                let refused = self.place(tools, source.name(), source.tools()).err()?;
                Some((source.name().clone(), refused))
            };
            sources.into_iter().filter_map(place).collect()
        })
    }

    /// Whether [`put`](Self::put) would take `source`.
    ///
    /// # Errors
    /// When one of its tools cannot be registered.
    pub fn check(&self, source: &dyn ToolSource) -> Result<(), RegistryError> {
        self.place(&mut Tools::clone(&self.snapshot()), source.name(), source.tools())
    }

    /// Forgets all tools of `source` and ends their calls.
    pub fn remove(&self, source: &SourceName) {
        self.change(|tools| tools.forget(source)).cancel();
    }

    /// Forgets all tools of `source`, ends their calls, and remembers why until it is put or removed.
    pub fn stop(&self, source: &SourceName, reason: &str) {
        let withdrawn = self.change(|tools| {
            let withdrawn = tools.forget(source);
            tools.stopped.insert(source.clone(), reason.to_owned());
            withdrawn
        });
        withdrawn.cancel();
    }

    /// Why the tools of `source` are not here, where it was stopped.
    pub fn stopped(&self, source: &str) -> Option<String> {
        let source = SourceName::try_from(source.to_owned()).ok()?;
        self.snapshot().stopped.get(&source).cloned()
    }

    /// The sources that were stopped.
    pub fn stopped_sources(&self) -> Vec<SourceName> {
        self.snapshot().stopped.keys().cloned().collect()
    }

    /// Lets `change` work on a copy of the tools, which then takes the place of the old one.
    fn change<T>(&self, change: impl FnOnce(&mut Tools) -> T) -> T {
        let _one_at_a_time = self.replacing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut tools = Tools::clone(&self.snapshot());
        let result = change(&mut tools);
        *self.tools.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(tools);
        self.changes.send_modify(|version| *version += 1);
        result
    }

    /// Puts the tools that are `offered` in place of those that `source` had. Changes nothing when it fails.
    fn place(&self, tools: &mut Tools, source: &SourceName, offered: Vec<Offered>) -> Result<(), RegistryError> {
        if tools.by_wire_name.contains_key(source.as_str()) {
            return Err(RegistryError::Ambiguous(source.clone()));
        }
        let withdrawn = tools.sources.get(source).map(|offering| offering.withdrawn.clone()).unwrap_or_default();
        let mut fresh = BTreeMap::new();
        for tool in offered {
            let tool = self.register(source, tool, withdrawn.clone())?;
            let name = tool.wire_name.clone();
            let others = tools.by_wire_name.get(&name).is_some_and(|known| known.id.source != *source);
            if others || fresh.insert(name.clone(), Arc::new(tool)).is_some() {
                return Err(RegistryError::Taken(name));
            }
        }
        tools.forget(source);
        tools.sources.insert(source.clone(), Offering { wire_names: fresh.keys().cloned().collect(), withdrawn });
        tools.by_wire_name.extend(fresh);
        Ok(())
    }

    fn register(
        &self,
        source: &SourceName,
        offered: Offered,
        withdrawn: CancellationToken,
    ) -> Result<Registered, RegistryError> {
        let spec = offered.tool.spec();
        let id = ToolId { source: source.clone(), name: spec.name.clone().try_into()? };
        if is_reserved(&spec.name) && offered.origin != Origin::Builtin {
            return Err(RegistryError::Reserved { name: spec.name.clone(), source_name: source.clone() });
        }
        let problems = schema_rules::errors(spec);
        if !problems.is_empty() {
            return Err(RegistryError::Schema { tool: id, problems });
        }
        let limits = self.operator.narrow(&id, &offered)?;
        let effects = if offered.effects_believed { spec.effects } else { Effects::UNKNOWN };
        let rate_limit = [spec.rate_limit, offered.ceiling.rate].into_iter().flatten().reduce(RateLimit::min);
        let (wire_name, origin, tool) = (id.wire_name(), offered.origin, offered.tool);
        let validators = OnceLock::new();
        Ok(Registered { id, wire_name, tool, origin, effects, limits, rate_limit, withdrawn, validators })
    }

    /// The tool that clients call `wire_name`.
    pub fn get(&self, wire_name: &str) -> Option<Arc<Registered>> {
        self.snapshot().by_wire_name.get(wire_name).cloned()
    }

    /// All tools, by wire name.
    pub fn all(&self) -> Vec<Arc<Registered>> {
        self.snapshot().by_wire_name.values().cloned().collect()
    }

    /// The tools that are called `name` in their own source, whatever the source.
    pub fn called(&self, name: &str) -> Vec<Arc<Registered>> {
        self.snapshot().by_wire_name.values().filter(|tool| tool.id.name.as_str() == name).cloned().collect()
    }

    /// Tells of every change of the set of tools: the number grows.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    fn snapshot(&self) -> Arc<Tools> {
        self.tools.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
