//! When a folder is new, and when its state is lost.

use super::*;

const COMPONENT: &str = "tools/00000000000000000000000000000000000000000000000000000000000000aa.wasm";

/// What a first start leaves behind one after the other, when it is killed.
#[test]
fn a_first_start_that_was_killed_is_taken_up() {
    let header = {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.db");
        rusqlite::Connection::open(&path).unwrap().pragma_update(None, "journal_mode", "wal").unwrap();
        fs_err::read(path).unwrap()
    };
    assert!(!header.is_empty());
    for database in [None, Some(&[][..]), Some(&header[..])] {
        let dir = tempfile::tempdir().unwrap();
        let folder = StateFolder::open(dir.path()).unwrap();
        HostKey::load_or_create(&folder.host_key()).unwrap();
        database.into_iter().for_each(|bytes| fs_err::write(folder.database(), bytes).unwrap());
        drop(folder);
        Store::open(dir.path()).unwrap();
        Store::open(dir.path()).unwrap();
    }
}

#[test]
fn a_host_key_that_is_lost_is_not_made_anew() {
    for evidence in [COMPONENT, "audit/00000000000000000001.jsonl"] {
        let dir = tempfile::tempdir().unwrap();
        drop(Store::open(dir.path()).unwrap());
        fs_err::write(dir.path().join(evidence), "x").unwrap();
        fs_err::remove_file(dir.path().join("host.key")).unwrap();
        let error = Store::open(dir.path()).err().unwrap();
        assert_eq!(error.code(), "state.host_key");
        assert!(error.to_string().contains("restore it from a backup"), "{error}");
        assert!(!dir.path().join("host.key").exists());
    }
}

#[test]
fn a_database_that_is_lost_is_not_made_anew_and_nothing_is_removed() {
    let empty = tempfile::tempdir().unwrap();
    let without_tables = empty.path().join("state.db");
    rusqlite::Connection::open(&without_tables).unwrap().pragma_update(None, "journal_mode", "wal").unwrap();
    let without_tables = fs_err::read(without_tables).unwrap();
    for evidence in [COMPONENT, "audit/00000000000000000001.jsonl"] {
        for (database, told) in
            [(None, "is gone"), (Some(&[][..]), "is empty"), (Some(&without_tables[..]), "has no tables")]
        {
            let dir = tempfile::tempdir().unwrap();
            drop(Store::open(dir.path()).unwrap());
            let (evidence, path) = (dir.path().join(evidence), dir.path().join("state.db"));
            fs_err::write(&evidence, "x").unwrap();
            fs_err::remove_file(&path).unwrap();
            database.into_iter().for_each(|bytes| fs_err::write(&path, bytes).unwrap());
            let error = Store::open(dir.path()).err().unwrap();
            assert_eq!(error.code(), "state.damaged");
            let error = error.to_string();
            assert!(
                [told, "restore it from a backup", "to begin anew"].iter().all(|part| error.contains(part)),
                "{error}"
            );
            assert!(evidence.exists());
            assert_eq!(path.exists(), database.is_some());
            // As the message says.
            for part in ["audit", "tools"] {
                fs_err::rename(dir.path().join(part), empty.path().join(part)).unwrap();
                fs_err::remove_dir_all(empty.path().join(part)).unwrap();
            }
            drop(fs_err::remove_file(&path));
            Store::open(dir.path()).unwrap();
        }
    }
}

#[test]
fn what_lies_beside_an_empty_database_stays_there() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    fs_err::write(dir.path().join(COMPONENT), "x").unwrap();
    let log = dir.path().join("state.db-wal");
    let kept = fs_err::read(&log).unwrap();
    drop(store);
    fs_err::write(dir.path().join("state.db"), "").unwrap();
    fs_err::write(&log, &kept).unwrap();
    assert!(Store::open(dir.path()).is_err());
    assert_eq!(fs_err::read(&log).unwrap(), kept);
}

#[test]
fn files_of_another_user_are_refused() {
    use std::os::unix::fs::{MetadataExt as _, chown};
    let dir = tempfile::tempdir().unwrap();
    // Only root can give files away.
    if fs_err::metadata(dir.path()).unwrap().uid() != 0 {
        return;
    }
    for file in ["host.key", "state.db"] {
        drop(Store::open(dir.path()).unwrap());
        chown(dir.path().join(file), Some(4242), None).unwrap();
        let error = Store::open(dir.path()).err().unwrap();
        assert_eq!(error.code(), "state.foreign_owner");
        assert!(error.to_string().contains(&format!("{file} belongs to user 4242")), "{error}");
        chown(dir.path().join(file), Some(0), None).unwrap();
    }
}
