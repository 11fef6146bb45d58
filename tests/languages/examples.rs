//! The examples in JavaScript and Python, built and used as their READMEs say.

use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::{Value, json};

use super::builders;
use crate::readme::blocks;
use crate::repository;
use crate::support::binary::Home;

/// What `tests/languages/install` has done for the reader.
const DONE: [&str; 3] = ["npm ci", "python3 -m venv venv", "venv/bin/pip install -r requirements.txt"];

/// A home in which all commands of the README of `example` have run, with `builder` in its place.
fn followed(example: &str, builder: &str) -> Home {
    let home = Home::new();
    let folder = home.path().join(example);
    copy(&repository().join("examples").join(example), &folder);
    symlink(builders::folder().join(builder), folder.join(builder)).unwrap();
    for line in blocks(&format!("examples/{example}/README.md"), "console") {
        if !DONE.contains(&line.as_str()) {
            let mut command = builders::command("sh");
            command.env("RINGFENCE_HOME", home.path().join("home")).current_dir(&folder);
            let output = command.args(["-c", &line]).output().unwrap();
            assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        }
    }
    home
}

/// A folder with all that git has of it.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let to = to.join(path.file_name().unwrap());
        match path.file_name().unwrap().to_str().unwrap() {
            "node_modules" | "venv" | "deps" => {}
            _ if path.is_dir() => copy(&path, &to),
            _ => drop(std::fs::copy(&path, to).unwrap()),
        }
    }
}

fn structured(home: &Home, tool: &str, params: &Value) -> Value {
    home.args(&["call", "--json", tool, &params.to_string()]).json()["structured"].clone()
}

/// It imports of the contract what its world names, and nothing else.
fn imports_the_log_only(home: &Home, package: &str) {
    let imports = home.args(&["inspect", "--json", package]).json()["imports"].clone();
    assert_eq!(imports, json!(["ringfence:tool/log@0.1.0", "ringfence:tool/types@0.1.0"]));
}

#[test]
fn the_javascript_example_is_built_signed_installed_and_called() {
    let home = followed("javascript-tool", "node_modules");
    imports_the_log_only(&home, "javascript-tool/url.wasm");
    let url = "https://bücher.example:8443/a%20b?q=東京&q=#top";
    let expected = json!({
        "scheme": "https", "host": "xn--bcher-kva.example", "port": 8443, "path": "/a%20b",
        "query": [{"name": "q", "value": "東京"}, {"name": "q", "value": ""}], "fragment": "top",
    });
    assert_eq!(structured(&home, "url__parse", &json!({"url": url})), expected);
    home.args(&["call", "parse", "{\"url\": \"nowhere\"}"]).fails(2, &["no absolute URL"]);
}

#[test]
fn the_python_example_is_built_signed_installed_and_called() {
    let home = followed("python-tool", "venv");
    imports_the_log_only(&home, "python-tool/numbers.wasm");
    let values = json!({"values": [1, 2, 2, 2.5]});
    let expected = json!({"count": 4, "sum": 7.5, "mean": 1.875, "median": 2, "modes": [2]});
    assert_eq!(structured(&home, "numbers__describe", &values), expected);
    let values = json!({"values": [u64::MAX - 1, 1]});
    assert_eq!(structured(&home, "numbers__describe", &values)["sum"], u64::MAX);
    home.args(&["call", "describe", "{\"values\": []}"]).fails(2, &["Give at least one number"]);
}
