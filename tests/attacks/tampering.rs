//! One byte changed anywhere in file, manifest, key id, signature, comment or compiled code: it never runs.

use std::fs;
use std::path::{Path, PathBuf};

use ringfence_package::{PublicKey, Signature};

use crate::support::binary::Home;
use crate::support::packages::signed;

/// An installed and signed `mirror`, called once so that everything is in place.
fn installed() -> (Home, PathBuf) {
    let (home, file) = signed("mirror", "1.0.0");
    home.args(&["install", file.to_str().unwrap()]).ok();
    home.args(&["call", "mirror__run", "{\"n\": 1}"]).ok();
    (home, file)
}

/// Whether the signature `text` holds for `component` under `key`.
fn holds(component: &[u8], text: &[u8], key: &PublicKey) -> bool {
    Signature::parse(text).is_ok_and(|signature| signature.verify(component, &key.clone().into()).is_ok())
}

#[test]
fn no_byte_of_the_signature_can_be_changed_but_in_the_untrusted_comment() {
    let (home, file) = signed("mirror", "1.0.0");
    let (component, signature) = (fs::read(&file).unwrap(), fs::read(format!("{}.minisig", file.display())).unwrap());
    let key = PublicKey::parse(&fs::read_to_string(home.path().join("acme.pub")).unwrap()).unwrap();
    assert!(holds(&component, &signature, &key));
    let covered = signature.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for place in covered..signature.len() - 1 {
        for bit in 0..8 {
            let mut changed = signature.clone();
            changed[place] ^= 1 << bit;
            let text = (String::from_utf8_lossy(&signature), String::from_utf8_lossy(&changed));
            assert!(!holds(&component, &changed, &key), "byte {place}, bit {bit}: {text:?}");
        }
    }
}

#[test]
fn no_byte_of_the_component_or_its_manifest_can_be_changed() {
    let (home, file) = signed("mirror", "1.0.0");
    let (component, signature) = (fs::read(&file).unwrap(), fs::read(format!("{}.minisig", file.display())).unwrap());
    let key = PublicKey::parse(&fs::read_to_string(home.path().join("acme.pub")).unwrap()).unwrap();
    let manifest = ringfence_package::section::find(&component).unwrap().unwrap();
    let manifest_at = component.windows(manifest.len()).position(|window| window == manifest).unwrap();
    // Every byte of the manifest and around it, and a sample of the rest: each takes a hash of the whole.
    let places = (0..component.len()).step_by(997).chain(manifest_at - 40..component.len());
    for place in places {
        let mut changed = component.clone();
        changed[place] ^= 1 << (place % 8);
        assert!(!holds(&changed, &signature, &key), "byte {place}");
    }
    let mut longer = component.clone();
    longer.push(0);
    assert!(!holds(&longer, &signature, &key));
    assert!(!holds(&component[..component.len() - 1], &signature, &key));
}

#[test]
fn a_tampered_file_is_refused_by_the_binary() {
    let (home, file) = signed("mirror", "1.0.0");
    let component = fs::read(&file).unwrap();
    for place in [0, 9, component.len() / 2, component.len() - 2] {
        let mut changed = component.clone();
        changed[place] ^= 1;
        fs::write(&file, changed).unwrap();
        home.args(&["install", file.to_str().unwrap()]).fails(3, &["signature"]);
    }
}

#[test]
fn an_installed_component_that_is_altered_does_not_run() {
    let (home, _) = installed();
    let component = only_file(&home, "tools", "wasm");
    let whole = fs::read(&component).unwrap();
    for place in [0, whole.len() / 3, whole.len() - 1] {
        let mut changed = whole.clone();
        changed[place] ^= 1;
        fs::write(&component, changed).unwrap();
        home.args(&["call", "mirror__run", "{\"n\": 1}"]).fails(6, &["was altered", "install it again"]);
    }
    fs::write(&component, whole).unwrap();
    home.args(&["call", "mirror__run", "{\"n\": 1}"]).ok();
}

#[test]
fn compiled_code_that_is_altered_or_foreign_is_compiled_anew() {
    let (home, _) = installed();
    let compiled = only_file(&home, "compiled", "");
    let whole = fs::read(&compiled).unwrap();
    let places = [0, 100, whole.len() / 2, whole.len() - 33, whole.len() - 1];
    for changed in places.map(|place| flipped(&whole, place)).into_iter().chain([Vec::new(), whole[1..].to_vec()]) {
        fs::write(&compiled, &changed).unwrap();
        assert!(home.args(&["call", "mirror__run", "{\"n\": 1}"]).ok().contains("\"n\""));
        assert_ne!(fs::read(&compiled).unwrap(), changed, "it was compiled anew");
    }
    // What another host compiled, from the same component, under the same engine.
    let (other, _) = installed();
    fs::copy(only_file(&other, "compiled", ""), &compiled).unwrap();
    let foreign = fs::read(&compiled).unwrap();
    home.args(&["call", "mirror__run", "{\"n\": 1}"]).ok();
    assert_ne!(fs::read(&compiled).unwrap(), foreign);
}

#[test]
fn a_changed_audit_log_is_found() {
    let (home, _) = installed();
    assert!(home.run("audit --verify").ok().contains("is whole"));
    let log = only_file(&home, "audit", "jsonl");
    let text = fs::read_to_string(&log).unwrap();
    fs::write(&log, text.replacen("mirror", "mirrox", 1)).unwrap();
    home.run("audit --verify").fails(1, &["altered"]);
}

#[test]
fn a_cut_audit_log_is_found() {
    let (home, _) = installed();
    let log = only_file(&home, "audit", "jsonl");
    let text = fs::read_to_string(&log).unwrap();
    let kept: Vec<&str> = text.lines().take(2).collect();
    fs::write(&log, format!("{}\n", kept.join("\n"))).unwrap();
    home.run("audit --verify").fails(1, &["gaps", "are missing"]);
}

fn flipped(bytes: &[u8], place: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[place] ^= 1;
    bytes
}

/// The one file with this extension in a folder of the state; without an extension, the one file.
fn only_file(home: &Home, folder: &str, extension: &str) -> PathBuf {
    let has = |path: &Path| extension.is_empty() || path.extension().is_some_and(|e| e == extension);
    let folder = home.path().join("home/state").join(folder);
    let files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).filter(|p| has(p)).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    files[0].clone()
}
