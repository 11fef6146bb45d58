//! Credentials of other people, known by their form: what a tool sends and receives.

use std::path::{Path, PathBuf};

use ringfence_egress::Scanner;
use serde_json::json;

use super::{call, home};
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
    assert!(server.seen().is_empty());
    call(&home, "fetch", &json!({"method": "POST", "url": server.url("/x"), "body": {"a": "ghp_short"}})).ok();
}

/// Crates whose sources show credentials: passwords in URLs, keys in PEM, tokens in tests.
const SHOWING: [&str; 8] = ["http-", "hyper-util-", "oci-client-", "pem-", "rcgen-", "reqwest-", "rmcp-", "url-"];

/// The sources of the crates that this program is built from, which every machine has that could build it.
fn sources() -> Vec<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    let registry = home.unwrap().join("registry/src");
    let crates = list(&registry).iter().flat_map(|index| list(index)).collect::<Vec<_>>();
    let shows = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        SHOWING
            .iter()
            .any(|prefix| name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())))
    };
    let mut files =
        crates.iter().filter(|path| !shows(path)).flat_map(|path| walk(&path.join("src"))).collect::<Vec<_>>();
    files.sort();
    files
}

fn list(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).map(|entries| entries.map(|entry| entry.unwrap().path()).collect()).unwrap_or_default()
}

fn walk(folder: &Path) -> Vec<PathBuf> {
    let below = |path: PathBuf| match path.is_dir() {
        true => walk(&path),
        false => path.extension().is_some_and(|extension| extension == "rs").then_some(path).into_iter().collect(),
    };
    list(folder).into_iter().flat_map(below).collect()
}

/// Of 2,000 ordinary source files none is altered on its way in, or kept from its way out.
#[test]
fn two_thousand_source_files_stay_as_they_are() {
    let files = sources();
    let every = files.len().div_ceil(2000).max(1);
    let sample: Vec<&PathBuf> = files.iter().step_by(every).collect();
    assert!(sample.len() >= 1000, "the registry of cargo holds too few sources: {}", files.len());
    let scanner = Scanner::new(&[]).unwrap();
    let altered = |path: &&&PathBuf| {
        let text = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
        scanner.text(&text) != text
    };
    let altered: Vec<_> = sample.iter().filter(altered).collect();
    assert!(altered.is_empty(), "{} of {}: {altered:#?}", altered.len(), sample.len());
}
