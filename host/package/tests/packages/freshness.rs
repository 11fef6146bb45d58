//! No silent step back, no silent change of hands, and an end for keys that were lost.

use ringfence_package::{InstallOptions, Installer, PackageFile, Signer, TrustStore};

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
    let again = TrustStore::new(installer.store().database()).add(&lost.public, "acme", &[]);
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
