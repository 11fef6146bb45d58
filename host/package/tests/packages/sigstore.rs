//! Packages signed by an identity: what has to be right before one is taken in, and what is refused.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;
use ringfence_package::{
    Identity, InstallOptions, Installer, PackageFile, Rotation, Signature, Signer, TrustError, TrustStore,
    TrustedIdentity, signature,
};
use serde_json::{Value, json};

use crate::instance::{Instance, Signing};
use crate::support::{Publisher, install, open, package, trust};

const DEV: &str = "dev@example.com";
const ISSUER: &str = "https://accounts.example.com";
const WORKFLOW: &str = "https://git.example.com/acme/weather/.workflows/release.yml@refs/tags/v1.0.0";

fn identity(subject: &str, issuer: &str) -> Identity {
    Identity::new(subject.into(), issuer.into()).unwrap()
}

fn trusted(subject: &str, issuer: &str, instance: &Instance) -> TrustedIdentity {
    TrustedIdentity::new(identity(subject, issuer), Some(instance.trusted_root().to_string())).unwrap()
}

fn store(installer: &Installer) -> TrustStore<'_> {
    TrustStore::new(installer.store().database())
}

fn signed(component: Vec<u8>, bundle: &Value) -> PackageFile {
    PackageFile { component, signature: Some(bundle.to_string().into_bytes()) }
}

fn refused(installer: &Installer, file: PackageFile) -> Option<&'static str> {
    installer.plan(file, InstallOptions::default()).err().map(|error| error.code())
}

/// A host on which `DEV` may sign `weather`, and a package of that name.
struct Case {
    installer: Installer,
    instance: Instance,
    component: Vec<u8>,
    dir: tempfile::TempDir,
}

impl Case {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (installer, instance) = (open(dir.path()), Instance::new());
        store(&installer).add(trusted(DEV, ISSUER, &instance), "acme", &["weather".parse().unwrap()]).unwrap();
        Self { installer, instance, component: package("weather", "1.0.0"), dir }
    }

    fn bundle(&self) -> Value {
        self.instance.sign(&self.component, Signing::by(DEV, ISSUER))
    }

    fn refused(&self, bundle: &Value) -> Option<&'static str> {
        refused(&self.installer, signed(self.component.clone(), bundle))
    }
}

#[test]
fn what_a_trusted_identity_signed_is_installed_and_proven_again_at_every_load() {
    let case = Case::new();
    let file = signed(case.component.clone(), &case.bundle());
    let installed = install(&case.installer, file, InstallOptions::default()).unwrap();
    let id = identity(DEV, ISSUER).id().to_string();
    assert_eq!((installed.key_id(), installed.publisher()), (Some(id.as_str()), "acme"));
    assert_eq!(case.installer.load(&installed).unwrap(), case.component);
    // An update by the same one, with another key and certificate, is no change of hands.
    let update = package("weather", "1.1.0");
    let bundle = case.instance.sign(&update, Signing::by(DEV, ISSUER));
    install(&case.installer, signed(update, &bundle), InstallOptions::default()).unwrap();
}

#[test]
fn a_workflow_signs_by_its_address() {
    let case = Case::new();
    let file = signed(case.component.clone(), &case.instance.sign(&case.component, Signing::by(WORKFLOW, ISSUER)));
    assert_eq!(refused(&case.installer, file.clone()), Some("trust.unknown_identity"));
    let names = ["weather".parse().unwrap()];
    store(&case.installer).add(trusted(WORKFLOW, ISSUER, &case.instance), "acme", &names).unwrap();
    install(&case.installer, file, InstallOptions::default()).unwrap();
}

#[test]
fn nobody_else_is_taken_for_the_identity() {
    let case = Case::new();
    for (subject, issuer) in [
        ("mallory@example.com", ISSUER),
        ("Dev@example.com", ISSUER),
        ("dev@EXAMPLE.com", ISSUER),
        ("dev@example.com.mallory.example", ISSUER),
        ("dev@example.co", ISSUER),
        ("ev@example.com", ISSUER),
        ("xdev@example.com", ISSUER),
        ("https://dev@example.com", ISSUER),
        (DEV, "https://accounts.example.com/"),
        (DEV, "https://accounts.example.co"),
        (DEV, "https://accounts.example.com.mallory.example"),
        (DEV, "HTTPS://accounts.example.com"),
        (DEV, "http://accounts.example.com"),
    ] {
        let bundle = case.instance.sign(&case.component, Signing::by(subject, issuer));
        assert_eq!(case.refused(&bundle), Some("trust.unknown_identity"), "{subject} {issuer}");
        // Neither where an id that is the same leads to the trusted one.
        let signature = Signature::parse(bundle.to_string().as_bytes()).unwrap();
        let verified = signature.verify(&case.component, &trusted(DEV, ISSUER, &case.instance).into());
        assert_eq!(verified.unwrap_err().code(), "signature.other_identity", "{subject} {issuer}");
    }
    let error = case.installer.plan(
        signed(case.component.clone(), &case.instance.sign(&case.component, Signing::by(WORKFLOW, ISSUER))),
        InstallOptions::default(),
    );
    let said = error.err().unwrap().to_string();
    assert!(said.contains(WORKFLOW) && said.contains(ISSUER) && said.contains("--identity WHO"), "{said}");
}

#[test]
fn a_certificate_is_proven_by_the_root_that_the_operator_chose() {
    let case = Case::new();
    let elsewhere = Instance::new();
    let foreign = elsewhere.sign(&case.component, Signing::by(DEV, ISSUER));
    assert_eq!(case.refused(&foreign), Some("signature.unproven"));
    // Each part of it counts by itself.
    let signature = Signature::parse(case.bundle().to_string().as_bytes()).unwrap();
    for part in ["certificateAuthorities", "ctlogs", "tlogs"] {
        let mut root = case.instance.trusted_root();
        root[part] = elsewhere.trusted_root()[part].clone();
        let mixed = TrustedIdentity::new(identity(DEV, ISSUER), Some(root.to_string())).unwrap();
        let verified = signature.verify(&case.component, &mixed.into());
        assert_eq!(verified.unwrap_err().code(), "signature.unproven", "{part}");
    }
    // Who adds a name does not mean another root, and who names another root does.
    let (public, names) = (TrustedIdentity::new(identity(DEV, ISSUER), None).unwrap(), ["weather".parse().unwrap()]);
    let kept = store(&case.installer).add(public.clone(), "acme", &names).unwrap();
    assert!(kept.key.has_own_root());
    assert_eq!((case.refused(&case.bundle()), case.refused(&foreign)), (None, Some("signature.unproven")));
    store(&case.installer).add(trusted(DEV, ISSUER, &elsewhere), "acme", &names).unwrap();
    assert_eq!((case.refused(&case.bundle()), case.refused(&foreign)), (Some("signature.unproven"), None));
    let signature = Signature::parse(foreign.to_string().as_bytes()).unwrap();
    let by_the_public_root = signature.verify(&case.component, &public.into()).unwrap_err();
    assert_eq!(by_the_public_root.code(), "signature.unproven");
}

#[test]
fn certificate_and_log_have_to_be_as_sigstore_makes_them() {
    let case = Case::new();
    let good = Signing::by(DEV, ISSUER);
    for (what, signing) in [
        ("a certificate that is on no record", Signing { recorded: false, ..good }),
        ("one for servers", Signing { for_code: false, ..good }),
        ("a signature from before it was valid", Signing { logged_after: -1, ..good }),
        ("a signature from after it was valid", Signing { logged_after: 601, ..good }),
        ("a signature from the future", Signing { logged_after: 10_000, ..good }),
    ] {
        let bundle = case.instance.sign(&case.component, signing);
        assert_eq!(case.refused(&bundle), Some("signature.unproven"), "{what}");
    }
    // Each part of two good bundles is good, and they do not fit each other.
    let (one, other) = (case.bundle(), case.bundle());
    for part in ["/verificationMaterial/certificate", "/verificationMaterial/tlogEntries", "/messageSignature"] {
        let mut mixed = one.clone();
        *mixed.pointer_mut(part).unwrap() = other.pointer(part).unwrap().clone();
        assert!(matches!(case.refused(&mixed), Some("signature.unproven" | "signature.wrong")), "{part}");
    }
    for part in ["inclusionPromise", "inclusionProof", "canonicalizedBody", "integratedTime"] {
        let mut without = one.clone();
        without["verificationMaterial"]["tlogEntries"][0].as_object_mut().unwrap().remove(part);
        assert!(case.refused(&without).is_some(), "without {part}");
    }
    let mut checkpoint = one.clone();
    checkpoint["verificationMaterial"]["tlogEntries"][0]["inclusionProof"]["checkpoint"] = json!({"envelope": ""});
    assert!(case.refused(&checkpoint).is_some());
    let mut unlogged = one;
    unlogged["verificationMaterial"]["tlogEntries"] = json!([]);
    assert_eq!(case.refused(&unlogged), Some("signature.malformed"));
}

#[test]
fn every_byte_of_the_package_counts() {
    let case = Case::new();
    let bundle = case.bundle();
    assert_eq!(case.refused(&bundle), None);
    for i in 0..case.component.len() {
        let mut component = case.component.clone();
        component[i] ^= 1 << (i % 8);
        assert_eq!(refused(&case.installer, signed(component, &bundle)), Some("signature.wrong"), "byte {i}");
    }
    let other = package("weather", "1.0.1");
    assert_eq!(refused(&case.installer, signed(other, &bundle)), Some("signature.wrong"));
}

/// All texts of `value`, by their place.
fn texts(value: &Value, place: &str, found: &mut Vec<String>) {
    let mut below = |name: &dyn std::fmt::Display, value: &Value| texts(value, &format!("{place}/{name}"), found);
    match value {
        Value::String(_) => found.push(place.to_owned()),
        Value::Object(fields) => fields.iter().for_each(|(name, value)| below(name, value)),
        Value::Array(items) => items.iter().enumerate().for_each(|(i, value)| below(&i, value)),
        _ => {}
    }
}

/// `text` with a bit of byte `i` changed: of what it spells in base64, where it does.
fn changed(text: &str, i: usize) -> Option<String> {
    let flipped = |mut bytes: Vec<u8>| {
        *bytes.get_mut(i)? ^= 1 << (i % 7);
        Some(bytes)
    };
    match STANDARD.decode(text).ok().filter(|_| text.len() > 20) {
        Some(bytes) => flipped(bytes).map(|bytes| STANDARD.encode(bytes)),
        None => flipped(text.as_bytes().to_vec()).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
    }
}

#[test]
fn every_byte_of_what_a_bundle_says_counts() {
    let case = Case::new();
    let bundle = case.bundle();
    let mut places = Vec::new();
    texts(&bundle, "", &mut places);
    assert!(places.len() > 15, "{places:?}");
    let checkpoint = "/verificationMaterial/tlogEntries/0/inclusionProof/checkpoint/envelope";
    for place in &places {
        let text = bundle.pointer(place).unwrap().as_str().unwrap();
        // Who signed a checkpoint is told by the key; the name before it is for people, and nothing comes after it.
        let name = text.find("\u{2014} log.example.com ").filter(|_| place == checkpoint);
        let free = |i: &usize| name.is_some_and(|at| (at + 4..at + 19).contains(i) || *i == text.len() - 1);
        for (i, altered) in (0..).map_while(|i| Some((i, changed(text, i)?))).filter(|(i, _)| !free(i)) {
            let mut spoilt = bundle.clone();
            *spoilt.pointer_mut(place).unwrap() = altered.into();
            assert!(case.refused(&spoilt).is_some(), "{place}, byte {i}");
        }
    }
}

/// Written without a space, so nothing in the file is free but the name before the log's signature and the end of its line,
/// and the names of three fields that may be left out, since they say once more what is known; with the second, whether its
/// value is in capitals.
#[test]
fn every_bit_of_the_file_counts() {
    let case = Case::new();
    let text = case.bundle().to_string();
    let digest = "\"messageDigest\":{\"algorithm\":\"SHA2_256\"";
    let (index, name, end) = ("\"inclusionProof\":{\"logIndex\"", "\u{2014} log.example.com", "\\n\"}}");
    let spans = ["\"mediaType\"", digest, index, name, end];
    let free = spans.map(|span| text.find(span).map(|at| at..at + span.len()).unwrap());
    for (i, bit) in (0..text.len()).flat_map(|i| (0..8).map(move |bit| (i, bit))) {
        let mut altered = text.clone().into_bytes();
        altered[i] ^= 1 << bit;
        let file = PackageFile { component: case.component.clone(), signature: Some(altered) };
        if refused(&case.installer, file).is_none() {
            assert!(free.iter().any(|span| span.contains(&i)), "byte {i}, bit {bit}: {}", &text[i - 20..i + 1]);
        }
    }
}

#[test]
fn what_is_no_bundle_is_refused_as_what_it_is() {
    let case = Case::new();
    let good = case.bundle();
    let mut attestation = good.clone();
    attestation.as_object_mut().unwrap().remove("messageSignature");
    attestation["dsseEnvelope"] = json!({
        "payload": STANDARD.encode("{}"), "payloadType": "application/vnd.in-toto+json", "signatures": [{"sig": "AAAA"}],
    });
    let mut bare_key = good.clone();
    bare_key["verificationMaterial"].as_object_mut().unwrap().remove("certificate");
    bare_key["verificationMaterial"]["publicKey"] = json!({"hint": "a key"});
    let mut without = good.clone();
    without["verificationMaterial"].as_object_mut().unwrap().remove("certificate");
    let text = good.to_string();
    for (what, bundle, code) in [
        ("an attestation", attestation.to_string(), "signature.attestation"),
        ("a bare key", bare_key.to_string(), "signature.no_certificate"),
        ("no certificate", without.to_string(), "signature.malformed"),
        ("one cut off", text[..text.len() / 2].to_owned(), "signature.malformed"),
        ("an empty one", "{}".into(), "signature.malformed"),
        ("a deep one", "{\"a\":".repeat(5000), "signature.malformed"),
        ("a long one", format!("{text}{}", " ".repeat(signature::MAX_BYTES)), "signature.malformed"),
        ("something else", "bundle".into(), "signature.malformed"),
    ] {
        let file = PackageFile { component: case.component.clone(), signature: Some(bundle.into_bytes()) };
        assert_eq!(refused(&case.installer, file), Some(code), "{what}");
    }
    let said = Signature::parse(attestation.to_string().as_bytes()).err().unwrap().to_string();
    assert!(said.contains("DSSE") && said.contains("sign-blob"), "{said}");
}

#[test]
fn one_signature_stands_beside_a_package() {
    let case = Case::new();
    let publisher = Publisher::new();
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs_err::write(at("weather.wasm"), &case.component).unwrap();
    let read = || PackageFile::read(&at("weather.wasm")).map_err(|error| error.code());
    assert!(read().unwrap().signature.is_none());
    fs_err::write(at("weather.wasm.sigstore.json"), case.bundle().to_string()).unwrap();
    assert_eq!(refused(&case.installer, read().unwrap()), None);
    // Which one counts decides whose the name is.
    fs_err::write(at("weather.wasm.minisig"), publisher.sign(case.component.clone()).signature.unwrap()).unwrap();
    assert_eq!(read().err(), Some("signature.two"));
    fs_err::remove_file(at("weather.wasm.minisig")).unwrap();
    fs_err::write(at("weather.wasm.sigstore.json"), vec![b'{'; signature::MAX_BYTES + 1]).unwrap();
    assert_eq!(read().err(), Some("signature.malformed"));
}

#[test]
fn an_identity_signs_what_it_may_until_it_is_revoked() {
    let case = Case::new();
    let other = package("maps", "1.0.0");
    let bundle = case.instance.sign(&other, Signing::by(DEV, ISSUER));
    assert_eq!(refused(&case.installer, signed(other, &bundle)), Some("trust.name_not_allowed"));
    let file = signed(case.component.clone(), &case.bundle());
    let installed = install(&case.installer, file.clone(), InstallOptions::default()).unwrap();
    case.installer.runnable(&installed).unwrap();
    store(&case.installer).revoke(identity(DEV, ISSUER).id(), "left the company").unwrap();
    assert_eq!(case.installer.runnable(&installed).unwrap_err().code(), "trust.revoked_key");
    assert_eq!(case.installer.load(&installed).unwrap_err().code(), "trust.revoked_key");
    assert_eq!(refused(&case.installer, file), Some("trust.revoked_key"));
    let again = store(&case.installer).add(trusted(DEV, ISSUER, &case.instance), "acme", &[]);
    assert!(matches!(again, Err(TrustError::StaysRevoked(_))));
}

#[test]
fn a_name_does_not_go_from_a_key_to_an_identity_silently_nor_back() {
    let case = Case::new();
    let publisher = Publisher::new();
    trust(&case.installer, &publisher, &["weather"]);
    install(&case.installer, publisher.sign(case.component.clone()), InstallOptions::default()).unwrap();
    let next = package("weather", "1.1.0");
    let by_identity = signed(next.clone(), &case.instance.sign(&next, Signing::by(DEV, ISSUER)));
    assert_eq!(refused(&case.installer, by_identity.clone()), Some("install.signer_changed"));
    let accept_signer = Some(Signer::Key(identity(DEV, ISSUER).id()));
    install(&case.installer, by_identity, InstallOptions { accept_signer, ..InstallOptions::default() }).unwrap();
    assert_eq!(refused(&case.installer, publisher.package("weather", "1.2.0")), Some("install.signer_changed"));
}

#[test]
fn an_identity_gives_its_place_to_a_key_by_its_own_word() {
    let case = Case::new();
    let publisher = Publisher::new();
    let file = signed(case.component.clone(), &case.bundle());
    install(&case.installer, file, InstallOptions::default()).unwrap();
    let (from, to) = (identity(DEV, ISSUER).id(), publisher.public.clone());
    let statement = Rotation { from, to }.to_text();
    let rotate = |subject: &str| {
        let bundle = case.instance.sign(statement.as_bytes(), Signing::by(subject, ISSUER)).to_string();
        store(&case.installer).rotate(&statement, bundle.as_bytes())
    };
    assert_eq!(rotate("mallory@example.com").unwrap_err().code(), "trust.unknown_identity");
    rotate(DEV).unwrap();
    install(&case.installer, publisher.package("weather", "1.1.0"), InstallOptions::default()).unwrap();
}

#[test]
fn a_signature_of_another_kind_does_not_count_for_an_id() {
    let case = Case::new();
    let (publisher, bundle) = (Publisher::new(), case.bundle().to_string());
    let by_key = Signature::parse(&publisher.sign(case.component.clone()).signature.unwrap()).unwrap();
    let by_identity = Signature::parse(bundle.as_bytes()).unwrap();
    let other_kind = |verified: Result<(), ringfence_package::SignatureError>| verified.unwrap_err().code();
    let trusted = trusted(DEV, ISSUER, &case.instance).into();
    assert_eq!(other_kind(by_key.verify(&case.component, &trusted)), "signature.other_kind");
    let key = publisher.public.clone().into();
    assert_eq!(other_kind(by_identity.verify(&case.component, &key)), "signature.other_kind");
    // In the record too: another row under the id, and what was installed does not run.
    let file = PackageFile { component: case.component.clone(), signature: Some(bundle.into_bytes()) };
    let installed = install(&case.installer, file, InstallOptions::default()).unwrap();
    let database = rusqlite::Connection::open(case.dir.path().join("state.db")).unwrap();
    let key = publisher.public.as_base64();
    database.execute("UPDATE trusted_key SET public_key = ?1", [key]).unwrap();
    assert_eq!(case.installer.load(&installed).unwrap_err().code(), "signature.other_kind");
    database.execute("UPDATE installed SET signature = '{}'", []).unwrap();
    let altered = case.installer.installed(installed.source()).unwrap().unwrap();
    assert_eq!(case.installer.load(&altered).unwrap_err().code(), "signature.malformed");
}

#[test]
fn a_root_by_which_nothing_can_be_proven_is_not_trusted() {
    let good = Instance::new().trusted_root();
    let code = |root: &Value| {
        let trusted = TrustedIdentity::new(identity(DEV, ISSUER), Some(root.to_string()));
        trusted.map_or_else(|error| error.code(), |_| "ok")
    };
    assert_eq!(code(&good), "ok");
    for part in ["tlogs", "ctlogs", "certificateAuthorities"] {
        let mut without = good.clone();
        without[part] = json!([]);
        assert_eq!(code(&without), "trust.root", "{part}");
    }
    let mut no_key = good.clone();
    no_key["tlogs"][0]["publicKey"]["rawBytes"] = json!("AAAA");
    assert_eq!(code(&no_key), "trust.root");
    assert_eq!(code(&json!("a".repeat(300_000))), "trust.root");
    assert_eq!(code(&json!({})), "trust.root");
    for (subject, issuer) in [("", ISSUER), (DEV, " "), ("dev\n", ISSUER), (DEV, "https://x\u{202e}")] {
        assert_eq!(Identity::new(subject.into(), issuer.into()).unwrap_err().code(), "trust.identity");
    }
}

/// By the root that is built in. What it signs is no component, which is found out after it was verified.
#[test]
fn a_real_bundle_of_the_public_instance_is_verified() {
    let component = include_bytes!("../bundles/cosign-v3-blob.txt").to_vec();
    let bundle: Value = serde_json::from_str(include_str!("../bundles/cosign-v3-blob.sigstore.json")).unwrap();
    let claimed = Signature::parse(bundle.to_string().as_bytes()).unwrap().identity().cloned().unwrap();
    assert_eq!(claimed.issuer, "https://github.com/login/oauth");
    let dir = tempfile::tempdir().unwrap();
    let installer = open(dir.path());
    let add = |subject: &str, issuer: &str| {
        let trusted = TrustedIdentity::new(identity(subject, issuer), None).unwrap();
        store(&installer).add(trusted, "somebody", &["*".parse().unwrap()]).unwrap();
    };
    let outcome = |component: &[u8], bundle: &Value| refused(&installer, signed(component.to_vec(), bundle));
    add(&claimed.subject.to_uppercase(), &claimed.issuer);
    add(&claimed.subject, "https://github.com/login");
    assert_eq!(outcome(&component, &bundle), Some("trust.unknown_identity"));
    add(&claimed.subject, &claimed.issuer);
    assert_eq!(outcome(&component, &bundle), Some("component.not_wasm"));
    assert_eq!(outcome(b"something else", &bundle), Some("signature.wrong"));
    let mut altered = bundle;
    let index = &mut altered["verificationMaterial"]["tlogEntries"][0]["logIndex"];
    *index = json!("1");
    assert_eq!(outcome(&component, &altered), Some("signature.unproven"));
}

proptest! {
    #[test]
    fn no_bytes_make_reading_or_verifying_a_bundle_panic(
        at in 0usize..6000, cut in 0usize..3000, text in "\\PC{0,40}", bytes in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        let good = include_bytes!("../bundles/cosign-v3-blob.sigstore.json");
        let at = at.min(good.len());
        let end = (at + cut).min(good.len());
        let trusted = TrustedIdentity { identity: identity(DEV, ISSUER), root: None }.into();
        for spoilt in [&bytes[..], &[b"{", &bytes[..]].concat(), &[&good[..at], text.as_bytes(), &good[end..]].concat()] {
            if let Ok(signature) = Signature::parse(spoilt) {
                let _ = signature.verify(b"test content for cosign", &trusted);
            }
        }
    }

    /// Bytes of certificate, entry and proof that are something else, under an identity that fits: verification goes as far
    /// as it can.
    #[test]
    fn no_bytes_inside_of_a_bundle_make_verifying_panic(
        field in 0usize..30, at in 0usize..2000, bytes in proptest::collection::vec(any::<u8>(), 0..20),
    ) {
        let mut bundle: Value = serde_json::from_str(include_str!("../bundles/cosign-v3-blob.sigstore.json")).unwrap();
        let mut places = Vec::new();
        texts(&bundle, "", &mut places);
        let text = bundle.pointer_mut(&places[field % places.len()]).unwrap();
        if let Ok(mut decoded) = STANDARD.decode(text.as_str().unwrap()) {
            let at = at.min(decoded.len());
            let end = (at + bytes.len()).min(decoded.len());
            decoded.splice(at..end, bytes);
            *text = json!(STANDARD.encode(decoded));
        }
        if let Ok(signature) = Signature::parse(bundle.to_string().as_bytes()) {
            let identity = signature.identity().cloned().unwrap();
            let _ = signature.verify(b"test content for cosign", &TrustedIdentity { identity, root: None }.into());
        }
    }
}
