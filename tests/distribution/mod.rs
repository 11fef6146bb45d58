//! Where packages come from and go to: URLs, folders and indexes, registries, updates.

mod folders;
mod registries;
mod tokens;
mod updates;
mod urls;

use std::path::{Path, PathBuf};

use crate::support::binary::{Home, Run};
use crate::support::guests;

/// A home that trusts the key `acme` and may ask this machine.
fn home() -> Home {
    let home = Home::new();
    home.file("home/config.toml", "[distribution]\naddresses = [\"127.0.0.1/32\"]\n");
    home.key("acme");
    home.trust("acme", &["*"]);
    home
}

/// The package `weather`, signed by acme, with more in its manifest.
fn weather(home: &Home, version: &str, more: &str) -> PathBuf {
    let file =
        home.file(&format!("{version}/weather.wasm"), guests::package_of_version("mirror", "weather", version, more));
    home.sign(&file, "acme");
    file
}

fn publish(home: &Home, file: &Path, to: &str) -> Run {
    home.args(&["publish", file.to_str().unwrap(), "--to", to, "--json"])
}

/// What is installed as `weather`.
fn installed(home: &Home) -> serde_json::Value {
    home.run("list --json").json()[0].clone()
}

/// `bytes` as the digest that `--digest` takes.
fn digest(bytes: &[u8]) -> String {
    format!("sha256:{}", ringfence_store::Digest::of(bytes))
}

/// Changes one bit in the middle of a file.
fn tamper(file: &Path) {
    let mut bytes = std::fs::read(file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(file, bytes).unwrap();
}
