//! The choice of a place: made once, shown, kept; and what each failure says.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;

use super::*;
use crate::file::key::KEY_FILE;
use crate::file::{FileError, SECRETS_FILE};
use crate::keyring::Keyring;
use crate::place::{KeySource, Place};
use crate::record::Times;

fn passphrase(text: &str) -> Choice {
    Choice::File(FileKey::Passphrase(secret(text)))
}

fn mode(path: &Path) -> u32 {
    fs_err::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn the_choice_is_recorded_shown_and_readable() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("state/vault");
    let vault = in_file(&folder);
    vault.set(name("a"), secret("x")).unwrap();
    let location = Vault::open(&folder).unwrap().location().unwrap();
    assert_eq!((location.place, location.key), (Place::File, Some(KeySource::KeyFile)));
    assert_eq!(location.chosen, "by the operator");
    let record = fs_err::read_to_string(folder.join("vault.json")).unwrap();
    assert!(record.contains("\"place\": \"file\"") && record.contains("\"key\": \"key_file\""), "{record}");
    for file in ["vault.json", SECRETS_FILE, KEY_FILE] {
        assert_eq!(mode(&folder.join(file)), 0o600, "{file}");
    }
    assert_eq!(mode(&folder), 0o700);
    assert_eq!(fs_err::read_dir(&folder).unwrap().count(), 3);
}

#[test]
fn another_place_or_key_is_refused_once_one_is_recorded() {
    let dir = tempfile::tempdir().unwrap();
    in_file(dir.path()).set(name("a"), secret("x")).unwrap();
    let vault = Vault::open(dir.path()).unwrap();
    let credential = Choice::File(FileKey::Credential("/credential".into()));
    for other in [Choice::Keyring, Choice::Kernel, passphrase("correct horse"), credential] {
        let error = vault.choose(other).unwrap_err();
        assert!(matches!(error, VaultError::Chosen { .. }), "{error}");
        assert!(error.to_string().contains("the encrypted file with the key file"), "{error}");
    }
    vault.choose(Choice::File(FileKey::KeyFile)).unwrap();
    assert_eq!(value(&vault, "a"), Some("x".into()));
}

#[test]
fn a_passphrase_is_asked_for_and_tried_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let vault = Vault::open(dir.path()).unwrap();
    vault.choose(passphrase("correct horse")).unwrap();
    vault.set(name("a"), secret("x")).unwrap();
    assert_eq!(value(&vault, "a"), Some("x".into()));
    let vault = Vault::open(dir.path()).unwrap();
    assert_eq!(names(&vault), ["a"]);
    let error = vault.get(&name("a")).unwrap_err();
    assert!(matches!(error, VaultError::Locked { key: KeySource::Passphrase, .. }), "{error}");
    let error = vault.choose(passphrase("wrong horse")).unwrap_err();
    assert!(matches!(error, VaultError::File(FileError::WrongKey { .. })), "{error}");
    assert!(matches!(vault.set(name("b"), secret("x")), Err(VaultError::Locked { .. })));
    vault.choose(passphrase("correct horse")).unwrap();
    assert_eq!(value(&vault, "a"), Some("x".into()));
    assert!(!dir.path().join(KEY_FILE).exists());
}

#[test]
fn a_credential_opens_what_it_locked() {
    let dir = tempfile::tempdir().unwrap();
    let credential = dir.path().join("credential");
    fs_err::write(&credential, "a credential of systemd").unwrap();
    fs_err::set_permissions(&credential, Permissions::from_mode(0o400)).unwrap();
    let choice = Choice::File(FileKey::Credential(credential));
    let folder = dir.path().join("vault");
    let vault = Vault::open(&folder).unwrap();
    vault.choose(choice.clone()).unwrap();
    vault.set(name("a"), secret("x")).unwrap();
    let vault = Vault::open(&folder).unwrap();
    assert!(matches!(vault.all(), Err(VaultError::Locked { key: KeySource::Credential, .. })));
    vault.choose(choice).unwrap();
    assert_eq!(value(&vault, "a"), Some("x".into()));
}

#[test]
fn a_short_passphrase_chooses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let vault = Vault::open(dir.path()).unwrap();
    vault.choose(passphrase("1234567")).unwrap();
    let error = vault.set(name("a"), secret("x")).unwrap_err();
    assert!(matches!(error, VaultError::File(FileError::TooShort(KeySource::Passphrase))), "{error}");
    assert!(vault.location().is_none() && fs_err::read_dir(dir.path()).unwrap().next().is_none());
}

#[test]
fn a_recorded_keyring_that_does_not_answer_is_an_error_and_stays_recorded() {
    let dir = tempfile::tempdir().unwrap();
    let mut record = Record::new(Location::new(&Choice::Keyring, "for a test".into()), "0".into());
    record.secrets.insert(name("a"), Times { created: 1, rotated: None });
    record.save(dir.path()).unwrap();
    let before = fs_err::read(dir.path().join("vault.json")).unwrap();
    if Keyring::connect(Place::Keyring, "0", &Deadline::default()).is_ok() {
        eprintln!("SKIPPED: a system keyring answers here, so its absence cannot be tested");
        return;
    }
    let vault = Vault::open(dir.path()).unwrap();
    for error in [
        vault.get(&name("a")).unwrap_err(),
        vault.set(name("b"), secret("x")).unwrap_err(),
        vault.rotate(&name("a"), &secret("x")).unwrap_err(),
        vault.remove(&name("a")).unwrap_err(),
        vault.all().unwrap_err(),
    ] {
        assert!(matches!(error, VaultError::Unavailable { place: Place::Keyring, .. }), "{error}");
        assert!(error.to_string().contains("no other place is used"), "{error}");
    }
    assert_eq!(fs_err::read(dir.path().join("vault.json")).unwrap(), before);
    assert_eq!(fs_err::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn without_a_choice_it_is_the_keyring_or_else_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let answers =
        Keyring::connect(Place::Keyring, "0", &Deadline::default()).and_then(|keyring| keyring.prove()).is_ok();
    let vault = Vault::open(dir.path()).unwrap();
    vault.set(name("a"), secret("x")).unwrap();
    let location = vault.location().unwrap();
    let (place, why) =
        if answers { (Place::Keyring, "automatically: it answers") } else { (Place::File, "no keyring of the system") };
    assert_eq!(location.place, place);
    assert!(location.chosen.contains(why), "{location:?}");
    vault.remove(&name("a")).unwrap();
}

#[test]
fn a_file_without_its_record_is_opened_and_never_passed_over() {
    let dir = tempfile::tempdir().unwrap();
    in_file(dir.path()).set(name("a"), secret("x")).unwrap();
    fs_err::remove_file(dir.path().join("vault.json")).unwrap();
    let vault = Vault::open(dir.path()).unwrap();
    for place in [Choice::Keyring, Choice::Kernel] {
        vault.choose(place).unwrap();
        assert!(matches!(vault.set(name("b"), secret("y")), Err(VaultError::Orphaned { .. })));
    }
    let vault = Vault::open(dir.path()).unwrap();
    vault.set(name("b"), secret("y")).unwrap();
    assert_eq!(names(&vault), ["a", "b"]);
}

/// Checks that a step of the file system failed, and that the error names where.
fn failed_at<T: fmt::Debug>(result: Result<T, VaultError>, path: &Path) {
    let error = result.unwrap_err();
    assert!(matches!(error, VaultError::Io { .. }), "{error}");
    assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
}

#[test]
fn steps_of_the_file_system_that_fail_name_the_path_and_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let blocker = dir.path().join("blocker");
    fs_err::write(&blocker, "a file where a folder should be").unwrap();
    failed_at(Vault::open(&blocker.join("vault")), &blocker);
    let (good, kept) = (dir.path().join("good"), dir.path().join("kept"));
    let vault = in_file(&good);
    vault.set(name("a"), secret("x")).unwrap();
    // A folder in the place of a file can be neither read nor renamed over, not even by root.
    for file in ["vault.json", SECRETS_FILE] {
        let path = good.join(file);
        fs_err::rename(&path, &kept).unwrap();
        fs_err::create_dir(&path).unwrap();
        failed_at(vault.set(name("b"), secret("y")), &path);
        fs_err::remove_dir(&path).unwrap();
        fs_err::rename(&kept, &path).unwrap();
        assert_eq!(all(&vault).len(), 1);
    }
    // A folder that is gone.
    fs_err::rename(&good, &kept).unwrap();
    failed_at(vault.remove(&name("a")), &good);
    fs_err::rename(&kept, &good).unwrap();
    assert_eq!(all(&vault).len(), 1);
}

#[test]
fn a_folder_that_cannot_be_made_or_written_is_an_error_with_its_path() {
    // `/proc` takes no new entries, not even from root, and a place under a file from nobody.
    for folder in ["/proc/ringfence-vault", "/proc/version/vault"] {
        let vault = Vault::with(Path::new(folder), State::default());
        vault.choose(Choice::File(FileKey::KeyFile)).unwrap();
        failed_at(vault.set(name("a"), secret("x")), Path::new(folder));
    }
    let dir = tempfile::tempdir().unwrap();
    fs_err::set_permissions(dir.path(), Permissions::from_mode(0o500)).unwrap();
    if rustix::process::geteuid().is_root() {
        eprintln!("SKIPPED in part: root may write into a folder without write permission");
    } else {
        failed_at(in_file(dir.path()).set(name("a"), secret("x")), dir.path());
    }
}
