//! The crates depend on each other only as the design allows, and what the documents point at is there.

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{DependencyKind, MetadataCommand};

use crate::repository;

/// Which of our crates a crate may use. What is not in the table is an error as well: a new crate is a decision.
const MAY_USE: &[(&str, &[&str])] = &[
    ("ringfence-core", &[]),
    ("ringfence-wit", &[]),
    ("ringfence-store", &["ringfence-core"]),
    ("ringfence-vault", &["ringfence-core"]),
    ("ringfence-egress", &["ringfence-core", "ringfence-vault"]),
    ("ringfence-package", &["ringfence-core", "ringfence-egress", "ringfence-store", "ringfence-wit"]),
    ("ringfence-distribution", &["ringfence-core", "ringfence-egress", "ringfence-package", "ringfence-store"]),
    ("ringfence-source-builtin", &["ringfence-core"]),
    (
        "ringfence-source-wasm",
        &["ringfence-core", "ringfence-egress", "ringfence-package", "ringfence-vault", "ringfence-wit"],
    ),
    (
        "ringfence",
        &[
            "ringfence-core",
            "ringfence-distribution",
            "ringfence-egress",
            "ringfence-package",
            "ringfence-source-builtin",
            "ringfence-source-wasm",
            "ringfence-store",
            "ringfence-vault",
            "ringfence-wit",
        ],
    ),
    ("ringfence-sdk", &["ringfence-sdk-macros", "ringfence-wit"]),
    ("ringfence-sdk-macros", &[]),
    ("ringfence-example-incidents", &["ringfence-sdk"]),
    ("ringfence-tool-calc", &["ringfence-sdk"]),
    ("ringfence-tool-github", &["ringfence-sdk"]),
    ("ringfence-tool-text", &["ringfence-sdk"]),
    ("ringfence-tool-weather", &["ringfence-sdk"]),
    ("ringfence-tool-web-search", &["ringfence-sdk"]),
    ("ringfence-guests", &["ringfence-wit"]),
    ("ringfence-guest-mirror-plain", &["ringfence-sdk"]),
    ("ringfence-guest-text-waiting", &["ringfence-sdk"]),
];

/// Heavy dependencies and the crates that may have them: a trust line runs around each.
const ONLY_IN: &[(&str, &[&str])] = &[
    ("wasmtime", &["ringfence-source-wasm"]),
    ("wasmtime-wasi", &["ringfence-source-wasm"]),
    ("wasmtime-wasi-http", &["ringfence-source-wasm"]),
    ("rusqlite", &["ringfence-store"]),
    ("rmcp", &["ringfence"]),
    ("clap", &["ringfence"]),
    ("minisign", &["ringfence-package"]),
    ("hyper", &["ringfence-egress"]),
    ("keyring", &["ringfence-vault"]),
];

/// The normal and build dependencies of every crate of the workspace.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let metadata = MetadataCommand::new().no_deps().exec().unwrap();
    let of = |package: &cargo_metadata::Package| {
        package.dependencies.iter().filter(|d| d.kind != DependencyKind::Development).map(|d| d.name.clone()).collect()
    };
    metadata.packages.iter().map(|package| (package.name.to_string(), of(package))).collect()
}

#[test]
fn arrows_between_crates_are_those_of_the_design() {
    let table: BTreeMap<&str, &[&str]> = MAY_USE.iter().copied().collect();
    for (package, uses) in dependencies() {
        let allowed =
            table.get(package.as_str()).unwrap_or_else(|| panic!("`{package}` is not in the table of crates"));
        for used in uses.iter().filter(|name| name.starts_with("ringfence")) {
            assert!(allowed.contains(&used.as_str()), "`{package}` must not use `{used}`");
        }
    }
}

#[test]
fn heavy_dependencies_stay_behind_their_line() {
    for (package, uses) in dependencies() {
        for (heavy, owners) in ONLY_IN {
            let here = owners.contains(&package.as_str());
            assert!(here || !uses.contains(*heavy), "`{package}` must not use `{heavy}`");
        }
    }
}

/// A promise whose test was renamed away would be a promise that nothing holds.
#[test]
fn every_file_that_the_promises_name_is_there() {
    let root = repository();
    let text = std::fs::read_to_string(root.join("host/SECURITY.md")).unwrap();
    let mut named = 0;
    for line in text.lines() {
        // A bare name stands for a file beside the one before it.
        let mut beside = root.join("tests/attacks");
        for path in line.split('`').skip(1).step_by(2).filter(|quoted| names_a_file(quoted)).flat_map(alternatives) {
            let folders = ["", "host", "tests/attacks", "tests/distribution"].map(|folder| root.join(folder));
            let place = folders.iter().chain([&beside]).map(|folder| folder.join(&path)).find(|place| place.exists());
            let place = place.unwrap_or_else(|| panic!("host/SECURITY.md names `{path}`, which is not there"));
            beside = place.parent().unwrap().to_owned();
            named += 1;
        }
    }
    assert!(named > 60, "only {named} files were found in it");
}

/// Whether what is quoted is a file or folder of the repository.
fn names_a_file(quoted: &str) -> bool {
    let folder = quoted.split_once('/').map_or("", |(folder, _)| folder);
    let is_ours = |folder: &str| repository().join(folder).is_dir() || repository().join("host").join(folder).is_dir();
    !quoted.contains(' ') && (quoted.ends_with(".rs") || (!folder.is_empty() && is_ours(folder)))
}

/// `a/{b,c}.rs` is `a/b.rs` and `a/c.rs`.
fn alternatives(path: &str) -> Vec<String> {
    let parts = path.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)));
    match parts {
        Some((before, (names, behind))) => names.split(',').map(|name| format!("{before}{name}{behind}")).collect(),
        None => vec![path.to_owned()],
    }
}
