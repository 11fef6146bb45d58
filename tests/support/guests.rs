//! The components of tests/guests and tools-wasm, built once for the whole run by the code behind `ringfence build`.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use ringfence::author::toolchain::Toolchain;
use ringfence::author::{compile, componentize};

use super::repository;

/// The bytes of the guest `name`.
pub fn component(name: &str) -> Arc<[u8]> {
    static GUESTS: OnceLock<HashMap<String, Arc<[u8]>>> = OnceLock::new();
    let guests = GUESTS.get_or_init(build);
    guests.get(name).unwrap_or_else(|| panic!("there is no guest `{name}`")).clone()
}

fn build() -> HashMap<String, Arc<[u8]>> {
    let root = repository();
    let folder = root.join("tests/guests");
    let toolchain = Toolchain::find(&folder).unwrap();
    let mut quiet = |_: &str| {};
    let mut artifacts = compile::examples(&toolchain, &folder, &mut quiet).unwrap();
    for project in ["tests/guests/echo_plain", "tools-wasm/calc", "tools-wasm/text"] {
        let mut artifact = compile::library(&toolchain, &root.join(project), &mut quiet).unwrap();
        artifact.name = project.rsplit('/').next().unwrap().to_owned();
        artifacts.push(artifact);
    }
    let mut guests: HashMap<String, Arc<[u8]>> = artifacts
        .into_iter()
        .map(|artifact| (artifact.name, componentize::componentize(artifact.wasm).unwrap().into()))
        .collect();
    for entry in std::fs::read_dir(folder.join("wat")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        guests.insert(name, from_wat(&path).into());
    }
    guests
}

/// A file of WAT: a component as it stands, or a core module that speaks the contract.
fn from_wat(path: &std::path::Path) -> Vec<u8> {
    let wasm = wat::parse_file(path).unwrap();
    if wasmparser::Parser::is_component(&wasm) { wasm } else { componentize::with_contract(wasm).unwrap() }
}
