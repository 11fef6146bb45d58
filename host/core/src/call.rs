//! A call on its way: what a door received, and what is left of it when its parameters are known to be valid.

use std::fmt;
use std::sync::Arc;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::caller::Caller;
use crate::finish::current::CurrentScrubber;
use crate::pipeline::ToolHost;
use crate::registry::Registered;

/// The name of one call, unique across restarts. Log, audit and guest show the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CallId(String);

impl CallId {
    /// A new id: a part that differs from process to process, and a count.
    pub fn next() -> Self {
        static PROCESS: LazyLock<u64> = LazyLock::new(process_part);
        static COUNT: AtomicU64 = AtomicU64::new(1);
        Self(format!("{:016x}-{}", *PROCESS, COUNT.fetch_add(1, Ordering::Relaxed)))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The standard library's hasher keys are random for each process; nothing here needs to be unpredictable.
fn process_part() -> u64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    hasher.finish()
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The parameters of a call: the value, and its text, which is made once.
#[derive(Clone, Debug)]
pub struct Arguments {
    value: Value,
    text: String,
}

impl Arguments {
    /// Takes over `value`.
    pub fn new(value: Value) -> Self {
        let text = value.to_string();
        Self { value, text }
    }

    /// The parameters.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The parameters as JSON text.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// How far a call has come.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Grows with every report.
    pub done: f64,
    /// In the same unit, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<f64>,
    /// What is going on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// Takes the progress of a call. It must not block.
pub trait ProgressSink: Send + Sync {
    /// Takes one report.
    fn report(&self, progress: Progress);
}

/// Who calls, and how the call is tied to whoever waits for it.
#[derive(Clone, Default)]
pub struct CallContext {
    /// Who the call is made for.
    pub caller: Caller,
    /// How many calls of tools stand above this one.
    pub depth: u32,
    /// The call that made this one; `None` at the top.
    pub parent: Option<CallId>,
    /// Ends the call when it is cancelled.
    pub cancel: CancellationToken,
    /// Where progress goes; `None` when nobody listens.
    pub progress: Option<Arc<dyn ProgressSink>>,
    /// What cleans what a tool says beside its result; set by the pipeline.
    pub(crate) scrubber: Option<Arc<CurrentScrubber>>,
    /// When the call above this one ends, where there is one that does.
    pub(crate) ends: Option<Instant>,
    /// The way to other tools; set by the pipeline.
    pub(crate) host: Option<Arc<ToolHost>>,
}

impl CallContext {
    /// What cleans what a tool says beside its result, its log above all.
    pub fn scrubber(&self) -> Option<Arc<CurrentScrubber>> {
        self.scrubber.clone()
    }

    /// This context, with a way to end the call and somebody who listens to its progress.
    #[must_use]
    pub fn attended(self, cancel: CancellationToken, progress: Arc<dyn ProgressSink>) -> Self {
        Self { cancel, progress: Some(progress), ..self }
    }

    /// The context of a call by `caller`, at the top, with nobody listening.
    pub fn of(caller: Caller) -> Self {
        Self { caller, ..Self::default() }
    }
}

impl fmt::Debug for CallContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallContext").field("caller", &self.caller).field("depth", &self.depth).finish_non_exhaustive()
    }
}

/// What a door received. Nothing in it is checked.
#[derive(Clone, Debug)]
pub struct ToolCall {
    /// Its name.
    pub id: CallId,
    /// The wire name of the tool.
    pub tool: String,
    /// The parameters.
    pub arguments: Arguments,
    /// Who calls.
    pub context: CallContext,
}

impl ToolCall {
    /// A new call of the tool with the wire name `tool`.
    pub fn new(tool: impl Into<String>, params: Value, context: CallContext) -> Self {
        Self { id: CallId::next(), tool: tool.into(), arguments: Arguments::new(params), context }
    }
}

/// A call of a known tool with valid parameters. Only the schema gate makes it.
#[derive(Debug)]
pub struct CheckedCall {
    pub(crate) id: CallId,
    pub(crate) tool: Arc<Registered>,
    pub(crate) arguments: Arguments,
    pub(crate) context: CallContext,
}

impl CheckedCall {
    /// Its name.
    pub fn id(&self) -> &CallId {
        &self.id
    }

    /// The tool.
    pub fn tool(&self) -> &Registered {
        &self.tool
    }

    /// The parameters.
    pub fn arguments(&self) -> &Arguments {
        &self.arguments
    }

    /// Who calls.
    pub fn context(&self) -> &CallContext {
        &self.context
    }
}
