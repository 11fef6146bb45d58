//! A host for unit tests: calls tools natively and keeps what they report.
//!
//! ```
//! # use ringfence_sdk::prelude::*;
//! use ringfence_sdk::testing::TestHost;
//! use serde_json::json;
//!
//! # #[derive(Deserialize, JsonSchema)]
//! # struct Greet { name: String }
//! # /// Greets somebody by name.
//! # #[tool]
//! # fn greet(args: Greet) -> String { log::info("greeting"); format!("Hello, {}!", args.name) }
//! # export_tools!(greet);
//! # fn main() {
//! let call = TestHost::new(TOOLS).call("greet", json!({ "name": "Ada" }));
//! assert_eq!(call.text(), "Hello, Ada!");
//! assert_eq!(call.log[0].message, "greeting");
//! # }
//! ```

mod world;

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::host::Level;
use crate::http::Response;
use crate::secrets::Algorithm;
use crate::{CallInfo, Content, Failure, Output, Tool};

pub use crate::bindings::ringfence::tool::http::Request;
use world::World;
pub(crate) use world::{
    call_tool, entries, read, secret_exists, send, sign, state_delete, state_get, state_keys, state_set, state_swap,
    write,
};

/// Calls the tools of one component. Each call stands alone, as it does in a component.
#[derive(Clone)]
pub struct TestHost {
    tools: &'static [Tool],
    info: CallInfo,
    world: World,
}

impl fmt::Debug for TestHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestHost").field("tools", &self.tools.len()).field("info", &self.info).finish_non_exhaustive()
    }
}

/// What one call did.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// What the tool gave back.
    pub outcome: Result<Output, Failure>,
    /// What it logged, the oldest first.
    pub log: Vec<LogRecord>,
    /// What it reported, the oldest first.
    pub progress: Vec<ProgressReport>,
}

/// See [`crate::log::log`].
#[derive(Clone, Debug, PartialEq)]
pub struct LogRecord {
    /// How much it matters.
    pub level: Level,
    /// What was said.
    pub message: String,
}

/// See [`crate::progress::report`].
#[derive(Clone, Debug, PartialEq)]
pub struct ProgressReport {
    /// How much was done.
    pub done: f64,
    /// Of how much, where it was known.
    pub total: Option<f64>,
    /// What was said.
    pub message: Option<String>,
}

impl TestHost {
    /// A host for the tools that [`export_tools!`](crate::export_tools) lists in `TOOLS`.
    #[must_use]
    pub fn new(tools: &'static [Tool]) -> Self {
        let info = CallInfo { id: "test".to_owned(), deadline_ms: 60_000, max_result_bytes: 1 << 20 };
        Self { tools, info, world: World::default() }
    }

    /// Replaces what tools learn of the call. Nothing is enforced: a test host ends no call.
    #[must_use]
    pub fn with_info(mut self, info: CallInfo) -> Self {
        self.info = info;
        self
    }

    /// Answers the requests of tools. A failure becomes a request that was denied.
    #[must_use]
    pub fn with_http(mut self, server: impl Fn(&Request) -> Result<Response, Failure> + 'static) -> Self {
        self.world.server = Some(Rc::new(server));
        self
    }

    /// A secret that is there, and what a signature by it is.
    #[must_use]
    pub fn with_secret(mut self, name: &str, sign: impl Fn(Algorithm, &[u8]) -> Vec<u8> + 'static) -> Self {
        self.world.signers.insert(name.to_owned(), Rc::new(sign));
        self
    }

    /// A file of the workspace.
    #[must_use]
    pub fn with_file(self, path: &str, content: impl Into<Vec<u8>>) -> Self {
        self.world.files.borrow_mut().insert(path.to_owned(), content.into());
        self
    }

    /// What a file of the workspace holds now.
    #[must_use]
    pub fn file(&self, path: &str) -> Option<Vec<u8>> {
        self.world.files.borrow().get(path).cloned()
    }

    /// Answers the calls of the tool that is called `alias`, by its parameters.
    #[must_use]
    pub fn with_tool(mut self, alias: &str, answer: impl Fn(Value) -> Result<Output, Failure> + 'static) -> Self {
        self.world.tools.insert(alias.to_owned(), Rc::new(answer));
        self
    }

    /// A value that an earlier call has kept. Later calls on this host find what was kept before; there is no quota.
    #[must_use]
    pub fn with_state(self, key: &str, value: impl Into<Vec<u8>>) -> Self {
        self.world.state.borrow_mut().insert(key.to_owned(), value.into());
        self
    }

    /// What is kept under `key` now.
    #[must_use]
    pub fn state(&self, key: &str) -> Option<Vec<u8>> {
        self.world.state.borrow().get(key).cloned()
    }

    /// Calls the tool `name`.
    ///
    /// # Panics
    ///
    /// There is no tool with this name.
    #[must_use]
    pub fn call(&self, name: &str, parameters: impl Into<Value>) -> Call {
        let names: Vec<_> = self.tools.iter().map(|tool| tool.name).collect();
        let tool = self
            .tools
            .iter()
            .find(|tool| tool.name == name)
            .unwrap_or_else(|| panic!("no tool `{name}` among {names:?}"));
        RECORDS.take();
        let parameters = parameters.into().to_string();
        let outcome = self.world.enter(|| (tool.call)(&parameters, &self.info));
        let (log, progress) = RECORDS.take();
        Call { outcome, log, progress }
    }
}

impl Call {
    /// The output of a call that has to succeed.
    ///
    /// # Panics
    ///
    /// The call failed.
    #[must_use]
    #[track_caller]
    pub fn output(&self) -> &Output {
        match &self.outcome {
            Ok(output) => output,
            Err(failure) => panic!("the call failed: {failure:?}"),
        }
    }

    /// The failure of a call that has to fail.
    ///
    /// # Panics
    ///
    /// The call succeeded.
    #[must_use]
    #[track_caller]
    pub fn failure(&self) -> &Failure {
        match &self.outcome {
            Ok(output) => panic!("the call succeeded: {output:?}"),
            Err(failure) => failure,
        }
    }

    /// The text and JSON for the model, one piece a line.
    ///
    /// # Panics
    ///
    /// The call failed.
    #[must_use]
    #[track_caller]
    pub fn text(&self) -> String {
        let pieces: Vec<&str> = self.output().content.iter().filter_map(text_of).collect();
        pieces.join("\n")
    }

    /// The structured result.
    ///
    /// # Panics
    ///
    /// The call failed, or its structured result is absent or no `T`.
    #[must_use]
    #[track_caller]
    pub fn structured<T: DeserializeOwned>(&self) -> T {
        let Some(json) = &self.output().structured else { panic!("the call gave no structured result") };
        serde_json::from_str(json).unwrap_or_else(|error| panic!("the structured result {json} does not fit: {error}"))
    }
}

fn text_of(content: &Content) -> Option<&str> {
    match content {
        Content::Text(text) | Content::Json(text) => Some(text),
        Content::Image(_) | Content::Audio(_) | Content::Resource(_) => None,
    }
}

thread_local! {
    /// What the call on this thread reported so far. Tests run side by side, one a thread.
    static RECORDS: RefCell<(Vec<LogRecord>, Vec<ProgressReport>)> = const { RefCell::new((Vec::new(), Vec::new())) };
}

pub(crate) fn log(level: Level, message: &str) {
    RECORDS.with_borrow_mut(|(log, _)| {
        log.push(LogRecord { level, message: message.to_owned() });
    });
}

pub(crate) fn report(done: f64, total: Option<f64>, message: Option<&str>) {
    let report = ProgressReport { done, total, message: message.map(str::to_owned) };
    RECORDS.with_borrow_mut(|(_, progress)| progress.push(report));
}
