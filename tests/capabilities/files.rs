//! Files of the workspace.

use serde_json::json;

use super::{call, home};
use crate::support::binary::Home;

const ASKS: &str = "[capabilities.workspace]\nread = [\"docs/**\", \"out/**\"]\nwrite = [\"out/**\"]\n";

fn with_workspace() -> Home {
    let folder = tempfile::tempdir().unwrap().keep();
    for (name, content) in [("docs/a.txt", "a"), ("private.txt", "private"), ("out/old.txt", "old")] {
        std::fs::create_dir_all(folder.join(name).parent().unwrap()).unwrap();
        std::fs::write(folder.join(name), content).unwrap();
    }
    home("filer", ASKS, &format!("[workspace]\nroot = \"{}\"\n", folder.display()))
}

#[test]
fn files_are_read_and_written_as_far_as_that_was_granted() {
    let home = with_workspace();
    home.run("grant reach --all").ok();
    assert_eq!(call(&home, "load", &json!({"name": "docs/a.txt"})).ok().trim(), "a");
    call(&home, "store", &json!({"name": "out/old.txt"})).ok();
    assert_eq!(call(&home, "load", &json!({"name": "out/old.txt"})).ok().trim(), "written");
    assert_eq!(call(&home, "folder", &json!({"name": "docs"})).ok().trim(), "[\n  \"a.txt\"\n]");
    for (tool, name) in [
        ("load", "private.txt"),
        ("load", "../private.txt"),
        ("load", "/etc/passwd"),
        ("store", "docs/a.txt"),
        ("store", "docs/../out/x"),
    ] {
        call(&home, tool, &json!({"name": name})).fails(1, &["did not grant"]);
    }
}

#[test]
fn without_a_workspace_there_are_no_files() {
    let home = home("filer", ASKS, "");
    home.run("grant reach --all").ok();
    call(&home, "load", &json!({"name": "docs/a.txt"})).fails(6, &["needs to use files"]);
}

#[test]
fn reading_and_writing_are_granted_apart() {
    let home = with_workspace();
    home.args(&["grant", "reach", "--write", "out/**"]).ok();
    call(&home, "store", &json!({"name": "out/old.txt"})).ok();
    for name in ["out/old.txt", "docs/a.txt"] {
        call(&home, "load", &json!({"name": name})).fails(1, &["did not grant"]);
    }
    home.args(&["grant", "reach", "--read", "docs/**"]).ok();
    assert_eq!(call(&home, "load", &json!({"name": "docs/a.txt"})).ok().trim(), "a");
    call(&home, "load", &json!({"name": "out/old.txt"})).fails(1, &["did not grant"]);
}
