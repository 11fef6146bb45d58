//! The vault in real keyrings: that of the kernel where there is one, and a Secret Service where one was started for it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::Path;

use ringfence_core::Secret;
use ringfence_vault::{Choice, Place, SecretName, Vault, VaultError};

fn name(text: &str) -> SecretName {
    text.parse().unwrap()
}

fn secret(text: &str) -> Secret {
    Secret::new(text.to_owned())
}

fn value(vault: &Vault, of: &str) -> Option<String> {
    vault.get(&name(of)).unwrap().map(|value| value.expose().to_owned())
}

/// A vault in `folder` that was opened anew, as after a restart.
fn reopened(folder: &Path) -> Vault {
    Vault::open(folder).unwrap()
}

/// Every operation in the place of `vault`, which has no secrets yet. It leaves none.
fn exercise(vault: &Vault, folder: &Path) {
    vault.set(name("a"), secret("rf_live_one")).unwrap();
    assert!(matches!(vault.set(name("a"), secret("x")), Err(VaultError::Exists(_))));
    vault.import([(name("b"), secret("zwei ü\n")), (name("c"), secret(&"x".repeat(10_000)))]).unwrap();
    vault.rotate(&name("a"), &secret("rf_live_two")).unwrap();
    let again = reopened(folder);
    assert_eq!(value(&again, "a").as_deref(), Some("rf_live_two"));
    assert_eq!(value(&again, "b").as_deref(), Some("zwei ü\n"));
    assert_eq!(again.all().unwrap().values.len(), 3);
    assert!(again.list()[0].rotated.is_some());
    again.remove(&name("a")).unwrap();
    again.remove(&name("b")).unwrap();
    assert_eq!(value(&again, "a"), None);
    again.set(name("a"), secret("rf_live_three")).unwrap();
    assert_eq!(value(&reopened(folder), "a").as_deref(), Some("rf_live_three"));
    for left in again.list() {
        again.remove(&left.name).unwrap();
    }
    assert!(reopened(folder).all().unwrap().values.is_empty());
    for entry in fs_err::read_dir(folder).unwrap() {
        let text = fs_err::read_to_string(entry.unwrap().path()).unwrap();
        assert!(!text.contains("rf_live"), "{text}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn the_kernel_keeps_secrets_where_it_can() {
    let dir = tempfile::tempdir().unwrap();
    let vault = Vault::open(dir.path()).unwrap();
    vault.choose(Choice::Kernel).unwrap();
    match vault.set(name("probe"), secret("x")) {
        Err(error @ VaultError::Unavailable { place: Place::Kernel, .. }) => {
            assert!(vault.location().is_none(), "a place that does not answer is not chosen");
            eprintln!("SKIPPED: no kernel keyring here: {error}");
            return;
        }
        outcome => outcome.unwrap(),
    }
    vault.remove(&name("probe")).unwrap();
    let location = vault.location().unwrap();
    assert!(location.to_string().contains("lost with a reboot"));
    exercise(&vault, dir.path());
    let (vault, long) = (reopened(dir.path()), secret(&"x".repeat(32_768)));
    assert!(matches!(vault.set(name("long"), long), Err(VaultError::TooLongForKernel { .. })));
    assert!(reopened(dir.path()).all().unwrap().values.is_empty());
}

#[test]
#[ignore = "needs a Secret Service of its own: tests/keyrings starts one for it"]
fn a_secret_service_keeps_secrets_and_is_chosen_by_itself() {
    let dir = tempfile::tempdir().unwrap();
    let (folder, other) = (dir.path().join("one"), dir.path().join("other"));
    let vault = Vault::open(&folder).unwrap();
    vault.set(name("probe"), secret("x")).unwrap();
    assert_eq!(vault.location().unwrap().place, Place::Keyring);
    // Another vault of the same user does not meet the first.
    let second = Vault::open(&other).unwrap();
    second.set(name("probe"), secret("y")).unwrap();
    assert_eq!((value(&vault, "probe"), value(&second, "probe")), (Some("x".into()), Some("y".into())));
    second.remove(&name("probe")).unwrap();
    // A value that the index forgot is listed again.
    let old = fs_err::read(folder.join("vault.json")).unwrap();
    vault.set(name("later"), secret(&"x".repeat(60_000))).unwrap();
    fs_err::write(folder.join("vault.json"), old).unwrap();
    let again = reopened(&folder);
    assert_eq!(value(&again, "later").map(|value| value.len()), Some(60_000));
    assert_eq!(again.list().len(), 2);
    for left in again.list() {
        again.remove(&left.name).unwrap();
    }
    exercise(&again, &folder);
}

#[test]
#[ignore = "needs a locked Secret Service of its own: tests/keyrings starts one for it"]
fn a_locked_secret_service_is_refused_when_chosen_and_passed_over_when_nobody_chose() {
    let dir = tempfile::tempdir().unwrap();
    let vault = Vault::open(&dir.path().join("chosen")).unwrap();
    vault.choose(Choice::Keyring).unwrap();
    let error = vault.set(name("a"), secret("x")).unwrap_err();
    assert!(matches!(error, VaultError::Unavailable { place: Place::Keyring, .. }), "{error}");
    assert!(vault.location().is_none());
    let vault = Vault::open(&dir.path().join("automatic")).unwrap();
    vault.set(name("a"), secret("x")).unwrap();
    let location = vault.location().unwrap();
    assert_eq!(location.place, Place::File);
    assert!(location.chosen.contains("no keyring of the system that answers"), "{}", location.chosen);
}
