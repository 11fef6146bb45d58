//! What a crash, a failure or somebody else leaves, and what becomes of it.

use std::collections::BTreeMap;

use super::fake::{Durable, Fake};
use super::*;
use crate::file::key::KEY_FILE;

/// Does `work` on a vault with the secrets `a` and `b`, and gives back every state in which a crash could leave it,
/// from the one before to the one after.
fn states(work: impl FnOnce(&Vault)) -> Vec<Durable> {
    let dir = tempfile::tempdir().unwrap();
    let fake = Fake::default();
    let vault = fake.vault(dir.path());
    vault.import([(name("a"), secret("one")), (name("b"), secret("two"))]).unwrap();
    fake.inside.lock().unwrap().watched = Some(dir.path().to_owned());
    fake.inside.lock().unwrap().remember();
    work(&vault);
    let mut inside = fake.inside.lock().unwrap();
    inside.remember();
    inside.states.clone()
}

/// What is there after a start in `state`, having checked that index and values agree.
fn restarted(state: &Durable) -> BTreeMap<String, String> {
    let dir = tempfile::tempdir().unwrap();
    fs_err::write(dir.path().join("vault.json"), &state.index).unwrap();
    let fake = Fake::default();
    fake.inside.lock().unwrap().values = state.values.clone();
    let vault = fake.vault(dir.path());
    let found: BTreeMap<_, _> = all(&vault).into_iter().collect();
    let held = fake.inside.lock().unwrap().values.clone();
    assert_eq!(held.into_iter().map(|(name, value)| (name.to_string(), value)).collect::<BTreeMap<_, _>>(), found);
    assert_eq!(names(&vault), found.keys().cloned().collect::<Vec<_>>());
    assert!(Record::load(dir.path()).unwrap().unwrap().unfinished.is_empty());
    found
}

fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// Checks that every crash during `work` leaves what was before or what is after, first the one and then the other.
fn check(work: impl FnOnce(&Vault), after: &[(&str, &str)], moments: usize) {
    let (before, after) = (map(&[("a", "one"), ("b", "two")]), map(after));
    let outcomes: Vec<_> = states(work).iter().map(restarted).collect();
    assert_eq!(outcomes.len(), moments);
    assert!(outcomes.iter().all(|outcome| *outcome == before || *outcome == after), "{outcomes:?}");
    assert!(outcomes.is_sorted_by_key(|outcome| *outcome == after), "{outcomes:?}");
    assert_eq!((outcomes.first(), outcomes.last()), (Some(&before), Some(&after)));
}

#[test]
fn a_crash_during_set_leaves_the_secret_or_nothing() {
    let set = |vault: &Vault| vault.set(name("c"), secret("three")).unwrap();
    check(set, &[("a", "one"), ("b", "two"), ("c", "three")], 4);
}

#[test]
fn a_crash_during_import_leaves_all_or_nothing() {
    let pairs = [("c", "3"), ("d", "4"), ("e", "5")];
    let import = |vault: &Vault| drop(vault.import(pairs.map(|(n, v)| (name(n), secret(v)))).unwrap());
    check(import, &[("a", "one"), ("b", "two"), ("c", "3"), ("d", "4"), ("e", "5")], 6);
}

#[test]
fn a_crash_during_rotate_leaves_the_old_or_the_new_value() {
    check(|vault| vault.rotate(&name("a"), &secret("new")).unwrap(), &[("a", "new"), ("b", "two")], 4);
}

#[test]
fn a_crash_during_remove_leaves_the_secret_or_nothing() {
    check(|vault| vault.remove(&name("a")).unwrap(), &[("b", "two")], 4);
}

#[test]
fn an_import_that_fails_halfway_is_undone_now_or_later() {
    for patience in 0..6 {
        let dir = tempfile::tempdir().unwrap();
        let fake = Fake::default();
        let vault = fake.vault(dir.path());
        vault.set(name("a"), secret("one")).unwrap();
        fake.inside.lock().unwrap().patience = Some(patience);
        let pairs = ["c", "d", "e"].map(|n| (name(n), secret("new")));
        assert_eq!(vault.import(pairs.clone()).is_ok(), patience >= 3);
        fake.inside.lock().unwrap().patience = None;
        let expected: &[&str] = if patience >= 3 { &["a", "c", "d", "e"] } else { &["a"] };
        assert_eq!(names(&vault), expected);
        assert_eq!(all(&vault).len(), expected.len());
        assert_eq!(fake.inside.lock().unwrap().values.len(), expected.len());
        assert_eq!(vault.import(pairs).is_ok(), patience < 3);
    }
}

#[test]
fn a_removal_that_fails_is_completed_later_and_the_secret_is_gone_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let fake = Fake::default();
    let vault = fake.vault(dir.path());
    vault.set(name("a"), secret("one")).unwrap();
    fake.inside.lock().unwrap().patience = Some(0);
    vault.remove(&name("a")).unwrap_err();
    assert!(names(&vault).is_empty());
    assert!(vault.get(&name("a")).is_err());
    fake.inside.lock().unwrap().patience = None;
    assert_eq!(value(&vault, "a"), None);
    assert!(fake.inside.lock().unwrap().values.is_empty());
}

#[test]
fn a_value_that_the_index_does_not_know_is_listed_again() {
    let dir = tempfile::tempdir().unwrap();
    let vault = in_file(dir.path());
    vault.set(name("a"), secret("one")).unwrap();
    let old = fs_err::read(dir.path().join("vault.json")).unwrap();
    vault.set(name("b"), secret("two")).unwrap();
    fs_err::write(dir.path().join("vault.json"), old).unwrap();
    let vault = Vault::open(dir.path()).unwrap();
    assert_eq!(value(&vault, "b"), Some("two".into()));
    assert_eq!(names(&vault), ["a", "b"]);
}

#[test]
fn a_name_whose_value_is_gone_is_reported_until_it_is_mended() {
    let dir = tempfile::tempdir().unwrap();
    let fake = Fake::default();
    let vault = fake.vault(dir.path());
    vault.import(["a", "b", "c"].map(|n| (name(n), secret("x")))).unwrap();
    // A reboot, with the kernel's keyring.
    fake.inside.lock().unwrap().values.retain(|left, _| *left == name("c"));
    fake.inside.lock().unwrap().mute = true;
    let vault = fake.vault(dir.path());
    let error = vault.get(&name("a")).unwrap_err();
    assert!(matches!(&error, VaultError::Lost { name: lost, .. } if *lost == name("a")), "{error}");
    assert!(error.to_string().contains("`a`") && error.to_string().contains("secret rotate"), "{error}");
    assert_eq!(vault.all().unwrap().lost, [name("a"), name("b")]);
    assert_eq!(all(&vault), [("c".into(), "x".into())]);
    assert_eq!(names(&vault), ["a", "b", "c"]);
    vault.rotate(&name("a"), &secret("again")).unwrap();
    assert_eq!(vault.all().unwrap().lost, [name("b")]);
    vault.remove(&name("b")).unwrap();
    vault.remove(&name("c")).unwrap();
    assert_eq!(all(&vault), [("a".into(), "again".into())]);
}

#[test]
fn what_another_stored_under_a_name_keeps_nobody_from_the_others() {
    let dir = tempfile::tempdir().unwrap();
    let fake = Fake::default();
    let vault = fake.vault(dir.path());
    vault.import(["a", "b", "c"].map(|n| (name(n), secret("x")))).unwrap();
    fake.inside.lock().unwrap().foreign = Some(name("b"));
    assert!(matches!(vault.get(&name("b")), Err(VaultError::Foreign { .. })));
    assert_eq!(vault.all().unwrap().lost, [name("b")]);
    assert_eq!(all(&vault), [("a".into(), "x".into()), ("c".into(), "x".into())]);
}

#[test]
fn a_first_set_that_was_interrupted_is_begun_again() {
    let dir = tempfile::tempdir().unwrap();
    drop(crate::file::SecretsFile::create_or_open(dir.path(), &FileKey::KeyFile).unwrap());
    let key_alone = tempfile::tempdir().unwrap();
    let key = dir.path().join(KEY_FILE);
    fs_err::copy(&key, key_alone.path().join(KEY_FILE)).unwrap();
    for folder in [dir.path(), key_alone.path()] {
        fs_err::write(folder.join(".tmp-left"), "x").unwrap();
        in_file(folder).set(name("a"), secret("x")).unwrap();
        assert_eq!(fs_err::read(folder.join(KEY_FILE)).unwrap(), fs_err::read(&key).unwrap());
        assert_eq!(all(&Vault::open(folder).unwrap()).len(), 1);
        assert!(!folder.join(".tmp-left").exists());
    }
}
