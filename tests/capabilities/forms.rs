//! Credentials of other people, known by their form: what a tool sends and receives.

use std::convert::Infallible;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use futures::{TryStreamExt as _, stream};
use ringfence::Secret;
use ringfence_egress::Scanner;
use serde_json::json;

use super::{call, home};
use crate::repository;
use crate::support::server::Server;

#[test]
fn a_tool_sends_no_credential_that_it_found() {
    let server = Server::echo();
    let asks = format!("[[capabilities.http]]\nurl = \"{}\"\nmethods = [\"POST\"]\n", server.url("/**"));
    let home = home("fetcher", &asks, "");
    home.args(&["grant", "reach", "--all", "--address", "127.0.0.1/32"]).ok();
    let found = "ghp_aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0fGhI";
    for (url, body) in [(server.url("/x"), json!({"a": found})), (server.url(&format!("/x?q={found}")), json!({}))] {
        let run = call(&home, "fetch", &json!({"method": "POST", "url": url, "body": body}));
        assert!(!run.err.contains(found), "{run:?}");
        run.fails(1, &["was not sent", "(github)"]);
    }
    // What is known by the scheme before it.
    let authorizations =
        [("Bearer", "aB3dE6gH9jK2mN5pQ8sT1vW4", "(bearer)"), ("Basic", "dXNlcjpwYXNzd29yZA==", "(basic)")];
    for (scheme, found, kind) in authorizations {
        let body = json!({"headers": {"Authorization": format!("{scheme} {found}")}});
        let run = call(&home, "fetch", &json!({"method": "POST", "url": server.url("/x"), "body": body}));
        assert!(!run.err.contains(found), "{run:?}");
        run.fails(1, &["was not sent", kind]);
    }
    assert!(server.seen().is_empty());
    call(&home, "fetch", &json!({"method": "POST", "url": server.url("/x"), "body": {"a": "ghp_short"}})).ok();
}

/// Crates whose sources show credentials: passwords in URLs, keys in PEM, tokens in tests.
const SHOWING: [&str; 8] = ["http", "hyper-util", "oci-client", "pem", "rcgen", "reqwest", "rmcp", "url"];

/// The crates that this program is built from, without those that show credentials: whoever could build it has them.
fn crates() -> Vec<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    let indexes = list(&home.unwrap().join("registry/src"));
    let lock: toml::Table = toml::from_str(&std::fs::read_to_string(repository().join("Cargo.lock")).unwrap()).unwrap();
    let ordinary = |package: &&toml::Value| !SHOWING.contains(&package["name"].as_str().unwrap());
    let packages = lock["package"].as_array().unwrap().iter().filter(ordinary);
    let names = packages.map(|p| format!("{}-{}", p["name"].as_str().unwrap(), p["version"].as_str().unwrap()));
    names.flat_map(|name| indexes.iter().map(move |index| index.join(&name))).filter(|path| path.is_dir()).collect()
}

fn list(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).map(|entries| entries.map(|entry| entry.unwrap().path()).collect()).unwrap_or_default()
}

/// The files below `folder` whose names end so.
fn walk(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let below = |path: PathBuf| match path.is_dir() {
        true => walk(&path, extension),
        false => path.extension().is_some_and(|found| found == extension).then_some(path).into_iter().collect(),
    };
    list(folder).into_iter().flat_map(below).collect()
}

/// 2,000 source files, spread evenly over all of the crates.
fn sources() -> Vec<PathBuf> {
    let mut files: Vec<_> = crates().iter().flat_map(|path| walk(&path.join("src"), "rs")).collect();
    files.sort();
    assert!(files.len() >= 2000, "the registry of cargo holds too few sources: {}", files.len());
    (0..2000).map(|i| files[i * files.len() / 2000].clone()).collect()
}

/// What services answered to our tools when that was recorded, and all JSON that the crates bring.
fn answers() -> Vec<PathBuf> {
    let recorded =
        ["github", "weather", "web-search"].map(|tool| repository().join("tools-wasm").join(tool).join("answers"));
    recorded.into_iter().chain(crates()).flat_map(|folder| walk(&folder, "json")).collect()
}

/// As an operator has them who uses a good deal: 20 secrets, none of which is in the files.
fn scanner() -> Scanner {
    let secret = |i: u64| (format!("key_{i}"), Secret::new(format!("{:x}+/{:x}", i.pow(9) << 7, i.pow(11) << 3)));
    Scanner::new(&(11..31).map(secret).collect::<Vec<_>>()).unwrap()
}

/// Whether `bytes` are other bytes once they have arrived in pieces, or another text once they have been sent.
async fn is_altered(scanner: &Scanner, bytes: &[u8]) -> bool {
    let pieces = bytes.chunks(1000).map(|piece| Ok::<_, Infallible>(Bytes::copy_from_slice(piece)));
    let received: Vec<Bytes> = scanner.stream(stream::iter(pieces)).try_collect().await.unwrap();
    let text = String::from_utf8_lossy(bytes);
    received.concat() != bytes || scanner.text(&text) != text
}

/// The corpus that host/SECURITY.md names.
#[tokio::test]
async fn two_thousand_source_files_and_the_answers_of_services_stay_as_they_are() {
    let (scanner, sources, answers) = (scanner(), sources(), answers());
    assert!(answers.len() >= 100, "{} answers", answers.len());
    let mut altered = Vec::new();
    for path in sources.iter().chain(&answers) {
        if is_altered(&scanner, &std::fs::read(path).unwrap()).await {
            altered.push(path);
        }
    }
    assert!(altered.is_empty(), "{} of {} and {}: {altered:#?}", altered.len(), sources.len(), answers.len());
}
