//! Secrets: stored, listed, used without being seen, and found nowhere.

use serde_json::json;

use super::{call, home};
use crate::support::binary::Home;

const SECRET: &str = "Jefe-and-some-more-characters";

const ASKS: &str = "[capabilities.secrets]\ntest = [\"hook_*\"]\nsign = [\"hook_key\"]\n";

#[test]
fn secrets_are_stored_listed_rotated_and_removed_without_being_shown() {
    let home = Home::new();
    assert!(home.run("secret list").ok().contains("no secrets"));
    let out = home.fed(&["secret", "set", "hook_key", "--place", "file"], &format!("{SECRET}\n")).ok();
    assert!(out.contains("hook_key") && out.contains("the encrypted file") && !out.contains(SECRET), "{out}");
    home.fed(&["secret", "set", "hook_key"], "another value").fails(3, &["hook_key", "rotate"]);
    home.fed(&["secret", "rotate", "hook_key"], "another value").ok();
    home.fed(&["secret", "rotate", "nobody"], "another value").fails(5, &["nobody"]);
    home.fed(&["secret", "set", "pin"], "1234").fails(3, &["shorter than 8 bytes"]);
    home.fed(&["secret", "rotate", "hook_key"], "1234").fails(3, &["shorter than 8 bytes"]);
    home.fed(&["secret", "set", "Not A Name"], "another value").fails(3, &["not the name of a secret"]);
    let file = home.file("secrets.env", "export API_KEY=\"0123456789abcdef\"\n# comment\nOTHER=0123456789\n");
    let out = home.args(&["secret", "import", file.to_str().unwrap()]).ok();
    assert!(out.contains("api_key") && out.contains("other"), "{out}");
    home.run("secret remove other").ok();
    let names = home.run("secret list --json").json();
    let names: Vec<_> =
        names["secrets"].as_array().unwrap().iter().map(|s| s["name"].as_str().unwrap().to_owned()).collect();
    assert_eq!(names, ["api_key", "hook_key"]);
    home.run("secret remove other").fails(5, &["other"]);
    // In no file of the home, in no usual form.
    let forms = [SECRET.to_owned(), "another value".into(), "0123456789abcdef".into(), "SmVmZS1hbmQt".into()];
    for entry in walk(&home.path().join("home")) {
        let bytes = std::fs::read(&entry).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        assert!(!forms.iter().any(|form| text.contains(form.as_str())), "{}", entry.display());
    }
}

#[test]
fn the_host_signs_and_says_what_is_there_as_far_as_that_was_granted() {
    let home = home("signer", ASKS, "");
    home.fed(&["secret", "set", "hook_key", "--place", "file"], SECRET).ok();
    home.fed(&["secret", "set", "unrelated_key"], "0123456789").ok();
    home.run("grant reach --all").ok();
    assert_eq!(call(&home, "has", &json!({"name": "hook_key"})).ok().trim(), "true");
    assert_eq!(call(&home, "has", &json!({"name": "hook_none"})).ok().trim(), "false");
    call(&home, "has", &json!({"name": "unrelated_key"})).fails(1, &["did not grant"]);
    // HMAC-SHA-256 (RFC 2104) of "message", as openssl has it.
    let expected = expected_signature();
    assert_eq!(call(&home, "signature", &json!({"name": "hook_key"})).ok().trim(), expected);
    call(&home, "signature", &json!({"name": "unrelated_key"})).fails(1, &["did not grant"]);
    home.run("secret remove hook_key").ok();
    call(&home, "signature", &json!({"name": "hook_key"})).fails(1, &["has to store the secret `hook_key`"]);
}

/// What OpenSSL makes of it.
fn expected_signature() -> String {
    let command = format!("printf message | openssl dgst -sha256 -hmac {SECRET} | sed 's/.* //'");
    let output = std::process::Command::new("sh").args(["-c", &command]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let paths = entries.flat_map(|entry| match entry.file_type().unwrap() {
        kind if kind.is_dir() => walk(&entry.path()),
        kind if kind.is_file() => vec![entry.path()],
        _ => Vec::new(),
    });
    paths.collect()
}
