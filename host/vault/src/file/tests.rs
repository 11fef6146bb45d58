use proptest::prelude::*;

use super::key::KEY_FILE;
use super::*;

fn name(text: &str) -> SecretName {
    text.parse().unwrap()
}

fn secret(text: &str) -> Secret {
    Secret::new(text.to_owned())
}

/// A file with the secrets `a` and `b`, locked with a key file.
fn with_two(folder: &Path) -> SecretsFile {
    let file = SecretsFile::create_or_open(folder, &FileKey::KeyFile).unwrap();
    file.put(&[(&name("a"), &secret("hunter2")), (&name("b"), &secret("two"))]).unwrap();
    file
}

fn value(file: &SecretsFile, of: &str) -> Option<String> {
    file.get(&[&name(of)]).unwrap().pop().flatten().map(|value| value.expose().to_owned())
}

/// What opening says, having checked that the file was left alone by everything that one can try.
fn refusal(folder: &Path, key: &FileKey) -> FileError {
    let before = fs_err::read(folder.join(SECRETS_FILE)).ok();
    let open = SecretsFile::open(folder, key).map(drop).unwrap_err();
    if before.is_some() {
        assert!(SecretsFile::create_or_open(folder, key).is_err());
    }
    assert_eq!(fs_err::read(folder.join(SECRETS_FILE)).ok(), before);
    assert!(open.to_string().contains(folder.to_str().unwrap()), "{open}");
    match open {
        VaultError::File(error) => error,
        error => panic!("{error}"),
    }
}

#[test]
fn secrets_come_back_until_they_are_removed() {
    let dir = tempfile::tempdir().unwrap();
    drop(with_two(dir.path()));
    let file = SecretsFile::open(dir.path(), &FileKey::KeyFile).unwrap();
    file.put(&[(&name("b"), &secret("three"))]).unwrap();
    assert_eq!((value(&file, "a"), value(&file, "b")), (Some("hunter2".into()), Some("three".into())));
    file.remove(&[&name("a"), &name("c")]).unwrap();
    assert_eq!(file.names().unwrap(), Some(vec![name("b")]));
    assert_eq!(value(&file, "a"), None);
}

#[test]
fn the_same_secrets_look_different_each_time() {
    let dir = tempfile::tempdir().unwrap();
    let file = with_two(dir.path());
    let before = fs_err::read(dir.path().join(SECRETS_FILE)).unwrap();
    file.put(&[(&name("b"), &secret("two"))]).unwrap();
    let after = fs_err::read(dir.path().join(SECRETS_FILE)).unwrap();
    let equal = before.iter().zip(&after).rev().take_while(|(one, other)| one == other).count();
    assert!(before.len() == after.len() && equal < 4, "the cipher text repeats {equal} bytes");
}

#[test]
fn every_altered_byte_is_noticed_and_nothing_is_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    drop(with_two(dir.path()));
    let path = dir.path().join(SECRETS_FILE);
    let good = fs_err::read(&path).unwrap();
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 1;
        fs_err::write(&path, &bad).unwrap();
        let error = refusal(dir.path(), &FileKey::KeyFile);
        let right = match at {
            0..7 => matches!(error, FileError::NotSecrets(_)),
            7 => matches!(error, FileError::Newer { found: 0, .. }),
            8 => matches!(error, FileError::OtherSource { .. }),
            9..57 => matches!(error, FileError::WrongKey { .. }),
            57..61 => matches!(error, FileError::Length { .. }),
            _ => matches!(error, FileError::Tampered(_)),
        };
        assert!(right, "byte {at}: {error:?}");
    }
}

#[test]
fn a_file_that_ends_early_or_goes_on_is_told_from_an_altered_one() {
    let dir = tempfile::tempdir().unwrap();
    drop(with_two(dir.path()));
    let path = dir.path().join(SECRETS_FILE);
    let good = fs_err::read(&path).unwrap();
    for length in 0..good.len() {
        fs_err::write(&path, &good[..length]).unwrap();
        let error = refusal(dir.path(), &FileKey::KeyFile);
        let right = if length < 8 {
            matches!(error, FileError::NotSecrets(_))
        } else {
            matches!(error, FileError::Length { .. })
        };
        assert!(right, "{length}: {error:?}");
    }
    fs_err::write(&path, [&good[..], b"x"].concat()).unwrap();
    assert!(matches!(refusal(dir.path(), &FileKey::KeyFile), FileError::Length { .. }));
    fs_err::File::create(&path).unwrap().set_len(MAX_FILE + 1).unwrap();
    assert!(matches!(SecretsFile::open(dir.path(), &FileKey::KeyFile), Err(VaultError::File(FileError::TooLong(_)))));
}

#[test]
fn a_file_that_is_gone_is_not_an_empty_one() {
    let dir = tempfile::tempdir().unwrap();
    let file = with_two(dir.path());
    fs_err::remove_file(dir.path().join(SECRETS_FILE)).unwrap();
    assert!(matches!(refusal(dir.path(), &FileKey::KeyFile), FileError::Gone(_)));
    assert!(matches!(file.put(&[(&name("c"), &secret("x"))]), Err(VaultError::File(FileError::Gone(_)))));
    assert!(!dir.path().join(SECRETS_FILE).exists());
}

#[test]
fn the_wrong_key_and_the_wrong_kind_of_key_are_told_apart() {
    let dir = tempfile::tempdir().unwrap();
    let passphrase = |text| FileKey::Passphrase(secret(text));
    drop(SecretsFile::create_or_open(dir.path(), &passphrase("correct horse")).unwrap());
    drop(SecretsFile::open(dir.path(), &passphrase("correct horse")).unwrap());
    assert!(matches!(refusal(dir.path(), &passphrase("correct hors3")), FileError::WrongKey { .. }));
    assert!(matches!(refusal(dir.path(), &FileKey::KeyFile), FileError::OtherSource { .. }));
    assert!(!dir.path().join(KEY_FILE).exists());
}

#[test]
fn a_key_file_that_is_gone_is_not_made_anew() {
    let dir = tempfile::tempdir().unwrap();
    drop(with_two(dir.path()));
    fs_err::remove_file(dir.path().join(KEY_FILE)).unwrap();
    assert!(matches!(refusal(dir.path(), &FileKey::KeyFile), FileError::KeyFileGone(_)));
    assert!(!dir.path().join(KEY_FILE).exists());
}

#[test]
fn an_altered_file_stops_writing_too() {
    let dir = tempfile::tempdir().unwrap();
    let file = with_two(dir.path());
    let path = dir.path().join(SECRETS_FILE);
    let mut bytes = fs_err::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs_err::write(&path, &bytes).unwrap();
    assert!(matches!(file.put(&[(&name("c"), &secret("x"))]), Err(VaultError::File(FileError::Tampered(_)))));
    assert!(matches!(file.remove(&[&name("a")]), Err(VaultError::File(FileError::Tampered(_)))));
    assert_eq!(fs_err::read(&path).unwrap(), bytes);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn no_bytes_are_a_panic_or_secrets(head in 0usize..90, tail in proptest::collection::vec(any::<u8>(), 0..120)) {
        let dir = tempfile::tempdir().unwrap();
        drop(with_two(dir.path()));
        let path = dir.path().join(SECRETS_FILE);
        let good = fs_err::read(&path).unwrap();
        let bad = [&good[..head.min(good.len())], &tail].concat();
        prop_assume!(bad != good);
        fs_err::write(&path, bad).unwrap();
        prop_assert!(SecretsFile::open(dir.path(), &FileKey::KeyFile).is_err());
    }
}
