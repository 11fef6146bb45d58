//! The guests of this folder as components: built by the builders that `tests/languages/install` puts below `target`, once
//! for each content.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use ringfence_store::{Digest, write_atomically};

use crate::repository;

/// Where the builders are, and what they built.
pub fn folder() -> PathBuf {
    repository().join("target/languages")
}

/// `program`, with the builders and our binary on its path.
///
/// # Panics
/// When they are missing: a test that was skipped would show nothing.
pub fn command(program: &str) -> Command {
    static MISSING: OnceLock<String> = OnceLock::new();
    let missing = MISSING.get_or_init(|| {
        let check = Command::new(repository().join("tests/languages/install")).arg("--check").output().unwrap();
        String::from_utf8(check.stderr).unwrap()
    });
    assert!(missing.is_empty(), "{missing}");
    let ours = Path::new(env!("CARGO_BIN_EXE_ringfence")).parent().unwrap().to_owned();
    let bins = [ours, folder().join("venv/bin"), folder().join("node_modules/.bin")];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(bins.into_iter().chain(std::env::split_paths(&path))).unwrap();
    let mut command = Command::new("env");
    command.arg(program).env("PATH", path);
    command
}

/// A file of a build: its place in the folder of the build, and its place in the repository.
type File = (&'static str, &'static str);

/// What the builds of both languages need.
const CONTRACT: [File; 3] = [
    ("wit/world.wit", "tests/languages/world.wit"),
    ("wit/deps/environment.wit", "tests/languages/environment.wit"),
    ("wit/deps/tool.wit", "wit/tool.wit"),
];

/// The guest `trials` in JavaScript.
pub fn javascript_trials() -> Vec<u8> {
    let files = [
        ("trials.js", "tests/languages/trials.js"),
        ("ringfence.js", "examples/javascript-tool/ringfence.js"),
        ("package-lock.json", "examples/javascript-tool/package-lock.json"),
    ];
    let build = "componentize-js trials.js --wit wit --world-name javascript-trials \
                 --disable stdio random clocks http fetch-event --out trials.wasm";
    built("javascript", &files, build)
}

/// The guest `trials` in Python. It reads its environment, so WASI is left to it.
pub fn python_trials() -> Vec<u8> {
    let files = [
        ("trials.py", "tests/languages/trials.py"),
        ("ringfence.py", "examples/python-tool/ringfence.py"),
        ("requirements.txt", "examples/python-tool/requirements.txt"),
    ];
    let build = "componentize-py --wit-path wit --world trials componentize trials --output trials.wasm";
    built("python", &files, build)
}

/// What `build` makes of `files` and the contract.
fn built(language: &str, files: &[File], build: &str) -> Vec<u8> {
    let read = |(name, path): &File| (*name, std::fs::read(repository().join(path)).unwrap());
    let files: Vec<(&str, Vec<u8>)> = CONTRACT.iter().chain(files).map(read).collect();
    let mut all = build.as_bytes().to_vec();
    for (name, content) in &files {
        all.extend_from_slice(format!("\n{name} {}\n", content.len()).as_bytes());
        all.extend_from_slice(content);
    }
    let kept = folder().join(format!("trials-{language}-{:.16}.wasm", Digest::of(&all).to_string()));
    if let Ok(component) = std::fs::read(&kept) {
        return component;
    }
    let place = tempfile::tempdir().unwrap();
    for (name, content) in &files {
        let file = place.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, content).unwrap();
    }
    run(build, place.path());
    let component = std::fs::read(place.path().join("trials.wasm")).unwrap();
    // Whole or not at all, whoever else builds it at the same time.
    write_atomically(&kept, &[&component]).unwrap();
    component
}

/// Runs a command of the builders.
pub fn run(line: &str, folder: &Path) {
    let mut words = line.split_whitespace();
    let mut command = command(words.next().unwrap());
    let output = command.args(words).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "`{line}`: {}", String::from_utf8_lossy(&output.stderr));
}
