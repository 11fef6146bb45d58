//! A build without sigstore says so, wherever it meets what it cannot verify, and the rest goes on.

use ringfence_package::{Identity, InstallOptions, PackageFile, TrustStore, TrustedIdentity};
use ringfence_store::TrustedKeyRow;

use crate::support::{Publisher, maps_and_weather, open};

const BUNDLE: &[u8] = include_bytes!("../bundles/cosign-v3-blob.sigstore.json");

fn identity() -> Identity {
    Identity::new("dev@example.com".into(), "https://accounts.example.com".into()).unwrap()
}

#[test]
fn a_bundle_is_refused_as_something_that_is_not_built_in() {
    let dir = tempfile::tempdir().unwrap();
    let installer = open(dir.path());
    let publisher = Publisher::new();
    let file = PackageFile { signature: Some(BUNDLE.to_vec()), ..publisher.package("weather", "1.0.0") };
    for allow_unsigned in [false, true] {
        let options = InstallOptions { allow_unsigned, ..InstallOptions::default() };
        let error = installer.plan(file.clone(), options).err().unwrap();
        assert_eq!(error.code(), "signature.not_built_in");
        assert!(error.to_string().contains("--features sigstore"), "{error}");
    }
    let error = TrustedIdentity::new(identity(), None).unwrap_err();
    assert_eq!(error.code(), "trust.not_built_in");
    assert!(error.to_string().contains("--features sigstore"), "{error}");
}

#[test]
fn what_another_build_installed_stops_alone() {
    let dir = tempfile::tempdir().unwrap();
    let (installer, _) = maps_and_weather(dir.path());
    let id = identity().id().to_string();
    let trusted = TrustedIdentity { identity: identity(), root: None };
    let row = TrustedKeyRow {
        key_id: id.clone(),
        public_key: trusted.to_text().unwrap(),
        publisher: "acme".into(),
        sources: vec!["*".into()],
        added_at: 1,
        revoked: None,
    };
    installer.store().database().put_trusted_key(&row).unwrap();
    let database = rusqlite::Connection::open(dir.path().join("state.db")).unwrap();
    let values = [id.as_str(), std::str::from_utf8(BUNDLE).unwrap()];
    database.execute("UPDATE installed SET key_id = ?1, signature = ?2 WHERE source = 'weather'", values).unwrap();
    let inventory = installer.inventory().unwrap();
    let code = |name: &str| {
        let installed = inventory.installed.iter().find(|one| one.source().as_str() == name).unwrap();
        let codes = [installer.runnable(installed).err(), installer.load(installed).err()];
        codes.map(|error| error.map(|error| error.code()))
    };
    assert_eq!(code("maps"), [None, None]);
    assert_eq!(code("weather"), [Some("trust.not_built_in"); 2]);
    // It is listed, and can be revoked for the day when it could be verified again.
    let store = TrustStore::new(installer.store().database());
    assert_eq!(store.list().unwrap().iter().filter_map(|key| key.key.identity()).collect::<Vec<_>>(), [&identity()]);
    store.revoke(identity().id(), "gone").unwrap();
}
