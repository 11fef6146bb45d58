//! A state folder whose database is gone, empty or damaged is refused, and nothing in it is removed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::packages::signed;

/// The files below `folder`, but for those that every start makes anew.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            files.extend(self::files(&entry));
        } else if entry.file_name().is_some_and(|name| name != "lock" && name != "socket") {
            files.insert(entry.clone(), fs::read(entry).unwrap());
        }
    }
    files
}

#[test]
fn a_lost_database_is_not_made_anew_and_takes_no_tool_with_it() {
    let (home, file) = signed("mirror", "1.0.0");
    home.args(&["install", file.to_str().unwrap()]).ok();
    home.args(&["call", "mirror__run", "{\"n\": 1}"]).ok();
    let (state, database) = (home.path().join("home/state"), home.path().join("home/state/state.db"));
    let whole = fs::read(&database).unwrap();
    let damages: [(&str, Option<&[u8]>); 3] =
        [("is gone", None), ("is empty", Some(b"")), ("is damaged", Some(&[b'x'; 8192]))];
    for (told, damage) in damages {
        fs::remove_file(&database).unwrap();
        damage.into_iter().for_each(|bytes| fs::write(&database, bytes).unwrap());
        let before = files(&state);
        for command in ["list", "tools", "audit --verify"] {
            home.run(command).fails(1, &["state.db", told, "restore it from a backup", "move `state.db*`"]);
        }
        assert!(files(&state) == before, "{told}: a file was changed, made or removed");
        fs::write(&database, &whole).unwrap();
        home.args(&["call", "mirror__run", "{\"n\": 1}"]).ok();
    }
}
