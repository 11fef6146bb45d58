//! Hosts in this process, in throw-away folders.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ringfence::{CallError, Caller, Config, Home, LimitSet, Ringfence, ToolOutput};
use serde_json::{Value, json};

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

    /// Calls the tool `run` of a hostile guest while 64 neighbours call `mirror`, which has to be embedded as well. Gives
    /// the error that the hostile one ends with, and whether all neighbours were done by then.
    pub async fn beside_neighbours(&self, guest: &str, params: Value) -> (CallError, bool) {
        let ended = Arc::new(AtomicBool::new(false));
        let hostile = {
            let (host, ended) = (self.host.clone(), ended.clone());
            let tool = format!("{}__run", guest.replace('_', "-"));
            tokio::spawn(async move {
                let result = host.call(&tool, params, caller("hostile")).await;
                ended.store(true, Ordering::SeqCst);
                result
            })
        };
        self.sixty_four_neighbours().await;
        let first = !ended.load(Ordering::SeqCst);
        (hostile.await.unwrap().expect_err("a hostile guest has no output"), first)
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

/// A caller of that name.
pub fn caller(user: &str) -> Caller {
    Caller { user: Some(user.to_owned()), ..Caller::default() }
}
