use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

const QUOTA: StateQuota = StateQuota { bytes: 100, keys: 3 };

struct Bench {
    database: Database,
    _folder: tempfile::TempDir,
}

/// A database in which the sources `a` and `b` are installed, as far as state can tell.
fn bench() -> Bench {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(&folder.path().join("state.db")).unwrap();
    for source in ["a", "b"] {
        let insert = "INSERT INTO installed VALUES (?1, '1.0.0', 'p', 'd', NULL, NULL, 0, 0, '{}', NULL)";
        database.write(|transaction| transaction.execute(insert, [source])).unwrap();
    }
    Bench { database, _folder: folder }
}

fn name(text: &str) -> SourceName {
    text.to_owned().try_into().unwrap()
}

fn owner(source: &str, package: &str, user: Option<&str>) -> StateOwner {
    let (signer, user) = ("acme".to_owned(), user.map(str::to_owned));
    StateOwner { source: name(source), signer, package: name(package), user }
}

fn set(bench: &Bench, owner: &StateOwner, key: &str, value: &[u8]) -> Result<bool, StateError> {
    bench.database.set(owner, key, value, &WriteIf::Always, QUOTA)
}

#[test]
fn every_owner_has_a_state_of_its_own() {
    let bench = bench();
    let owners = [
        owner("a", "p", Some("ann")),
        owner("a", "p", Some("bob")),
        owner("a", "p", Some("null")),
        owner("a", "p", None),
        owner("a", "q", Some("ann")),
        owner("b", "p", Some("ann")),
        StateOwner { signer: "evil".into(), ..owner("a", "p", Some("ann")) },
    ];
    for (i, owner) in owners.iter().enumerate() {
        assert_eq!(bench.database.get(owner, "k").unwrap(), None);
        assert!(set(&bench, owner, "k", &[i as u8]).unwrap());
    }
    for (i, owner) in owners.iter().enumerate() {
        assert_eq!(bench.database.get(owner, "k").unwrap(), Some(vec![i as u8]));
        assert_eq!(bench.database.keys(owner, "").unwrap(), ["k"]);
    }
    assert!(bench.database.delete(&owners[0], "k").unwrap());
    assert!(!bench.database.delete(&owners[0], "k").unwrap());
    assert_eq!(bench.database.tool_state().unwrap().len(), owners.len() - 1);
}

#[test]
fn a_value_is_written_where_it_is_what_was_expected() {
    let bench = bench();
    let a = owner("a", "p", None);
    let swap = |expected: Option<&[u8]>, value: &[u8]| {
        let condition = WriteIf::Holds(expected.map(<[u8]>::to_vec));
        bench.database.set(&a, "k", value, &condition, QUOTA).unwrap()
    };
    assert!(!swap(Some(b"1"), b"2"));
    assert!(swap(None, b"1"));
    assert!(!swap(None, b"2"));
    assert!(swap(Some(b"1"), b"2"));
    assert_eq!(bench.database.get(&a, "k").unwrap(), Some(b"2".to_vec()));
}

#[test]
fn what_passes_the_quota_changes_nothing() {
    let bench = bench();
    let a = owner("a", "p", None);
    set(&bench, &a, "k", &[0; 99]).unwrap();
    assert!(matches!(set(&bench, &a, "k", &[1; 100]), Err(StateError::Quota(_))));
    assert!(matches!(set(&bench, &a, "l", b""), Err(StateError::Quota(_))));
    assert_eq!(bench.database.get(&a, "k").unwrap(), Some(vec![0; 99]));
    // Smaller is possible, and then there is room for others, up to the number of keys.
    for key in ["k", "l", "m"] {
        set(&bench, &a, key, b"x").unwrap();
    }
    assert!(matches!(set(&bench, &a, "n", b"x"), Err(StateError::Quota(_))));
    set(&bench, &a, "m", b"y").unwrap();
    // What another keeps does not count.
    set(&bench, &owner("a", "p", Some("ann")), "k", &[0; 99]).unwrap();
}

#[test]
fn removal_takes_the_state_along_and_an_update_leaves_it() {
    let bench = bench();
    let (a, b) = (owner("a", "p", Some("ann")), owner("b", "p", Some("ann")));
    set(&bench, &a, "k", b"1").unwrap();
    set(&bench, &b, "k", b"1").unwrap();
    let update = "INSERT OR REPLACE INTO installed VALUES ('a', '2.0.0', 'p', 'd', NULL, NULL, 0, 0, '{}', NULL)";
    bench.database.write(|transaction| transaction.execute(update, [])).unwrap();
    assert_eq!(bench.database.get(&a, "k").unwrap(), Some(b"1".to_vec()));
    assert!(bench.database.remove_installed(&a.source).unwrap());
    assert_eq!(bench.database.get(&a, "k").unwrap(), None);
    assert_eq!(bench.database.get(&b, "k").unwrap(), Some(b"1".to_vec()));
    // A call that is still running brings nothing back.
    assert!(matches!(set(&bench, &a, "k", b"1"), Err(StateError::Removed)));
}

#[test]
fn the_operator_sees_how_much_there_is_and_clears_it() {
    let bench = bench();
    let (ann, bob) = (owner("a", "p", Some("ann")), owner("a", "p", Some("bob")));
    for (owner, key) in [(&ann, "k"), (&ann, "ø"), (&bob, "k")] {
        set(&bench, owner, key, b"123").unwrap();
    }
    let rows = bench.database.tool_state().unwrap();
    assert_eq!(rows[0], StateRow { owner: ann.clone(), keys: 2, bytes: 9 });
    assert_eq!(bench.database.clear_tool_state(&ann.source, Some("ann")).unwrap(), 2);
    assert_eq!(bench.database.tool_state().unwrap(), [StateRow { owner: bob, keys: 1, bytes: 4 }]);
    assert_eq!(bench.database.clear_tool_state(&ann.source, None).unwrap(), 1);
}

#[test]
fn what_one_signer_kept_is_given_to_another() {
    let bench = bench();
    let old = owner("a", "p", Some("ann"));
    let new = StateOwner { signer: "new".into(), ..old.clone() };
    for (owner, key, value) in [(&old, "k", b"old"), (&new, "k", b"new"), (&new, "l", b"new")] {
        set(&bench, owner, key, value).unwrap();
    }
    assert_eq!(bench.database.give_tool_state(&old.source, "nobody", "new").unwrap(), 0);
    assert_eq!(bench.database.give_tool_state(&owner("b", "p", None).source, "acme", "new").unwrap(), 0);
    assert_eq!(bench.database.give_tool_state(&old.source, "acme", "new").unwrap(), 1);
    let values = ["k", "l"].map(|key| bench.database.get(&new, key).unwrap().unwrap());
    assert_eq!(values, [b"old".to_vec(), b"new".to_vec()]);
    assert_eq!(bench.database.keys(&old, "").unwrap(), [""; 0]);
}

#[derive(Clone, Debug)]
enum Step {
    Set(String, Vec<u8>),
    Delete(String),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let key = "[a-c%_é]{1,2}";
    let set = (key, proptest::collection::vec(any::<u8>(), 0..60)).prop_map(|(key, value)| Step::Set(key, value));
    proptest::collection::vec(prop_oneof![3 => set, 1 => key.prop_map(Step::Delete)], 0..20)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// The table does what a map with a quota would.
    #[test]
    fn it_is_a_map_with_a_quota(steps in steps(), prefix in "[a-c%_é]{0,2}") {
        let bench = bench();
        let a = owner("a", "p", None);
        let mut model: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        for step in steps {
            match step {
                Step::Set(key, value) => {
                    let mut after = model.clone();
                    after.insert(key.clone(), value.clone());
                    let bytes: usize = after.iter().map(|(key, value)| key.len() + value.len()).sum();
                    let fits = bytes as u64 <= QUOTA.bytes && after.len() as u64 <= QUOTA.keys;
                    prop_assert_eq!(set(&bench, &a, &key, &value).is_ok(), fits);
                    if fits {
                        model = after;
                    }
                }
                Step::Delete(key) => {
                    prop_assert_eq!(bench.database.delete(&a, &key).unwrap(), model.remove(&key).is_some());
                }
            }
        }
        for (key, value) in &model {
            let kept = bench.database.get(&a, key).unwrap();
            prop_assert_eq!(kept.as_ref(), Some(value));
        }
        let expected: Vec<_> = model.keys().filter(|key| key.starts_with(&prefix)).cloned().collect();
        prop_assert_eq!(bench.database.keys(&a, &prefix).unwrap(), expected);
    }
}
