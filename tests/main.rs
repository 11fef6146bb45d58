//! The one harness of the end-to-end tests: real binary, real components, real signatures.
//!
//! A folder or file a capability; `attacks/` has a file for each promise of host/SECURITY.md.

#![allow(unreachable_pub, missing_docs, reason = "nothing here is anybody's API")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so")]
#![allow(clippy::disallowed_methods, reason = "the tests start programs and look at files as a user would")]

use std::collections::BTreeSet;

mod architecture;
mod attacks;
mod author;
mod capabilities;
mod cli;
mod contract;
mod distribution;
mod embed;
mod exits;
mod fields;
mod fuzzing;
mod identities;
mod languages;
mod limits;
mod long;
mod mcp;
mod mcp_clients;
mod near_agent;
mod network_tools;
mod packages;
mod pipeline;
mod readme;
mod settings;
mod support;
mod terminal;
mod tools;

pub(crate) use support::repository;

/// A file that nobody lists here would be a test that nobody runs.
#[test]
fn no_file_is_forgotten() {
    let root = repository().join("tests");
    let main = std::fs::read_to_string(root.join("main.rs")).unwrap();
    let attacks = std::fs::read_to_string(root.join("attacks/mod.rs")).unwrap();
    for (folder, listed) in [(root.clone(), main), (root.join("attacks"), attacks)] {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            let is_module = path.extension().is_some_and(|e| e == "rs") || path.join("mod.rs").is_file();
            if is_module && name != "main" && name != "mod" {
                assert!(listed.contains(&format!("mod {name};")), "{} is not listed", path.display());
            }
        }
    }
}

/// A guest that the table leaves out would be one whose purpose nobody finds.
#[test]
fn every_guest_is_in_the_table() {
    let root = repository().join("tests/guests");
    let text = std::fs::read_to_string(root.join("src/lib.rs")).unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("//! | `")?.split(" | ").next());
    let listed: BTreeSet<String> = rows.flat_map(|names| names.split(", ").map(|name| name.replace('`', ""))).collect();
    let files = ["examples", "wat"].map(|folder| std::fs::read_dir(root.join(folder)).unwrap());
    let names = files.into_iter().flatten().map(|file| file.unwrap().path().file_stem().unwrap().display().to_string());
    // What the hand-written ones have in common.
    let there: BTreeSet<String> = names.filter(|name| !name.ends_with("frame")).collect();
    assert_eq!(listed, there);
}
