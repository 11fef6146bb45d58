//! Files of the workspace.

use serde_json::json;

use super::{call, home, limit_ends_the_call};
use crate::support::binary::Home;

/// The limits that are tried here, each with a number that two files of 7 bytes exceed.
pub(super) const LIMITS: [(&str, u64); 2] = [("workspace_calls", 1), ("workspace_write_bytes", 13)];

const ASKS: &str = "[capabilities.workspace]\nread = [\"docs/**\", \"out/**\"]\nwrite = [\"out/**\"]\n";

fn with_workspace() -> Home {
    asking(ASKS, "")
}

fn granted(manifest: &str, config: &str) -> Home {
    let home = asking(&format!("{ASKS}{manifest}"), config);
    home.run("grant reach --all").ok();
    home
}

fn asking(asks: &str, config: &str) -> Home {
    let folder = tempfile::tempdir().unwrap().keep();
    for (name, content) in [("docs/a.txt", "a"), ("private.txt", "private"), ("out/old.txt", "old")] {
        std::fs::create_dir_all(folder.join(name).parent().unwrap()).unwrap();
        std::fs::write(folder.join(name), content).unwrap();
    }
    home("filer", asks, &format!("[workspace]\nroot = \"{}\"\n{config}", folder.display()))
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
    let advice = ["needs to use files", "`root` under [workspace] in config.toml", "`ringfence config --path`"];
    call(&home, "load", &json!({"name": "docs/a.txt"})).fails(6, &advice);
    // Where nothing is granted either, that comes first.
    home.run("revoke reach").ok();
    call(&home, "load", &json!({"name": "docs/a.txt"})).fails(6, &["nothing of that is granted", "`ringfence grant`"]);
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

#[test]
fn the_uses_of_files_and_the_bytes_written_are_limited() {
    for (key, value) in LIMITS {
        limit_ends_the_call(key, value, granted, "flood", &json!({"files": 2, "bytes": 7}));
    }
    let one = granted("", "[limits]\nworkspace_calls = 1\nworkspace_write_bytes = 7\n");
    call(&one, "flood", &json!({"files": 1, "bytes": 7})).ok();
    // Of each call, whatever it does with files.
    for (tool, name) in [("load", "docs/a.txt"), ("folder", "docs"), ("store", "out/old.txt")] {
        call(&one, tool, &json!({"name": name})).ok();
    }
}

/// Bytes and files below the workspace of a home where `flood` writes.
fn written(folder: &std::path::Path) -> (u64, usize) {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len());
    let sizes: Vec<u64> = entries.collect();
    (sizes.iter().sum(), sizes.len())
}

#[test]
fn a_guest_that_writes_for_ever_fills_no_disk() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("out")).unwrap();
    let home = home("filer", ASKS, &format!("[workspace]\nroot = \"{}\"\n", folder.path().display()));
    home.run("grant reach --all").ok();
    let out = folder.path().join("out");
    // The first MiB that is over is not written.
    call(&home, "flood", &json!({"files": u32::MAX, "bytes": 1 << 20})).fails(4, &["`workspace_write_bytes`"]);
    assert_eq!(written(&out), (32 << 20, 32));
    // Empty files cost no bytes.
    call(&home, "flood", &json!({"files": u32::MAX, "bytes": 0})).fails(4, &["`workspace_calls`"]);
    assert_eq!(written(&out), (0, 1000));
}

#[test]
fn a_name_that_people_would_read_as_another_is_refused() {
    let home = granted("", "");
    for name in [
        "out/a\nb",
        "out/rep\u{200b}ort",
        "out/a\u{3164}",
        "out/\u{e0041}",
        "out/\u{1b}[2Ja",
        "out/\u{202e}txt.exe",
        "out/a\u{2028}b",
    ] {
        for tool in ["store", "load", "folder"] {
            let run = call(&home, tool, &json!({"name": name}));
            assert!(!run.err.contains(name), "{run:?}");
            run.fails(2, &["is no name of a file"]);
        }
    }
}
