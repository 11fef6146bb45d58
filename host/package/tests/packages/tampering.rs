//! One changed byte, anywhere: never runs.

use proptest::prelude::*;
use ringfence_package::{InstallOptions, Installer, PackageFile, Signature};

use crate::support::{Publisher, install, maps_and_weather, open, trust};

const UNTRUSTED: &[u8] = b"untrusted comment: ";

fn refused(installer: &Installer, file: PackageFile) -> Option<&'static str> {
    installer.plan(file, InstallOptions::default()).err().map(|error| error.code())
}

/// Where the free text of the untrusted comment stands: the one thing that minisign does not sign, and nobody reads.
fn untrusted_text(signature: &[u8]) -> std::ops::Range<usize> {
    UNTRUSTED.len()..signature.iter().position(|b| *b == b'\n').unwrap()
}

struct Signed {
    installer: Installer,
    file: PackageFile,
    signature: Vec<u8>,
    _dir: tempfile::TempDir,
}

fn signed() -> Signed {
    let dir = tempfile::tempdir().unwrap();
    let installer = open(dir.path());
    let publisher = Publisher::new();
    trust(&installer, &publisher, &["weather"]);
    let file = publisher.package("weather", "1.0.0");
    let signature = file.signature.clone().unwrap();
    assert_eq!(refused(&installer, file.clone()), None);
    Signed { installer, file, signature, _dir: dir }
}

#[test]
fn every_bit_of_the_signature_file_counts() {
    let Signed { installer, file, signature, _dir } = signed();
    let free = untrusted_text(&signature);
    for (i, bit) in (0..signature.len()).flat_map(|i| (0..8).map(move |bit| (i, bit))) {
        let mut altered = signature.clone();
        altered[i] ^= 1 << bit;
        let outcome = refused(&installer, PackageFile { signature: Some(altered.clone()), ..file.clone() });
        // Even in the free text, a change must not turn it into another line or a control character.
        let harmless = free.contains(&i)
            && std::str::from_utf8(&altered).is_ok_and(|t| !t[free.clone()].contains(char::is_control));
        assert_eq!(outcome.is_none(), harmless, "byte {i}, bit {bit}: {outcome:?}");
    }
}

#[test]
fn every_byte_of_the_package_counts() {
    let Signed { installer, file, signature, _dir } = signed();
    for i in 0..file.component.len() {
        let mut component = file.component.clone();
        component[i] ^= 1 << (i % 8);
        let altered = PackageFile { component, signature: Some(signature.clone()) };
        assert_eq!(refused(&installer, altered), Some("signature.wrong"), "byte {i}");
    }
    for component in
        [&file.component[1..], &file.component[..file.component.len() - 1], &[&file.component[..], b"\0"].concat()]
    {
        let altered = PackageFile { component: component.to_vec(), signature: Some(signature.clone()) };
        assert_eq!(refused(&installer, altered), Some("signature.wrong"));
    }
}

#[test]
fn a_signature_of_another_file_or_with_another_comment_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let installer = open(dir.path());
    let publisher = Publisher::new();
    trust(&installer, &publisher, &["*"]);
    let (mine, other) = (publisher.package("weather", "1.0.0"), publisher.package("weather", "1.0.1"));
    let text = |file: &PackageFile| String::from_utf8(file.signature.clone().unwrap()).unwrap();
    let (mine_text, other_text) = (text(&mine), text(&other));
    let with = |signature: String| PackageFile { signature: Some(signature.into_bytes()), ..mine.clone() };
    assert_eq!(refused(&installer, with(other_text.clone())), Some("signature.wrong"));
    // A comment that was signed, but for another signature.
    let (mine_lines, other_lines): (Vec<_>, Vec<_>) = (mine_text.lines().collect(), other_text.lines().collect());
    let mixed = [mine_lines[0], mine_lines[1], other_lines[2], other_lines[3], ""].join("\n");
    assert_eq!(refused(&installer, with(mixed)), Some("signature.wrong"));
    for (spoilt, code) in [
        (mine_text.replace("trusted comment: timestamp", "trusted comment: timestomp"), "signature.wrong"),
        (mine_text.replace('\n', "\r\n"), "signature.malformed"),
        (format!("{mine_text}\n"), "signature.malformed"),
        (format!("{mine_text}more\n"), "signature.malformed"),
        (mine_lines[..3].join("\n"), "signature.malformed"),
        (String::new(), "signature.malformed"),
        ("x".repeat(20_000), "signature.malformed"),
    ] {
        assert_eq!(refused(&installer, with(spoilt.clone())), Some(code), "{spoilt}");
    }
}

#[test]
fn what_is_installed_is_proven_again_when_it_is_loaded() {
    let dir = tempfile::tempdir().unwrap();
    let installer = open(dir.path());
    let (publisher, other) = (Publisher::new(), Publisher::new());
    trust(&installer, &publisher, &["*"]);
    trust(&installer, &other, &["*"]);
    let file = publisher.package("weather", "1.0.0");
    let installed = install(&installer, file.clone(), InstallOptions::default()).unwrap();
    let path = dir.path().join(format!("tools/{}.wasm", installed.digest()));
    for i in 0..file.component.len() {
        let mut altered = file.component.clone();
        altered[i] ^= 1 << (i % 8);
        fs_err::write(&path, altered).unwrap();
        assert_eq!(installer.load(&installed).unwrap_err().code(), "install.altered", "byte {i}");
    }
    fs_err::remove_file(&path).unwrap();
    assert_eq!(installer.load(&installed).unwrap_err().code(), "install.altered");
    fs_err::write(&path, &file.component).unwrap();
    installer.load(&installed).unwrap();

    let database = rusqlite::Connection::open(dir.path().join("state.db")).unwrap();
    let other_key = other.public.id().to_string();
    let other_signature = String::from_utf8(other.sign(file.component).signature.unwrap()).unwrap();
    for (column, value, code) in [
        ("manifest", r#"{"format":1}"#, "manifest.malformed"),
        ("manifest", &installed_manifest(&database).replace("today", "tonight"), "install.altered"),
        ("key_id", &other_key, "install.altered"),
        ("signature", &other_signature, "install.altered"),
        ("signature", "", "signature.malformed"),
        ("digest", &"0".repeat(64), "install.altered"),
    ] {
        let before: String =
            database.query_row(&format!("SELECT {column} FROM installed"), [], |row| row.get(0)).unwrap();
        database.execute(&format!("UPDATE installed SET {column} = ?1"), [value]).unwrap();
        let loaded = installer.installed(installed.source()).and_then(|row| installer.load(&row.unwrap()));
        assert_eq!(loaded.unwrap_err().code(), code, "{column}");
        database.execute(&format!("UPDATE installed SET {column} = ?1"), [before]).unwrap();
    }
    assert_eq!(installer.inventory().unwrap().installed, [installed]);
}

fn installed_manifest(database: &rusqlite::Connection) -> String {
    database.query_row("SELECT manifest FROM installed", [], |row| row.get(0)).unwrap()
}

#[test]
fn a_record_that_cannot_be_used_stops_no_other_tool() {
    let dir = tempfile::tempdir().unwrap();
    let (installer, publisher) = maps_and_weather(dir.path());
    let database = rusqlite::Connection::open(dir.path().join("state.db")).unwrap();
    database.execute("UPDATE installed SET manifest = '' WHERE source = 'maps'", []).unwrap();
    let inventory = installer.inventory().unwrap();
    assert_eq!(inventory.installed.len(), 1);
    assert_eq!(inventory.broken[0].source.as_str(), "maps");
    // It can be installed again, or removed.
    install(&installer, publisher.package("maps", "1.0.0"), InstallOptions::default()).unwrap();
    assert!(installer.inventory().unwrap().broken.is_empty());
}

proptest! {
    #[test]
    fn no_bytes_are_a_signature_and_none_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        prop_assert!(Signature::parse(&bytes).is_err());
    }

    #[test]
    fn no_text_that_looks_like_a_signature_makes_it_panic(
        untrusted in "(untrusted comment: )?.{0,20}", signature in "[A-Za-z0-9+/=]{0,100}",
        trusted in "(trusted comment: )?.{0,20}", global in "[A-Za-z0-9+/=]{0,88}",
    ) {
        let text = [untrusted, signature, trusted, global].join("\n");
        let _ = Signature::parse(text.as_bytes());
    }

    #[test]
    fn no_package_makes_planning_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300), at in 0usize..2000, replace in 0usize..2000) {
        let good = crate::support::package("weather", "1.0.0");
        let at = at.min(good.len());
        let end = (at + replace).min(good.len());
        let spoilt = [&good[..at], &bytes, &good[end..]].concat();
        if let Ok(component) = ringfence_package::Component::read(&spoilt) {
            let _ = (component.contract(), component.manifest());
        }
    }

    #[test]
    fn no_manifest_makes_parsing_panic(text in "\\PC{0,300}", at in 0usize..1000) {
        let mut good = String::from_utf8(crate::support::manifest("weather", "1.0.0").to_bytes().unwrap()).unwrap();
        let at = at.min(good.len());
        good.insert_str(at, &text);
        let _ = ringfence_package::Manifest::parse(good.as_bytes());
        let _ = ringfence_package::Manifest::parse(text.as_bytes());
        let _ = ringfence_package::PackageInfo::parse(&text);
    }
}
