//! The components of tests/guests, tools-wasm and examples/rust-tool, built once for the whole run by the code behind `ringfence build`.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use ringfence::author::toolchain::Toolchain;
use ringfence::author::{compile, componentize, package};
use ringfence_guests::{WAT_GUESTS, wat_guest};
use ringfence_package::{PackageInfo, section};
use serde_json::Value;

use crate::repository;

/// The bytes of the guest `name`.
pub fn component(name: &str) -> Arc<[u8]> {
    static GUESTS: OnceLock<HashMap<String, Arc<[u8]>>> = OnceLock::new();
    let guests = GUESTS.get_or_init(build);
    guests.get(name).unwrap_or_else(|| panic!("there is no guest `{name}`")).clone()
}

/// The guest `name` as a package with a manifest, under another name.
pub fn package(name: &str, source: &str, version: &str) -> Vec<u8> {
    pack(name, &manifest(source, version))
}

/// What all test packages say of themselves.
pub fn manifest(source: &str, version: &str) -> String {
    format!("name = \"{source}\"\nversion = \"{version}\"\n{REST}")
}

/// The same in version 1.0.0, with more in its manifest.
#[allow(dead_code, reason = "the benchmarks do not use it")]
pub fn package_with(name: &str, source: &str, more: &str) -> Vec<u8> {
    package_of_version(name, source, "1.0.0", more)
}

/// The same, in any version.
#[allow(dead_code, reason = "the benchmarks do not use it")]
pub fn package_of_version(name: &str, source: &str, version: &str, more: &str) -> Vec<u8> {
    pack(name, &(manifest(source, version) + more))
}

/// A package in whose manifest `field` of what its author says has another value.
pub fn with_field(package: &[u8], field: &str, value: Value) -> Vec<u8> {
    let mut manifest: Value = serde_json::from_slice(section::find(package).unwrap().unwrap()).unwrap();
    manifest["package"][field] = value;
    section::embed(package, manifest.to_string().as_bytes(), true).unwrap()
}

/// The guest `name` as a package with just this manifest.
#[allow(dead_code, reason = "the benchmarks do not use it")]
pub fn package_saying(name: &str, manifest: &str) -> Vec<u8> {
    pack(name, manifest)
}

/// One of our own tools as the package that `ringfence build` makes of it.
#[allow(dead_code, reason = "the benchmarks do not use it")]
pub fn own_package(name: &str) -> Vec<u8> {
    let project = PROJECTS.iter().find(|project| project.ends_with(&format!("/{name}"))).unwrap();
    let manifest = repository().join(project).join("ringfence.toml");
    pack(name, &std::fs::read_to_string(manifest).unwrap())
}

/// What is built beside the examples of tests/guests, each under the name of its folder.
const PROJECTS: [&str; 8] = [
    "examples/rust-tool",
    "tests/guests/mirror_plain",
    "tests/guests/text_waiting",
    "tools-wasm/calc",
    "tools-wasm/github",
    "tools-wasm/text",
    "tools-wasm/weather",
    "tools-wasm/web-search",
];

/// What is the same in all of them.
const REST: &str = "publisher = \"tests\"\ndescription = \"A guest.\"\nlicense = \"MIT\"\n";

fn pack(name: &str, manifest: &str) -> Vec<u8> {
    let info = PackageInfo::parse(manifest).unwrap();
    let component = component(name);
    let made = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(package::with_manifest(&component, info)).unwrap().0
    });
    made.join().unwrap()
}

fn build() -> HashMap<String, Arc<[u8]>> {
    let root = repository();
    let folder = root.join("tests/guests");
    let toolchain = Toolchain::find(&folder).unwrap();
    let mut quiet = |_: &str| {};
    let mut artifacts = compile::examples(&toolchain, &folder, &mut quiet).unwrap();
    for project in PROJECTS {
        let mut artifact = compile::library(&toolchain, &root.join(project), &mut quiet).unwrap();
        artifact.name = project.rsplit('/').next().unwrap().to_owned();
        artifacts.push(artifact);
    }
    let mut guests: HashMap<String, Arc<[u8]>> = artifacts
        .into_iter()
        .map(|artifact| (artifact.name, componentize::componentize(artifact.wasm).unwrap().into()))
        .collect();
    for (name, _) in WAT_GUESTS {
        let module = wat_guest(name).unwrap();
        // What is no component stays what it is, for the tests that hand it in.
        let component = componentize::componentize(module.clone()).unwrap_or(module);
        guests.insert(name.to_owned(), component.into());
    }
    guests
}
