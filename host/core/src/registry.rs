//! All tools that can be called, under the names that clients use.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use jsonschema::Validator;
use serde_json::Value;
use thiserror::Error;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::finish::current::CurrentScrubber;
use crate::finish::scrub::Scrubber;
use crate::gates::policy::OperatorLimits;
use crate::limit::Limits;
use crate::name::{NameError, SourceName, ToolId, is_reserved};
use crate::schema_rules::{self, SchemaProblem};
use crate::schema_work::Measured;
use crate::source::{Offered, ToolSource};
use crate::tool::{Effects, Origin, RateLimit, Tool, ToolSpec};

/// A tool that can be called: what its source offered, and what the host concluded from it at registration.
pub struct Registered {
    id: ToolId,
    wire_name: String,
    tool: Arc<dyn Tool>,
    origin: Origin,
    effects: Effects,
    limits: Limits,
    rate_limit: Option<RateLimit>,
    withdrawn: CancellationToken,
    validators: OnceLock<Result<Validators, String>>,
}

/// The compiled schemas of a tool. Compiled at the first call, because a host may hold a thousand tools and use three.
pub(crate) struct Validators {
    pub(crate) parameters: Checker,
    pub(crate) output: Option<Checker>,
}

/// A compiled schema that refuses values which would take too much work to check.
pub(crate) struct Checker {
    validator: Validator,
    work: Measured,
}

impl Checker {
    fn compile(schema: &Value) -> Result<Self, String> {
        Ok(Self { validator: schema_rules::compile(schema)?, work: Measured::new(schema) })
    }

    /// What is wrong with `value`, each problem with its place, at most ten; nothing when it agrees with the schema.
    /// What a problem repeats of the value is clean, as far as `scrubber` knows secrets.
    pub(crate) fn problems(&self, value: &Value, scrubber: &CurrentScrubber) -> Vec<String> {
        if !self.work.is_bounded(value) {
            return vec!["checking it against the schema would take too long".into()];
        }
        if self.validator.is_valid(value) {
            return Vec::new();
        }
        // The validator makes all errors before it gives the first, so there must not be many.
        if !self.work.is_within(MOST_TO_EXPLAIN, value) {
            return vec!["it does not agree with the schema, and is too large for the places to be named".into()];
        }
        problems(&self.validator, value, &scrubber.get())
    }

    /// Whether nothing is wrong with `value`.
    pub(crate) fn accepts(&self, value: &Value) -> bool {
        self.work.is_bounded(value) && self.validator.is_valid(value)
    }
}

/// The most steps of a check after which it is said what is wrong and where; each may be one thing.
const MOST_TO_EXPLAIN: u64 = 100_000;

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

impl fmt::Debug for Registered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registered").field("id", &self.id).field("origin", &self.origin).finish_non_exhaustive()
    }
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

impl Registered {
    /// The tool's identity.
    pub fn id(&self) -> &ToolId {
        &self.id
    }

    /// The name that clients use.
    pub fn wire_name(&self) -> &str {
        &self.wire_name
    }

    /// What the tool says of itself.
    pub fn spec(&self) -> &ToolSpec {
        self.tool.spec()
    }

    /// How it came to be here.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The effects that the host reckons with: the claimed ones where they are believed, else none.
    pub fn effects(&self) -> Effects {
        self.effects
    }

    /// The limits of each call: requested by the manifest, narrowed by configuration and grant.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The rate limit that the tool asks for or the grant of its source sets, the smaller where both do.
    pub fn rate_limit(&self) -> Option<RateLimit> {
        self.rate_limit
    }

    /// Cancelled when its source is removed: nothing of it may run from then on.
    pub(crate) fn withdrawn(&self) -> &CancellationToken {
        &self.withdrawn
    }

    pub(crate) fn tool(&self) -> &Arc<dyn Tool> {
        &self.tool
    }

    pub(crate) fn validators(&self) -> Result<&Validators, &str> {
        self.validators.get_or_init(|| Validators::compile(self.spec())).as_ref().map_err(String::as_str)
    }
}

impl Validators {
    fn compile(spec: &ToolSpec) -> Result<Self, String> {
        let output = spec.output_schema.as_ref().map(Checker::compile).transpose()?;
        Ok(Self { parameters: Checker::compile(&spec.parameters)?, output })
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
        let effects = if offered.effects_believed { spec.effects } else { Effects::default() };
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

fn problems(validator: &Validator, value: &Value, scrubber: &Scrubber) -> Vec<String> {
    const MOST: usize = 10;
    const LONGEST: usize = 300;
    const LOOKED_AT: usize = 64 << 10;
    validator
        .iter_errors(value)
        .take(MOST)
        .map(|error| {
            let place = error.instance_path().to_string();
            // Scrubbed first and cut then: half a secret would not be found. What is far behind the cut is not looked at.
            let whole = error.to_string();
            let near = &whole[..whole.floor_char_boundary(LOOKED_AT)];
            let text: String = scrubber.text(near).chars().take(LONGEST).collect();
            if place.is_empty() { text } else { format!("{text} (at {place})") }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_wrong_is_said_with_its_place_unless_it_may_be_too_much() {
        let schema = json!({"type": "object", "properties": {"list": {"type": "array", "items": {"type": "integer"}}}});
        let checker = Checker::compile(&schema).unwrap();
        let said = |count: usize| checker.problems(&json!({"list": vec![""; count]}), &CurrentScrubber::default());
        let few = said(1000);
        assert_eq!(few.len(), 10);
        assert!(few[0].contains("(at /list/0)"), "{few:?}");
        let many = said(1_000_000);
        assert!(many.len() == 1 && many[0].contains("too large"), "{many:?}");
        assert_eq!(checker.problems(&json!({"list": vec![1; 1_000_000]}), &CurrentScrubber::default()), [""; 0]);
    }

    #[test]
    fn a_long_text_is_no_reason_to_say_less() {
        let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["name"]});
        let checker = Checker::compile(&schema).unwrap();
        let said = checker.problems(&json!({"text": "a".repeat(8 << 20)}), &CurrentScrubber::default());
        assert!(said.len() == 1 && said[0].contains("\"name\" is a required property"), "{said:?}");
    }
}
