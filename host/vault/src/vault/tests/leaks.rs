//! No value is seen: not in `Debug`, not in an error, not in a file of the folder.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};

use super::fake::Fake;
use super::*;
use crate::{Import, read_value};

/// The beginning of every value here.
const COMMON: &str = "rf_live_9f+Zq/7Kp~2x=Vd_";

fn secret_value(end: &str) -> Secret {
    Secret::new(format!("{COMMON}{end}"))
}

/// The forms in which a value may stand somewhere: raw, hexadecimal, as a list of bytes, in base64 at any offset.
fn forms() -> Vec<String> {
    let hex: String = COMMON.bytes().map(|byte| format!("{byte:02x}")).collect();
    let list = format!("{:?}", COMMON.as_bytes()).trim_matches(['[', ']']).to_owned();
    let mut forms = vec![COMMON.to_owned(), hex.to_uppercase(), hex, list];
    for start in 0..3 {
        // The whole groups of three bytes are the same wherever they stand in a longer text.
        let groups = COMMON.as_bytes()[start..].chunks_exact(3).collect::<Vec<_>>().concat();
        forms.extend([STANDARD.encode(&groups), URL_SAFE.encode(&groups)]);
    }
    forms
}

/// The form in which a value stands in `bytes`, if one does.
fn seen(bytes: &[u8]) -> Option<String> {
    forms().into_iter().find(|form| bytes.windows(form.len()).any(|window| window == form.as_bytes()))
}

fn assert_clean(what: &str, shown: &str) {
    assert_eq!(seen(shown.as_bytes()), None, "{what} shows a value");
}

fn assert_folder_clean(folder: &Path) {
    for entry in fs_err::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(seen(&fs_err::read(&path).unwrap()), None, "{} shows a value", path.display());
    }
}

fn assert_error_clean<T, E: fmt::Display + fmt::Debug>(result: Result<T, E>) {
    let Err(error) = result else { panic!("it should be refused") };
    assert_clean("an error", &format!("{error}\n{error:?}\n{error:#?}"));
}

#[test]
fn the_search_finds_every_form() {
    let value = secret_value("tail");
    for before in ["", "x", "xy"] {
        let longer = format!("{before}{}", value.expose());
        let hex: String = longer.bytes().map(|byte| format!("{byte:02x}")).collect();
        for found in
            [STANDARD.encode(&longer), URL_SAFE.encode(&longer), format!("{:?}", longer.as_bytes()), hex, longer]
        {
            assert!(seen(found.as_bytes()).is_some(), "{found}");
        }
    }
}

/// Every operation, in its successes and its refusals.
fn exercise(vault: &Vault, folder: &Path) {
    let [first, second] = ["first", "second"].map(secret_value);
    let check = |what: &str, shown: &dyn fmt::Debug| {
        assert_clean(what, &format!("{shown:?} {shown:#?}"));
        assert_folder_clean(folder);
    };
    vault.set(name("a"), first.clone()).unwrap();
    check("vault", vault);
    assert_error_clean(vault.set(name("a"), second.clone()));
    vault.rotate(&name("a"), &second).unwrap();
    check("vault", vault);
    assert_error_clean(vault.rotate(&name("b"), &second));
    for bad in [secret_value("\0"), Secret::new(COMMON.repeat(MAX_VALUE))] {
        assert_error_clean(vault.rotate(&name("a"), &bad));
        assert_error_clean(vault.import([(name("c"), bad)]));
    }
    check("import", &vault.import([(name("c"), first.clone()), (name("d"), second.clone())]).unwrap());
    assert_error_clean(vault.import([(name("e"), first.clone()), (name("e"), second)]));
    check("value", &vault.get(&name("a")).unwrap());
    check("values", &vault.all().unwrap());
    check("list", &vault.list());
    check("location", &vault.location());
    vault.remove(&name("a")).unwrap();
    assert_error_clean(vault.remove(&name("a")));
    check("vault", vault);
}

#[test]
fn nothing_is_seen_with_the_encrypted_file() {
    let dir = tempfile::tempdir().unwrap();
    exercise(&in_file(dir.path()), dir.path());
    let locked = tempfile::tempdir().unwrap();
    let vault = Vault::open(locked.path()).unwrap();
    let choice = |end| Choice::File(FileKey::Passphrase(secret_value(end)));
    assert_clean("choice", &format!("{:?}", choice("passphrase")));
    vault.choose(choice("passphrase")).unwrap();
    assert_clean("vault", &format!("{vault:?}"));
    exercise(&vault, locked.path());
    let again = Vault::open(locked.path()).unwrap();
    assert_error_clean(again.choose(choice("another")));
    assert_error_clean(again.all());
}

#[test]
fn nothing_is_seen_with_a_keyring() {
    let dir = tempfile::tempdir().unwrap();
    let fake = Fake::default();
    let vault = fake.vault(dir.path());
    exercise(&vault, dir.path());
    fake.inside.lock().unwrap().patience = Some(1);
    assert_error_clean(vault.import(["x", "y"].map(|n| (name(n), secret_value(n)))));
    assert_folder_clean(dir.path());
}

#[test]
fn nothing_is_seen_of_what_is_imported_or_read() {
    assert_clean("import", &format!("{:?}", Import::parse(&format!("A='{COMMON}'")).unwrap()));
    for text in [
        COMMON.to_owned(),
        format!("A=\"{COMMON}"),
        format!("{COMMON}=x"),
        format!("{{\"a\": \"{COMMON}\", b}}"),
        format!("{{\"a\": [\"{COMMON}\"]}}"),
        format!("{{\"{COMMON}{COMMON}{COMMON}\": \"x\"}}"),
    ] {
        assert_error_clean(Import::parse(&text));
    }
    assert_error_clean(read_value(format!("{COMMON}\0").as_bytes()));
    assert_error_clean(read_value(&[COMMON.as_bytes(), b"\xff"].concat()[..]));
    assert_error_clean(COMMON.parse::<SecretName>());
}
