//! Files that are no packages: each has its own error, and leaves nothing behind.

use ringfence_package::{InstallOptions, PackageFile, manifest, section};
use serde_json::{Value, json};

use crate::support::{Publisher, bare_component, install, open, package, trust};

/// What makes the file wrong, the file, the code of its error, and what the message has to say.
type Case = (&'static str, Vec<u8>, &'static str, &'static str);

fn with_manifest(bytes: &[u8]) -> Vec<u8> {
    section::embed(&bare_component(), bytes, false).unwrap()
}

fn good_manifest() -> Vec<u8> {
    crate::support::manifest("weather", "1.0.0").to_bytes().unwrap()
}

/// A component that exports a function and knows nothing of us.
fn plain_component() -> Vec<u8> {
    wat(r#"(component (core module $m (func (export "f"))) (core instance $i (instantiate $m))
        (func (export "f") (canon lift (core func $i "f"))))"#)
}

/// The good manifest with something changed in it.
fn changed(change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let mut value = serde_json::from_slice(&good_manifest()).unwrap();
    change(&mut value);
    with_manifest(value.to_string().as_bytes())
}

fn wat(text: &str) -> Vec<u8> {
    wat::parse_str(text).unwrap()
}

fn cases() -> Vec<Case> {
    let good = package("weather", "1.0.0");
    let invalid = wat("(component (import \"a\" (func $f)) (export \"b\" (func $f)))");
    let invalid = [&invalid[..], &[1, 1, 0]].concat();
    vec![
        ("empty", vec![], "component.empty", "copied in full"),
        ("text", b"#!/bin/sh\n".to_vec(), "component.not_wasm", "ringfence build"),
        ("magic only", b"\0asm".to_vec(), "component.invalid", "truncated"),
        ("truncated", good[..good.len() / 2].to_vec(), "component.invalid", "truncated"),
        ("invalid", invalid, "component.invalid", "damaged"),
        ("too large", vec![0; (64 << 20) + 1], "component.too_large", "67108864"),
        ("core module", wat("(module)"), "component.core_module", "expected a component"),
        ("no contract", wat("(component)"), "component.no_contract", "ringfence:tool/guest"),
        (
            "other contract exported",
            wat("(component (instance $i) (export \"ringfence:tool/guest@99.0.0\" (instance $i)))"),
            "component.other_contract",
            "99.0.0",
        ),
        (
            "other contract imported",
            wat("(component (import \"ringfence:tool/log@0.2.0\" (instance)))"),
            "component.other_contract",
            ringfence_wit::VERSION,
        ),
        (
            "other version of another contract",
            wat("(component (instance $i) (export \"near:agent/tool@0.4.0\" (instance $i)))"),
            "component.other_contract",
            "0.3.0 and 0.4.1",
        ),
        (
            "another contract under the name of ours",
            section::embed(
                &wat("(component (instance $i) (export \"near:agent/tool@0.3.0\" (instance $i)))"),
                &good_manifest(),
                false,
            )
            .unwrap(),
            "manifest.wrong_contract",
            "speaks `near:agent@0.3.0`",
        ),
        ("manifest missing", bare_component(), "manifest.missing", "ringfence build"),
        ("manifest not JSON", with_manifest(b"{"), "manifest.malformed", "line 1"),
        ("manifest not UTF-8", with_manifest(b"\"\xff\""), "manifest.malformed", "malformed"),
        ("manifest too large", with_manifest(&vec![b' '; manifest::MAX_BYTES + 1]), "manifest.too_large", "262144"),
        ("no tools", changed(|m| m["tools"] = json!([])), "manifest.no_tools", "attribute"),
        (
            "too many tools",
            changed(|m| {
                let tool = m["tools"][0].clone();
                m["tools"] = (0..257)
                    .map(|i| {
                        let mut t = tool.clone();
                        t["name"] = json!(format!("t{i}"));
                        t
                    })
                    .collect();
            }),
            "manifest.too_many_tools",
            "256",
        ),
        ("unknown field", changed(|m| m["tolls"] = json!([])), "manifest.unknown_field", "did you mean `tools`?"),
        (
            "unknown field of the package",
            changed(|m| m["package"]["licence"] = json!("MIT")),
            "manifest.unknown_field",
            "did you mean `license`?",
        ),
        (
            "unknown field of a tool",
            changed(|m| m["tools"][0]["x"] = json!(1)),
            "manifest.unknown_field",
            "unknown field `x`",
        ),
        (
            "unknown limit",
            changed(|m| m["package"]["limits"] = json!({"feul": 1})),
            "manifest.unknown_field",
            "did you mean `fuel`?",
        ),
        ("other format", changed(|m| m["format"] = json!(2)), "manifest.format", "format 2"),
        (
            "other format with new fields",
            changed(|m| {
                m["format"] = json!(2);
                m["new"] = json!(1);
            }),
            "manifest.format",
            "2",
        ),
        ("other contract in the manifest", changed(|m| m["contract"] = json!("9.9.9")), "manifest.contract", "9.9.9"),
        (
            "plain functions under the name of the contract",
            section::embed(&plain_component(), &good_manifest(), false).unwrap(),
            "manifest.wrong_contract",
            "speaks `plain`",
        ),
        (
            "no plain functions after all",
            changed(|m| m["contract"] = json!("plain")),
            "manifest.wrong_contract",
            "0.1.0",
        ),
        ("reserved tool", changed(|m| m["tools"][0]["name"] = json!("shell")), "manifest.tool_name", "reserved"),
        ("bad tool name", changed(|m| m["tools"][0]["name"] = json!("Über")), "manifest.tool_name", "letter"),
        ("tool twice", changed(|m| m["tools"][1]["name"] = json!("today")), "manifest.tool_name", "twice"),
        ("reserved package", package("native", "1.0.0"), "install.reserved_name", "--as"),
        ("reserved for the bridge", package("mcp", "1.0.0"), "install.reserved_name", "--as"),
    ]
}

#[test]
fn every_wrong_file_has_its_own_error_and_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let installer = open(dir.path());
    let publisher = Publisher::new();
    trust(&installer, &publisher, &["*"]);
    for (what, component, code, says) in cases() {
        // Signed or not, a file is equally wrong.
        let unsigned = InstallOptions { allow_unsigned: true, ..InstallOptions::default() };
        let files = [
            (publisher.sign(component.clone()), InstallOptions::default()),
            (PackageFile { component, signature: None }, unsigned),
        ];
        for (file, options) in files {
            let error = install(&installer, file, options).unwrap_err();
            assert_eq!(error.code(), code, "{what}: {error}");
            assert!(error.to_string().contains(says), "{what}: {error}");
        }
        for folder in ["tools", "compiled"] {
            assert_eq!(fs_err::read_dir(dir.path().join(folder)).unwrap().count(), 0, "{what} left a file");
        }
        assert!(installer.inventory().unwrap().installed.is_empty());
    }
}

#[test]
fn what_is_wrong_with_the_manifest_is_not_looked_at_before_the_signature() {
    let dir = tempfile::tempdir().unwrap();
    let installer = open(dir.path());
    let file = Publisher::new().sign(b"not even WebAssembly".to_vec());
    assert_eq!(install(&installer, file, InstallOptions::default()).unwrap_err().code(), "trust.unknown_key");
}
