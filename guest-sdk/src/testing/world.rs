//! What a test host offers beside log and progress: everything is in memory, and nothing is there unless a test says so.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::Value;

use crate::bindings::ringfence::tool::{http, secrets, state, types, workspace};
use crate::http::Response;
use crate::{Failure, Output};

type Server = dyn Fn(&http::Request) -> Result<Response, Failure>;
type Answer = dyn Fn(Value) -> Result<Output, Failure>;
type Signer = dyn Fn(secrets::Algorithm, &[u8]) -> Vec<u8>;

/// What the tools of one test host can reach.
#[derive(Clone, Default)]
pub(super) struct World {
    pub(super) server: Option<Rc<Server>>,
    pub(super) signers: BTreeMap<String, Rc<Signer>>,
    pub(super) files: Rc<RefCell<BTreeMap<String, Vec<u8>>>>,
    pub(super) tools: BTreeMap<String, Rc<Answer>>,
    pub(super) state: Rc<RefCell<BTreeMap<String, Vec<u8>>>>,
}

thread_local! {
    /// The world of the call on this thread. Tests run side by side, one a thread.
    static CURRENT: RefCell<World> = RefCell::default();
}

impl World {
    /// Runs `call` in this world.
    pub(super) fn enter<T>(&self, call: impl FnOnce() -> T) -> T {
        let before = CURRENT.replace(self.clone());
        let result = call();
        CURRENT.set(before);
        result
    }
}

fn current() -> World {
    CURRENT.with_borrow(World::clone)
}

pub(crate) fn send(request: &http::Request) -> Result<http::Response, http::Error> {
    let refuse = |message: String| http::Error { kind: http::ErrorKind::Denied, message, sent: false };
    let server = current().server.ok_or_else(|| refuse("the test host has no server: see `with_http`".into()))?;
    let answer = server(request).map_err(|failure| refuse(failure.message))?;
    let header = |(name, value)| http::Header { name, value };
    let headers = answer.headers.into_iter().map(header).collect();
    Ok(http::Response { status: answer.status, headers, body: answer.body })
}

pub(crate) fn secret_exists(name: &str) -> Result<bool, secrets::Error> {
    Ok(current().signers.contains_key(name))
}

pub(crate) fn sign(name: &str, algorithm: secrets::Algorithm, message: &[u8]) -> Result<Vec<u8>, secrets::Error> {
    current().signers.get(name).map(|signer| signer(algorithm, message)).ok_or(secrets::Error::Missing)
}

pub(crate) fn read(path: &str) -> Result<Vec<u8>, workspace::Error> {
    current().files.borrow().get(path).cloned().ok_or(workspace::Error::Missing)
}

pub(crate) fn write(path: &str, content: &[u8]) -> Result<(), workspace::Error> {
    current().files.borrow_mut().insert(path.to_owned(), content.to_vec());
    Ok(())
}

pub(crate) fn entries(path: &str) -> Result<Vec<workspace::Entry>, workspace::Error> {
    let folder = if path == "." { String::new() } else { format!("{path}/") };
    let mut entries: BTreeMap<String, workspace::Entry> = BTreeMap::new();
    for (file, content) in current().files.borrow().iter() {
        let Some(below) = file.strip_prefix(&folder) else { continue };
        let (name, entry) = match below.split_once('/') {
            Some((name, _)) => (name, workspace::Entry { name: name.to_owned(), folder: true, size: 0 }),
            None => (below, workspace::Entry { name: below.to_owned(), folder: false, size: content.len() as u64 }),
        };
        entries.insert(name.to_owned(), entry);
    }
    if entries.is_empty() { Err(workspace::Error::Missing) } else { Ok(entries.into_values().collect()) }
}

pub(crate) fn call_tool(alias: &str, parameters: &str) -> Result<Output, types::Failure> {
    let called = || {
        let Some(tool) = current().tools.get(alias).cloned() else {
            let message = format!("the test host has no tool `{alias}`: see `with_tool`");
            return Err(Failure::failed(message).with_code("tools.denied"));
        };
        tool(serde_json::from_str(parameters).map_err(Failure::invalid_params)?)
    };
    called().map_err(Failure::into_wire)
}

pub(crate) fn state_get(key: &str) -> Result<Option<Vec<u8>>, state::Error> {
    Ok(current().state.borrow().get(key).cloned())
}

pub(crate) fn state_set(key: &str, value: &[u8]) -> Result<(), state::Error> {
    current().state.borrow_mut().insert(key.to_owned(), value.to_vec());
    Ok(())
}

pub(crate) fn state_swap(key: &str, expected: Option<&[u8]>, value: &[u8]) -> Result<bool, state::Error> {
    let there = current().state.borrow().get(key).map(Vec::as_slice) == expected;
    if there {
        state_set(key, value)?;
    }
    Ok(there)
}

pub(crate) fn state_delete(key: &str) -> Result<bool, state::Error> {
    Ok(current().state.borrow_mut().remove(key).is_some())
}

pub(crate) fn state_keys(prefix: &str) -> Result<Vec<String>, state::Error> {
    Ok(current().state.borrow().keys().filter(|key| key.starts_with(prefix)).cloned().collect())
}
