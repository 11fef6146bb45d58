//! A file that is not what it should be is refused with its cause and a remedy, and leaves nothing behind.

use std::path::Path;

use serde_json::json;

use crate::support::binary::Home;
use crate::support::packages::{package, signed};
use crate::support::{guests, packages};

/// Installing `bytes`, with a right signature, fails with an error that says all of `parts`; nothing is left.
#[track_caller]
fn refused(bytes: impl AsRef<[u8]>, parts: &[&str]) {
    let home = Home::new();
    let file = home.file("tool.wasm", bytes);
    home.args(&["install", file.to_str().unwrap(), "--allow-unsigned"]).fails(3, parts);
    leaves_nothing(&home);
}

#[track_caller]
fn leaves_nothing(home: &Home) {
    assert_eq!(home.run("list --json").json(), json!([]));
    for folder in ["tools", "compiled"] {
        let left: Vec<_> = std::fs::read_dir(home.path().join("home/state").join(folder)).unwrap().collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

/// The guest `mirror` with `manifest` in its section.
fn with_manifest(manifest: &[u8]) -> Vec<u8> {
    ringfence_package::section::embed(&guests::component("mirror"), manifest, true).unwrap()
}

/// A right manifest of `mirror`, as JSON.
fn manifest() -> serde_json::Value {
    let package = guests::package("mirror", "mirror", "1.0.0");
    serde_json::from_slice(ringfence_package::section::find(&package).unwrap().unwrap()).unwrap()
}

#[test]
fn what_is_no_component() {
    refused("", &["the file is empty"]);
    refused("#!/bin/sh\necho hello\n", &["not WebAssembly"]);
    let whole = guests::package("mirror", "mirror", "1.0.0");
    refused(&whole[..whole.len() / 2], &["truncated or damaged"]);
    refused(guests::component("core_module"), &["core module, expected a component"]);
}

#[test]
fn what_speaks_another_contract() {
    refused(guests::component("contract_99"), &["99.0.0", "0.1.0"]);
    refused(guests::component("many_tables"), &["no manifest"]);
}

#[test]
fn what_imports_what_this_host_does_not_have() {
    let manifest = serde_json::to_vec(&manifest()).unwrap();
    let bytes = ringfence_package::section::embed(&guests::component("extra_import"), &manifest, true).unwrap();
    refused(bytes, &["erase", "rebuild the tool"]);
}

#[test]
fn what_has_no_tools() {
    let mut manifest = manifest();
    manifest["tools"] = json!([]);
    refused(with_manifest(manifest.to_string().as_bytes()), &["no tools"]);
}

#[test]
fn manifests_that_are_missing_or_wrong() {
    refused(guests::component("mirror"), &["no manifest", "ringfence build"]);
    refused(with_manifest(b"{\"format\": 1,"), &["malformed"]);
    let mut unknown = manifest();
    unknown["package"]["publsher"] = json!("x");
    refused(with_manifest(unknown.to_string().as_bytes()), &["publsher", "did you mean `publisher`"]);
    let mut large = manifest();
    large["tools"][0]["long_doc"] = json!("x".repeat(256 << 10));
    refused(with_manifest(large.to_string().as_bytes()), &["at most 262144 are allowed"]);
}

#[test]
fn two_manifests() {
    let mut twice = guests::package("mirror", "mirror", "1.0.0");
    let section = ringfence_package::section::find(&twice).unwrap().unwrap().to_vec();
    let single = guests::component("mirror");
    let appended = ringfence_package::section::embed(&single, &section, true).unwrap();
    twice.extend_from_slice(&appended[single.len()..]);
    refused(twice, &["2 manifests"]);
}

#[test]
fn a_signature_that_is_missing() {
    let home = Home::new();
    let file = package(&home, "mirror", "1.0.0");
    home.args(&["install", file.to_str().unwrap()]).fails(3, &["not signed", ".minisig"]);
    leaves_nothing(&home);
}

#[test]
fn a_signature_of_other_bytes() {
    let (home, file) = signed("mirror", "1.0.0");
    let other = package(&home, "slow", "1.0.0");
    std::fs::copy(beside(&file), beside(&other)).unwrap();
    home.args(&["install", other.to_str().unwrap()]).fails(3, &["signature"]);
    leaves_nothing(&home);
}

#[test]
fn a_signature_by_an_unknown_key_and_by_a_revoked_one() {
    let home = Home::new();
    home.key("acme");
    let file = package(&home, "mirror", "1.0.0");
    home.sign(&file, "acme");
    home.args(&["install", file.to_str().unwrap()]).fails(3, &["is not trusted", "ringfence trust add"]);
    home.trust("acme", &["mirror"]);
    let id = home.run("trust list --json").json()[0]["key_id"].as_str().unwrap().to_owned();
    home.args(&["trust", "revoke", &id, "--reason", "stolen"]).ok();
    home.args(&["install", file.to_str().unwrap()]).fails(3, &["revoked", "stolen"]);
    leaves_nothing(&home);
}

#[test]
fn a_key_signs_only_the_names_that_were_given_to_it() {
    let home = Home::new();
    home.key("acme");
    home.trust("acme", &["weather*"]);
    let file = package(&home, "mirror", "1.0.0");
    home.sign(&file, "acme");
    home.args(&["install", file.to_str().unwrap()]).fails(3, &["mirror", "weather*"]);
    home.args(&["install", file.to_str().unwrap(), "--as", "weather-echo"]).ok();
}

#[test]
fn another_signer_than_pinned_and_an_older_version() {
    let (home, old) = signed("mirror", "1.2.0");
    home.args(&["install", old.to_str().unwrap()]).ok();

    let older = package(&home, "mirror", "1.1.9");
    home.sign(&older, "acme");
    home.args(&["install", older.to_str().unwrap()]).fails(3, &["older than 1.2.0", "--allow-downgrade"]);

    let same = home.file("same.wasm", guests::package("slow", "mirror", "1.2.0"));
    home.sign(&same, "acme");
    home.args(&["install", same.to_str().unwrap()]).fails(3, &["1.2.0", "other contents"]);

    let newer = package(&home, "mirror", "1.10.0");
    home.sign(&newer, "acme");
    home.args(&["install", newer.to_str().unwrap()]).ok();

    home.key("other");
    home.trust("other", &["*"]);
    let stranger = package(&home, "mirror", "1.12.0");
    home.sign(&stranger, "other");
    home.args(&["install", stranger.to_str().unwrap()]).fails(3, &["was last installed from", "--accept-signer"]);

    home.run("remove mirror").ok();
    home.args(&["install", older.to_str().unwrap()]).fails(3, &["older than 1.10.0"]);
    home.args(&["install", older.to_str().unwrap(), "--allow-downgrade"]).ok();
}

#[test]
fn unsigned_packages_are_marked_for_ever() {
    let home = Home::new();
    packages::install_unsigned(&home, "mirror");
    assert!(home.run("list").ok().contains("UNSIGNED"));
    home.args(&["call", "mirror__run", "{\"n\": 1}"]).ok();
    let events = home.args(&["audit", "--json"]).json();
    assert!(events.as_array().unwrap().iter().any(|event| event["origin"] == "unsigned"), "{events:#}");
}

#[test]
fn revoking_a_key_stops_what_it_signed_and_nothing_else() {
    let (home, file) = signed("mirror", "1.0.0");
    home.args(&["install", file.to_str().unwrap()]).ok();
    packages::install_unsigned(&home, "slow");
    let id = home.run("trust list --json").json()[0]["key_id"].as_str().unwrap().to_owned();
    home.args(&["trust", "revoke", &id]).ok();
    home.args(&["call", "mirror__run", "{}"]).fails(6, &["`mirror` is stopped", "was revoked"]);
    home.args(&["tools", "mirror__run"]).fails(5, &["`mirror` is stopped", "was revoked"]);
    assert!(home.run("list").ok().contains("is stopped: "));
    home.args(&["call", "slow__run", "{\"n\": 1}"]).ok();
    home.run("remove mirror").ok();
    home.args(&["call", "mirror__run", "{}"]).fails(5, &["there is no tool"]);
}

fn beside(file: &Path) -> String {
    format!("{}.minisig", file.display())
}
