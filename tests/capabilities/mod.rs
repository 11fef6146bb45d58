//! What tools reach beyond their instances: asked for in the manifest, granted by the operator, and no further.

mod dumps;
mod environment;
mod files;
mod forms;
mod grants;
mod network;
mod oauth;
mod secrets;
mod state;
mod tools;
mod wasi_http;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ringfence::{LimitKind, Ringfence, Tool};
use serde_json::Value;

use crate::support::binary::{Home, Run};
use crate::support::guests;

/// The limits that are tried here, each by its key.
pub fn limits() -> impl Iterator<Item = &'static str> {
    network::EXCEEDED
        .iter()
        .map(|(key, ..)| *key)
        .chain([tools::LIMIT, state::LIMIT])
        .chain(files::LIMITS.map(|(key, _)| key))
}

/// A home with `guest` installed as `reach`, whose manifest asks for `capabilities`, a text in TOML. Rates are off.
fn home(guest: &str, capabilities: &str, config: &str) -> Home {
    let home = Home::new();
    home.file("home/config.toml", format!("{config}\n[rate]\nunlimited = true\n"));
    let file = home.file("reach.wasm", guests::package_with(guest, "reach", capabilities));
    home.args(&["install", file.to_str().unwrap(), "--allow-unsigned"]).ok();
    home
}

/// Changes the file of its grant, which is the operator's to write.
fn by_hand(home: &Home, change: impl FnOnce(String) -> String) {
    let path = home.path().join("home/grants/reach.toml");
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    home.file("home/grants/reach.toml", change(text));
}

/// Calls a tool of it.
fn call(home: &Home, tool: &str, params: &Value) -> Run {
    home.args(&["call", &format!("reach__{tool}"), &params.to_string()])
}

/// How the limit `key` of `value` ends a call of `tool` with `params` in a home that `granted` makes, whoever sets it. The
/// arguments of `granted` are what the manifest says beside what it asks for, and the configuration.
fn limit_ends_the_call(key: &str, value: u64, granted: impl Fn(&str, &str) -> Home, tool: &str, params: &Value) {
    let limit = format!("limits]\n{key} = {value}\n");
    let code = LimitKind::all().find(|kind| kind.key() == key).unwrap().code();
    for (manifest, config, of_grant) in [
        (String::new(), format!("[{limit}"), false),
        (String::new(), format!("[tools.reach.{limit}"), false),
        (format!("[{limit}"), String::new(), false),
        (String::new(), String::new(), true),
    ] {
        let home = granted(&manifest, &config);
        if of_grant {
            home.args(&["grant", "reach", "--limit", &format!("{key}={value}")]).ok();
        }
        let run = home.args(&["--json", "call", &format!("reach__{tool}"), &params.to_string()]);
        assert_eq!(run.code, 4, "{manifest} {config} {of_grant}: {run:?}");
        let error: Value = serde_json::from_str(&run.out).unwrap();
        assert_eq!(error["error"]["code"], format!("limit.{code}"));
        assert!(error["error"]["hint"].as_str().unwrap().contains(&format!("`{key}`")), "{error}");
    }
    call(&granted("", ""), tool, params).ok();
}

/// The host of a home, in this process.
async fn open(home: &Home, native: Vec<Arc<dyn Tool>>) -> Ringfence {
    let builder = Ringfence::builder(ringfence::Home::at(&home.path().join("home")));
    native.into_iter().fold(builder, |builder, tool| builder.register_native(tool)).open().await.unwrap()
}

/// All files of a home.
fn files(home: &Home) -> Vec<PathBuf> {
    walk(&home.path().join("home"))
}

fn walk(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let paths = entries.flat_map(|entry| match entry.file_type().unwrap() {
        kind if kind.is_dir() => walk(&entry.path()),
        kind if kind.is_file() => vec![entry.path()],
        _ => Vec::new(),
    });
    paths.collect()
}
