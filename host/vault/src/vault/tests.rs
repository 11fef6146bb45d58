//! Tests of all operations; [`fake`] is a keyring in memory that can fail and remembers every state it was in.

mod crashes;
mod fake;
mod leaks;
mod places;

use std::sync::Arc;

use proptest::prelude::*;

use self::fake::Fake;
use super::*;
use crate::place::FileKey;
use crate::value::{MAX_VALUE, ValueError};

fn name(text: &str) -> SecretName {
    text.parse().unwrap()
}

fn secret(text: &str) -> Secret {
    Secret::new(text.to_owned())
}

/// A vault in the encrypted file, with the key file.
fn in_file(folder: &Path) -> Vault {
    let vault = Vault::open(folder).unwrap();
    vault.choose(Choice::File(FileKey::KeyFile)).unwrap();
    vault
}

fn value(vault: &Vault, of: &str) -> Option<String> {
    vault.get(&name(of)).unwrap().map(|value| value.expose().to_owned())
}

fn names(vault: &Vault) -> Vec<String> {
    vault.list().into_iter().map(|listed| listed.name.to_string()).collect()
}

fn all(vault: &Vault) -> Vec<(String, String)> {
    vault.all().unwrap().values.into_iter().map(|(name, value)| (name.to_string(), value.expose().to_owned())).collect()
}

/// Runs a test with the encrypted file and with a keyring.
fn in_both(test: fn(&Vault)) {
    let dir = tempfile::tempdir().unwrap();
    test(&in_file(&dir.path().join("file")));
    test(&Fake::default().vault(&dir.path().join("keyring")));
}

#[test]
fn a_value_is_replaced_only_where_it_is_the_expected_one() {
    in_both(|vault| {
        vault.set(name("a"), secret("one")).unwrap();
        assert!(vault.replace(&name("a"), &secret("one"), &secret("two")).unwrap());
        assert!(!vault.replace(&name("a"), &secret("one"), &secret("three")).unwrap());
        assert_eq!(value(vault, "a"), Some("two".into()));
        assert!(vault.list()[0].rotated.is_some());
        let unknown = vault.replace(&name("b"), &secret("one"), &secret("two"));
        assert!(matches!(unknown, Err(VaultError::Unknown(missing)) if missing == name("b")));
        assert!(matches!(vault.replace(&name("a"), &secret("two"), &secret("")), Err(VaultError::Value { .. })));
    });
}

#[test]
fn a_secret_is_set_once_rotated_and_removed() {
    in_both(|vault| {
        vault.set(name("a"), secret("one")).unwrap();
        assert!(matches!(vault.set(name("a"), secret("two")), Err(VaultError::Exists(names)) if names == [name("a")]));
        assert_eq!(value(vault, "a"), Some("one".into()));
        vault.rotate(&name("a"), &secret("two")).unwrap();
        assert_eq!(value(vault, "a"), Some("two".into()));
        vault.remove(&name("a")).unwrap();
        assert_eq!(value(vault, "a"), None);
        assert!(matches!(vault.remove(&name("a")), Err(VaultError::Unknown(_))));
        assert!(matches!(vault.rotate(&name("a"), &secret("x")), Err(VaultError::Unknown(_))));
        vault.set(name("a"), secret("three")).unwrap();
        assert_eq!(all(vault), [("a".into(), "three".into())]);
    });
}

#[test]
fn the_list_has_names_and_times() {
    in_both(|vault| {
        let before = crate::session::now();
        vault.set(name("b"), secret("x")).unwrap();
        vault.set(name("a"), secret("x")).unwrap();
        vault.rotate(&name("b"), &secret("y")).unwrap();
        let after = crate::session::now();
        let list = vault.list();
        assert_eq!(names(vault), ["a", "b"]);
        assert!(list.iter().all(|listed| (before..=after).contains(&listed.created)));
        assert_eq!(list[0].rotated, None);
        assert!(list[1].rotated.is_some_and(|at| (before..=after).contains(&at)));
    });
}

#[test]
fn what_is_no_value_is_refused_before_anything_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let vault = in_file(&dir.path().join("vault"));
    for (bad, code) in [
        ("", "secret.value.empty"),
        ("a\0b", "secret.value.nul"),
        (&"x".repeat(MAX_VALUE + 1), "secret.value.too_long"),
    ] {
        let error = vault.set(name("a"), secret(bad)).unwrap_err();
        assert_eq!(error.code(), code);
        assert!(matches!(
            &error,
            VaultError::Value { source: ValueError::Empty | ValueError::Nul | ValueError::TooLong, .. }
        ));
        assert!(!dir.path().join("vault").exists());
    }
    vault.set(name("a"), secret(&"x".repeat(MAX_VALUE))).unwrap();
    assert_eq!(vault.rotate(&name("a"), &secret("")).unwrap_err().code(), "secret.value.empty");
    assert_eq!(value(&vault, "a").unwrap().len(), MAX_VALUE);
}

#[test]
fn reading_and_refusals_touch_nothing_in_a_new_vault() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("vault");
    let vault = Vault::open(&folder).unwrap();
    assert!(vault.get(&name("a")).unwrap().is_none());
    assert!(all(&vault).is_empty() && vault.list().is_empty() && vault.location().is_none());
    assert!(vault.import([]).unwrap().added.is_empty());
    assert!(matches!(vault.remove(&name("a")), Err(VaultError::Unknown(_))));
    assert!(matches!(vault.rotate(&name("a"), &secret("x")), Err(VaultError::Unknown(_))));
    vault.choose(Choice::File(FileKey::KeyFile)).unwrap();
    assert!(!folder.exists());
}

#[test]
fn an_import_is_all_or_nothing() {
    in_both(|vault| {
        vault.set(name("b"), secret("old")).unwrap();
        vault.set(name("d"), secret("old")).unwrap();
        let pairs = |names: &[&str]| names.iter().map(|n| (name(n), secret("new"))).collect::<Vec<_>>();
        let there = vault.import(pairs(&["d", "a", "b", "c"])).unwrap_err();
        assert!(matches!(there, VaultError::Exists(names) if names == [name("b"), name("d")]));
        let twice = vault.import(pairs(&["a", "c", "a", "c", "c"])).unwrap_err();
        assert!(matches!(twice, VaultError::Repeated(names) if names == [name("a"), name("c")]));
        let refused = vault.import([(name("a"), secret("x")), (name("c"), secret(""))]).unwrap_err();
        assert!(matches!(refused, VaultError::Value { name: bad, .. } if bad == name("c")));
        assert_eq!(names(vault), ["b", "d"]);
        assert_eq!(vault.import(pairs(&["c", "a"])).unwrap().added, [name("a"), name("c")]);
        assert_eq!(names(vault), ["a", "b", "c", "d"]);
        assert_eq!(value(vault, "b"), Some("old".into()));
    });
}

#[test]
fn there_is_a_most_of_secrets() {
    in_both(|vault| {
        let pairs = |from: usize, to: usize| (from..to).map(|i| (name(&format!("s{i}")), secret("x")));
        vault.import(pairs(0, crate::MAX_SECRETS - 1)).unwrap();
        assert!(matches!(vault.import(pairs(5000, 5002)), Err(VaultError::TooMany(1025))));
        vault.set(name("last"), secret("x")).unwrap();
        assert!(matches!(vault.set(name("more"), secret("x")), Err(VaultError::TooMany(1025))));
        assert_eq!(vault.list().len(), crate::MAX_SECRETS);
    });
}

#[test]
fn threads_share_a_vault() {
    let dir = tempfile::tempdir().unwrap();
    let vault = in_file(dir.path());
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let vault = &vault;
            scope.spawn(move || {
                for i in 0..5 {
                    vault.set(name(&format!("s{thread}.{i}")), secret("x")).unwrap();
                }
            });
        }
    });
    assert_eq!(all(&vault).len(), 20);
    assert_eq!(all(&Vault::open(dir.path()).unwrap()).len(), 20);
}

#[test]
fn a_place_that_is_silent_holds_up_no_list() {
    let dir = tempfile::tempdir().unwrap();
    let keyring = Fake::default();
    let vault = &keyring.vault(dir.path());
    vault.set(name("a"), secret("x")).unwrap();
    std::thread::scope(|scope| {
        // It answers when this goes.
        let silent = keyring.inside.lock().unwrap();
        let asked = scope.spawn(|| value(vault, "a"));
        while vault.state.try_lock().is_ok() {
            std::thread::yield_now();
        }
        let (listed, list) = std::sync::mpsc::channel();
        scope.spawn(move || listed.send((names(vault), vault.location().is_some())));
        let listed = list.recv_timeout(std::time::Duration::from_secs(10));
        let still_silent = !asked.is_finished();
        drop(silent);
        assert_eq!(listed, Ok((vec!["a".to_owned()], true)));
        assert!(still_silent);
        assert_eq!(asked.join().unwrap(), Some("x".into()));
    });
}

/// One step of a history.
#[derive(Clone, Debug)]
enum Step {
    Set(String, String),
    Rotate(String, String),
    Remove(String),
    Import(Vec<(String, String)>),
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let named = || ("[a-d]", "[^\0]{1,12}");
    prop_oneof![
        named().prop_map(|(name, value)| Step::Set(name, value)),
        named().prop_map(|(name, value)| Step::Rotate(name, value)),
        "[a-d]".prop_map(Step::Remove),
        proptest::collection::vec(named(), 0..3).prop_map(Step::Import),
        Just(Step::Reopen),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn every_history_agrees_with_a_map(steps in proptest::collection::vec(step(), 0..14)) {
        let dir = tempfile::tempdir().unwrap();
        let mut vault = in_file(dir.path());
        let mut map = std::collections::BTreeMap::new();
        for step in steps {
            match step {
                Step::Set(key, new) => {
                    let fresh = !map.contains_key(&key);
                    prop_assert_eq!(vault.set(name(&key), secret(&new)).is_ok(), fresh);
                    map.entry(key).or_insert(new);
                }
                Step::Rotate(key, new) => {
                    prop_assert_eq!(vault.rotate(&name(&key), &secret(&new)).is_ok(), map.contains_key(&key));
                    map.entry(key).and_modify(|value| *value = new);
                }
                Step::Remove(key) => {
                    prop_assert_eq!(vault.remove(&name(&key)).is_ok(), map.remove(&key).is_some());
                }
                Step::Import(pairs) => {
                    let fresh: std::collections::BTreeMap<_, _> = pairs.iter().cloned().collect();
                    let good = fresh.len() == pairs.len() && fresh.keys().all(|key| !map.contains_key(key));
                    let pairs = pairs.iter().map(|(key, value)| (name(key), secret(value)));
                    prop_assert_eq!(vault.import(pairs).is_ok(), good);
                    if good {
                        map.extend(fresh);
                    }
                }
                Step::Reopen => vault = Vault::open(dir.path()).unwrap(),
            }
            if vault.location().is_none() {
                vault.choose(Choice::File(FileKey::KeyFile)).unwrap();
            }
            prop_assert_eq!(all(&vault), map.clone().into_iter().collect::<Vec<_>>());
            prop_assert_eq!(names(&vault), map.keys().cloned().collect::<Vec<_>>());
        }
    }
}

#[test]
fn a_vault_can_be_shared() {
    fn shared<T: Send + Sync>() {}
    shared::<Arc<Vault>>();
}
