//! The one harness of the end-to-end tests: real binary, real components, real signatures.
//!
//! A folder or file a capability; `attacks/` has a file for each promise of host/SECURITY.md.

#![allow(unreachable_pub, missing_docs, reason = "nothing here is anybody's API")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so")]
#![allow(clippy::disallowed_methods, reason = "the tests start programs and look at files as a user would")]

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
mod languages;
mod limits;
mod long;
mod mcp;
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
