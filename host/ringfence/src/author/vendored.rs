//! The guest SDK inside this program. `ringfence new` writes it beside a project, until it is published.

use toml::{Table, Value};

/// Files of the repository with their content.
macro_rules! files {
    ($($path:literal),+ $(,)?) => {
        &[$(($path, include_str!(concat!("../../../../", $path)))),+]
    };
}

/// The SDK's files. They keep their places to each other, so the paths between them stay right.
const FILES: &[(&str, &str)] = files![
    "guest-sdk/Cargo.toml",
    "guest-sdk/macros/Cargo.toml",
    "guest-sdk/macros/src/expand.rs",
    "guest-sdk/macros/src/function.rs",
    "guest-sdk/macros/src/lib.rs",
    "guest-sdk/macros/src/options.rs",
    "guest-sdk/src/allocator.rs",
    "guest-sdk/src/arena.rs",
    "guest-sdk/src/bindings.rs",
    "guest-sdk/src/failure.rs",
    "guest-sdk/src/host.rs",
    "guest-sdk/src/http.rs",
    "guest-sdk/src/lib.rs",
    "guest-sdk/src/log.rs",
    "guest-sdk/src/output.rs",
    "guest-sdk/src/panic.rs",
    "guest-sdk/src/prelude.rs",
    "guest-sdk/src/progress.rs",
    "guest-sdk/src/schema.rs",
    "guest-sdk/src/secrets.rs",
    "guest-sdk/src/state.rs",
    "guest-sdk/src/stdio.rs",
    "guest-sdk/src/testing.rs",
    "guest-sdk/src/testing/world.rs",
    "guest-sdk/src/tests.rs",
    "guest-sdk/src/tool.rs",
    "guest-sdk/src/tools.rs",
    "guest-sdk/src/workspace.rs",
    "wit/tool.wit",
];

/// The manifest of the workspace, from which the SDK's manifests inherit.
const WORKSPACE: &str = include_str!("../../../../Cargo.toml");

/// The SDK's files, each with its path and the content it has outside of the workspace.
pub(super) fn files() -> impl Iterator<Item = (&'static str, String)> {
    FILES.iter().map(|(path, content)| {
        let content = match path.strip_suffix("Cargo.toml") {
            Some(folder) => standalone(folder, content),
            None => (*content).to_owned(),
        };
        (*path, content)
    })
}

/// A manifest without `workspace = true`. `folder` is where it lies in the repository.
fn standalone(folder: &str, manifest: &str) -> String {
    let mut manifest = parse(manifest);
    let workspace = take_table(&mut parse(WORKSPACE), "workspace");
    inherit(&mut manifest, "package", &table(&workspace, "package"));
    let mut available = table(&workspace, "dependencies");
    for dependency in available.iter_mut().filter_map(|(_, dependency)| dependency.as_table_mut()) {
        if let Some(Value::String(path)) = dependency.get_mut("path") {
            *path = format!("{}{path}", "../".repeat(folder.matches('/').count()));
        }
    }
    inherit(&mut manifest, "dependencies", &available);
    // Tests are run where the SDK is made, and the lints are that workspace's.
    manifest.remove("dev-dependencies");
    manifest.remove("lints");
    manifest.to_string()
}

/// Replaces each `workspace = true` in a section of a manifest by what the workspace has, and keeps features that are
/// added to it.
fn inherit(manifest: &mut Table, section: &str, workspace: &Table) {
    let Some(Value::Table(entries)) = manifest.get_mut(section) else { return };
    for (name, entry) in entries.iter_mut() {
        let Some(own) = entry.as_table().filter(|own| own.contains_key("workspace")) else { continue };
        let Some(inherited) = workspace.get(name) else { continue };
        *entry = with_features(inherited.clone(), own.get("features"));
    }
}

fn with_features(inherited: Value, features: Option<&Value>) -> Value {
    let Some(Value::Array(added)) = features else { return inherited };
    let mut dependency = match inherited {
        Value::Table(dependency) => dependency,
        version => Table::from_iter([("version".to_owned(), version)]),
    };
    let all = dependency.entry("features").or_insert_with(|| Value::Array(Vec::new()));
    if let Value::Array(all) = all {
        all.extend(added.iter().cloned());
    }
    Value::Table(dependency)
}

fn parse(manifest: &str) -> Table {
    manifest.parse().expect("cargo has read this manifest, or there would be no program")
}

fn take_table(table: &mut Table, key: &str) -> Table {
    match table.remove(key) {
        Some(Value::Table(inner)) => inner,
        _ => Table::new(),
    }
}

fn table(table: &Table, key: &str) -> Table {
    take_table(&mut table.clone(), key)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::*;

    fn repository() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
    }

    /// All files below a folder of the repository.
    fn found(folder: &str) -> Vec<String> {
        let mut files = Vec::new();
        for entry in fs::read_dir(repository().join(folder)).unwrap() {
            let entry = entry.unwrap();
            let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
            if entry.file_type().unwrap().is_dir() {
                files.extend(found(&path));
            } else {
                files.push(path);
            }
        }
        files
    }

    #[test]
    fn no_file_of_the_sdk_is_forgotten() {
        let mut expected = found("guest-sdk");
        expected.push("wit/tool.wit".to_owned());
        expected.sort();
        let listed: Vec<&str> = FILES.iter().map(|(path, _)| *path).collect();
        assert_eq!(listed, expected);
    }

    #[test]
    fn manifests_stand_alone() {
        for (path, content) in files().filter(|(path, _)| path.ends_with("Cargo.toml")) {
            assert!(!content.contains("workspace"), "{path}: {content}");
            assert_eq!(parse(&content)["package"]["edition"].as_str(), Some("2024"), "{path}");
        }
        let sdk = standalone("guest-sdk/", include_str!("../../../../guest-sdk/Cargo.toml"));
        assert_eq!(parse(&sdk)["dependencies"]["ringfence-sdk-macros"]["path"].as_str(), Some("../guest-sdk/macros"));
        assert!(parse(&sdk).contains_key("features"));
    }

    #[test]
    fn features_are_added_to_the_workspaces() {
        let workspace = parse("a = '1'\nb = { version = '2', features = ['x'] }\nc = '3'");
        let mut manifest = parse(
            "[dependencies]\na = { workspace = true, features = ['y'] }\nb = { workspace = true, features = ['y'] }\n\
             c.workspace = true\nd = '4'",
        );
        inherit(&mut manifest, "dependencies", &workspace);
        let expected = parse(
            "[dependencies]\na = { version = '1', features = ['y'] }\nb = { version = '2', features = ['x', 'y'] }\n\
             c = '3'\nd = '4'",
        );
        assert_eq!(manifest, expected);
    }
}
