//! No silent step back, no silent change of hands, and an end for keys that were lost.

use ringfence_package::{InstallOptions, Installer, PackageFile, Rotation, Signer, TrustStore};

use crate::support::{Publisher, install, open, package, trust};

fn outcome(installer: &Installer, file: PackageFile, options: InstallOptions) -> &'static str {
    install(installer, file, options).map_or_else(|error| error.code(), |_| "ok")
}

fn strict() -> InstallOptions {
    InstallOptions::default()
}

#[test]
fn an_update_never_steps_back_and_never_changes_hands() {
    let dir = tempfile::tempdir().unwrap();
    let installer = open(dir.path());
    let (first, second, third) = (Publisher::new(), Publisher::new(), Publisher::new());
    for publisher in [&first, &second, &third] {
        trust(&installer, publisher, &["weather"]);
    }
    let from = |publisher: &Publisher, version| publisher.package("weather", version);
    assert_eq!(outcome(&installer, from(&first, "1.2.0"), strict()), "ok");
    assert_eq!(outcome(&installer, from(&first, "1.1.9"), strict()), "install.older");

    let mut other = package("weather", "1.2.0");
    other.extend_from_slice(&[0, 3, 1, b'x', b'y']);
    assert_eq!(outcome(&installer, first.sign(other), strict()), "install.same_version");
    assert_eq!(outcome(&installer, from(&first, "1.10.0"), strict()), "ok", "10 is more than 2");

    assert_eq!(outcome(&installer, from(&second, "1.11.0"), strict()), "install.signer_changed");
    let accepted = InstallOptions { accept_signer: Some(Signer::Key(second.public.id())), ..strict() };
    assert_eq!(outcome(&installer, from(&second, "1.11.0"), accepted.clone()), "ok");
    assert_eq!(outcome(&installer, from(&third, "1.12.0"), accepted), "install.signer_changed");

    let source = "weather".to_owned().try_into().unwrap();
    installer.remove(&source).unwrap();
    assert_eq!(outcome(&installer, from(&second, "1.1.9"), strict()), "install.older");
    assert_eq!(outcome(&installer, from(&first, "1.12.0"), strict()), "install.signer_changed");
    let downgrade = InstallOptions { allow_downgrade: true, ..strict() };
    assert_eq!(outcome(&installer, from(&second, "1.1.9"), downgrade), "ok");
    assert_eq!(outcome(&installer, from(&second, "1.2.1"), strict()), "install.older", "the highest is remembered");
}

#[test]
fn a_revoked_key_stops_its_tools_and_no_others() {
    let dir = tempfile::tempdir().unwrap();
    let (lost, good) = (Publisher::new(), Publisher::new());
    {
        let installer = open(dir.path());
        trust(&installer, &lost, &["weather"]);
        trust(&installer, &good, &["maps"]);
        install(&installer, lost.package("weather", "1.0.0"), strict()).unwrap();
        install(&installer, good.package("maps", "1.0.0"), strict()).unwrap();
        TrustStore::new(installer.store().database()).revoke(lost.public.id(), "laptop stolen").unwrap();
    }
    let installer = open(dir.path());
    let [maps, weather] = installer.inventory().unwrap().installed.try_into().unwrap();
    for refused in [installer.runnable(&weather).unwrap_err(), installer.load(&weather).unwrap_err()] {
        assert_eq!(refused.code(), "trust.revoked_key");
        assert!(refused.to_string().contains("laptop stolen"), "{refused}");
    }
    installer.runnable(&maps).unwrap();
    installer.load(&maps).unwrap();
    assert_eq!(outcome(&installer, lost.package("weather", "2.0.0"), strict()), "trust.revoked_key");
    let again = TrustStore::new(installer.store().database()).add(lost.public.clone(), "acme", &[]);
    assert_eq!(again.unwrap_err().code(), "trust.stays_revoked");
}

#[test]
fn a_key_signs_only_what_the_operator_lets_it_sign() {
    let dir = tempfile::tempdir().unwrap();
    let installer = open(dir.path());
    let publisher = Publisher::new();
    for (sources, name, expected) in [
        (vec![], "weather", "trust.name_not_allowed"),
        (vec!["maps", "weather-*"], "weather", "trust.name_not_allowed"),
        (vec!["weather-*"], "weather-eu", "ok"),
        (vec!["weather"], "weather", "ok"),
        (vec!["*"], "anything", "ok"),
    ] {
        trust(&installer, &publisher, &sources);
        assert_eq!(outcome(&installer, publisher.package(name, "1.0.0"), strict()), expected, "{sources:?} {name}");
    }
    // Taking a name away stops what was installed under it.
    trust(&installer, &publisher, &["weather"]);
    let installed = installer.installed(&"anything".to_owned().try_into().unwrap()).unwrap().unwrap();
    assert_eq!(installer.runnable(&installed).unwrap_err().code(), "trust.name_not_allowed");
}

#[test]
fn trust_that_changes_between_plan_and_commit_counts() {
    let dir = tempfile::tempdir().unwrap();
    let installer = open(dir.path());
    let publisher = Publisher::new();
    trust(&installer, &publisher, &["*"]);
    let plan = installer.plan(publisher.package("weather", "1.0.0"), strict()).ok().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let checked = runtime.block_on(installer.check(plan, &crate::support::FakeCompiler)).ok().unwrap();
    TrustStore::new(installer.store().database()).revoke(publisher.public.id(), "just now").unwrap();
    assert_eq!(installer.commit(checked).unwrap_err().code(), "trust.revoked_key");
    assert!(installer.inventory().unwrap().installed.is_empty());
}

/// What `installer` makes of a statement that `statement` and `signature` are.
fn rotated(installer: &Installer, (statement, signature): &(String, String)) -> &'static str {
    let trust = TrustStore::new(installer.store().database());
    trust.rotate(statement, signature.as_bytes()).map_or_else(
        |error| {
            assert!(error.to_string().contains(": "), "cause and remedy: {error}");
            error.code()
        },
        |_| "ok",
    )
}

#[test]
fn a_key_that_the_old_one_names_updates_what_that_one_signed() {
    let dir = tempfile::tempdir().unwrap();
    let installer = open(dir.path());
    let [first, second, third] = [(); 3].map(|()| Publisher::new());
    trust(&installer, &first, &["weather", "maps-*"]);
    let from = |publisher: &Publisher, version| publisher.package("weather", version);
    assert_eq!(outcome(&installer, from(&first, "1.10.0"), strict()), "ok");
    assert_eq!(outcome(&installer, from(&second, "1.11.0"), strict()), "trust.unknown_key");
    assert_eq!(rotated(&installer, &first.rotation(&second)), "ok");

    // The old one's package runs on, and the new one has its names and no others.
    let source = "weather".to_owned().try_into().unwrap();
    installer.runnable(&installer.installed(&source).unwrap().unwrap()).unwrap();
    assert_eq!(outcome(&installer, second.package("maps-eu", "1.0.0"), strict()), "ok");
    assert_eq!(outcome(&installer, second.package("other", "1.0.0"), strict()), "trust.name_not_allowed");
    assert_eq!(outcome(&installer, from(&second, "1.9.0"), strict()), "install.older");
    assert_eq!(outcome(&installer, from(&second, "1.11.0"), strict()), "ok");
    let listed = TrustStore::new(installer.store().database()).list().unwrap();
    assert_eq!(listed.iter().map(|key| key.publisher.as_str()).collect::<Vec<_>>(), ["acme", "acme"]);

    // There is no way back, and the next key may follow two steps behind.
    assert_eq!(outcome(&installer, from(&first, "1.12.0"), strict()), "install.signer_changed");
    assert_eq!(outcome(&installer, first.package("maps-us", "1.0.0"), strict()), "ok");
    assert_eq!(rotated(&installer, &second.rotation(&third)), "ok");
    assert_eq!(outcome(&installer, third.package("maps-us", "1.1.0"), strict()), "ok");
    assert_eq!(outcome(&installer, from(&third, "1.12.0"), strict()), "ok");
}

#[test]
fn a_change_of_keys_that_the_old_one_did_not_state_is_refused_with_its_cause() {
    let dir = tempfile::tempdir().unwrap();
    let installer = open(dir.path());
    let store = TrustStore::new(installer.store().database());
    let [first, second, third, stranger] = [(); 4].map(|()| Publisher::new());
    trust(&installer, &first, &["weather"]);
    let good = first.rotation(&second);
    let signed = |publisher: &Publisher, text: String| (text.clone(), publisher.signature(&text));
    let of = |from: &Publisher, to: &Publisher| Rotation { from: from.public.id(), to: to.public.clone() }.to_text();
    trust(&installer, &third, &["maps"]);
    for (attempt, expected) in [
        (stranger.rotation(&second), "trust.unknown_key"),
        (signed(&third, of(&first, &second)), "rotation.other_signer"),
        (signed(&first, of(&first, &first)), "rotation.same_key"),
        (signed(&first, "weather".to_owned()), "rotation.malformed"),
        ((good.0.replace("from", "From"), good.1.clone()), "signature.wrong"),
        ((of(&first, &stranger), good.1.clone()), "signature.wrong"),
        ((good.0.clone(), good.1.replace("key rotation", "key\tnothing")), "signature.wrong"),
        ((good.0.clone(), String::new()), "signature.malformed"),
    ] {
        assert_eq!(rotated(&installer, &attempt), expected, "{}", attempt.0);
    }
    // One bit of it, anywhere.
    for place in 0..good.0.len() {
        let mut altered = good.0.clone().into_bytes();
        altered[place] ^= 1;
        if let Ok(altered) = String::from_utf8(altered) {
            assert_eq!(rotated(&installer, &(altered, good.1.clone())), "signature.wrong", "{place}");
        }
    }
    assert_eq!(store.list().unwrap().len(), 2, "nothing has changed");
    assert_eq!(outcome(&installer, second.package("weather", "1.0.0"), strict()), "trust.unknown_key");

    // Once taken, it is not taken again, nor is another one of that key; and no key that was given up comes back.
    assert_eq!(rotated(&installer, &good), "ok");
    assert_eq!(rotated(&installer, &good), "rotation.taken");
    assert_eq!(rotated(&installer, &first.rotation(&stranger)), "rotation.taken");
    assert_eq!(rotated(&installer, &second.rotation(&first)), "rotation.given_up");
}

#[test]
fn a_revoked_key_names_no_successor_and_becomes_none() {
    let [first, second] = [(); 2].map(|()| Publisher::new());
    for (revoked, expected) in [(&first, "trust.revoked_key"), (&second, "trust.stays_revoked")] {
        let dir = tempfile::tempdir().unwrap();
        let installer = open(dir.path());
        trust(&installer, &first, &["weather"]);
        trust(&installer, &second, &["maps"]);
        TrustStore::new(installer.store().database()).revoke(revoked.public.id(), "laptop stolen").unwrap();
        assert_eq!(rotated(&installer, &first.rotation(&second)), expected);
        assert_ne!(outcome(&installer, second.package("weather", "1.0.0"), strict()), "ok");
    }
    // A new key that is revoked later ends with what it signed; the old one does not come back by that.
    let dir = tempfile::tempdir().unwrap();
    let installer = open(dir.path());
    trust(&installer, &first, &["weather"]);
    assert_eq!(rotated(&installer, &first.rotation(&second)), "ok");
    TrustStore::new(installer.store().database()).revoke(second.public.id(), "laptop stolen").unwrap();
    assert_eq!(outcome(&installer, second.package("weather", "1.0.0"), strict()), "trust.revoked_key");
    assert_eq!(rotated(&installer, &first.rotation(&second)), "rotation.taken");
}
