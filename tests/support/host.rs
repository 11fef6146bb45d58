//! Hosts in this process, in throw-away folders.

use std::sync::Arc;

use ringfence::core::call::{CallContext, ProgressSink, ToolCall};
use ringfence::{CallError, Caller, Config, Home, LimitSet, Progress, Ringfence, ToolOutput};
use serde_json::{Value, json};
use tokio::sync::RwLock;
use tokio::task::block_in_place;

use super::guests;

/// A host with guests from bytes. Rates are off unless the configuration says otherwise.
pub struct TestHost {
    pub host: Arc<Ringfence>,
    _folder: tempfile::TempDir,
}

/// A host with `guests` embedded, under `config`, a text in TOML.
pub async fn with_guests(guests: &[&str], config: &str) -> TestHost {
    let folder = tempfile::tempdir().unwrap();
    let mut config: Config = toml::from_str(config).unwrap();
    config.rate.unlimited |= config.rate.per_minute.is_none() && config.rate.per_hour.is_none();
    let mut builder = Ringfence::builder(Home::at(folder.path())).config(config);
    for guest in guests {
        builder = builder.register_wasm(&guest.replace('_', "-"), &guests::component(guest), LimitSet::default());
    }
    TestHost { host: Arc::new(builder.open().await.unwrap()), _folder: folder }
}

impl TestHost {
    /// Calls the tool `run` of a guest.
    pub async fn run(&self, guest: &str, params: Value) -> Result<ToolOutput, CallError> {
        self.call(&format!("{}__run", guest.replace('_', "-")), params).await
    }

    /// Calls a tool by its wire name.
    pub async fn call(&self, tool: &str, params: Value) -> Result<ToolOutput, CallError> {
        self.host.call(tool, params, Caller::default()).await
    }

    /// Calls the tool `run` of a hostile guest while 64 neighbours call `mirror`, which has to be embedded as well: all of
    /// them are answered before it ends, and so are 64 more that come while it does. A guest whose deed is quickly done
    /// reports its progress in the midst of it, and is held there until the first ones are done. Gives the error that it
    /// ends with.
    pub async fn beside_neighbours(&self, guest: &str, params: Value) -> CallError {
        let gate = Arc::new(RwLock::new(()));
        let closed = gate.write().await;
        let mut context = CallContext::of(caller("hostile"));
        context.progress = Some(Arc::new(Gate(gate.clone())));
        let (host, tool) = (self.host.clone(), format!("{}__run", guest.replace('_', "-")));
        let hostile = tokio::spawn(async move { host.call_with(ToolCall::new(tool, params, context)).await });
        self.sixty_four_neighbours().await;
        assert!(!hostile.is_finished(), "`{guest}` ended before its neighbours did");
        drop(closed);
        let ((), ended) = tokio::join!(self.sixty_four_neighbours(), hostile);
        ended.unwrap().expect_err("a hostile guest has no output")
    }

    /// 64 calls at once of the guest `mirror`, all of which have to be answered rightly.
    pub async fn sixty_four_neighbours(&self) {
        let calls: Vec<_> = (0..64)
            .map(|i| {
                let host = self.host.clone();
                tokio::spawn(async move {
                    let params = json!({"n": i});
                    let output = host.call("mirror__run", params.clone(), caller(&format!("neighbour-{i}"))).await;
                    assert_eq!(output.unwrap().structured.unwrap(), params);
                })
            })
            .collect();
        for call in calls {
            call.await.unwrap();
        }
    }
}

/// Holds a guest where it reports its progress, until nobody writes any more.
struct Gate(Arc<RwLock<()>>);

impl ProgressSink for Gate {
    fn report(&self, _: Progress) {
        // Another thread does the other tasks of this one meanwhile.
        block_in_place(|| drop(self.0.blocking_read()));
    }
}

/// A caller of that name.
pub fn caller(user: &str) -> Caller {
    Caller { user: Some(user.to_owned()), ..Caller::default() }
}
