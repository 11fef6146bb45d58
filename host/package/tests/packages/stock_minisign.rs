//! Debian's `minisign` accepts what we sign, and we accept what it signs.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use ringfence_core::Secret;
use ringfence_package::{PackageFile, PublicKey, SecretKey, Signature, SigningError, signing};

/// Runs the stock tool in `folder`; it reads passwords from its standard input.
fn minisign(folder: &Path, arguments: &[&str], input: &str) -> (bool, String) {
    #[expect(clippy::disallowed_methods, reason = "this test is about another program")]
    let mut command = Command::new("minisign");
    let child =
        command.args(arguments).current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = child.spawn().expect("the stock tool is needed: apt-get install minisign");
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&text).into_owned())
}

fn succeeds(folder: &Path, arguments: &[&str], input: &str) -> String {
    let (success, text) = minisign(folder, arguments, input);
    assert!(success, "minisign {arguments:?}: {text}");
    text
}

fn public(folder: &Path, name: &str) -> PublicKey {
    PublicKey::parse(&fs_err::read_to_string(folder.join(name)).unwrap()).unwrap()
}

fn signature(folder: &Path) -> Signature {
    let file = PackageFile::read(&folder.join("tool.wasm")).unwrap();
    Signature::parse(&file.signature.unwrap()).unwrap()
}

#[test]
fn stock_accepts_ours() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    fs_err::write(folder.join("tool.wasm"), "a component").unwrap();
    signing::generate(folder, "me", None).unwrap();
    let secret = SecretKey::read(&folder.join("me.key"), None).unwrap();
    let signed = secret.sign(b"a component", "tool.wasm", "1.2.3").unwrap();
    fs_err::write(folder.join("tool.wasm.minisig"), signed).unwrap();
    let told = succeeds(folder, &["-V", "-p", "me.pub", "-m", "tool.wasm"], "");
    assert!(told.contains("file:tool.wasm\thashed\tversion:1.2.3"), "{told}");
    assert!(!minisign(folder, &["-V", "-p", "me.pub", "-m", "me.pub", "-x", "tool.wasm.minisig"], "").0);

    // And it signs with our key.
    fs_err::remove_file(folder.join("tool.wasm.minisig")).unwrap();
    succeeds(folder, &["-S", "-W", "-s", "me.key", "-m", "tool.wasm"], "");
    signature(folder).verify(b"a component", &public(folder, "me.pub").into()).unwrap();
}

#[test]
fn we_accept_stocks() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    fs_err::write(folder.join("tool.wasm"), "a component").unwrap();
    succeeds(folder, &["-G", "-W", "-p", "stock.pub", "-s", "stock.key"], "");
    succeeds(folder, &["-S", "-W", "-s", "stock.key", "-m", "tool.wasm", "-t", "made by stock"], "");
    let key = public(folder, "stock.pub");
    let signed = signature(folder);
    let trusted = key.clone().into();
    signed.verify(b"a component", &trusted).unwrap();
    assert_eq!(signed.trusted_comment(), Some("made by stock"));
    assert_eq!(signed.verify(b"another one", &trusted).unwrap_err().code(), "signature.wrong");

    // And we sign with its key, under the same id.
    let ours = SecretKey::read(&folder.join("stock.key"), None).unwrap().sign(b"x", "x.wasm", "1.0.0").unwrap();
    Signature::parse(ours.as_bytes()).unwrap().verify(b"x", &trusted).unwrap();
    let comment = fs_err::read_to_string(folder.join("stock.pub")).unwrap();
    let told = comment.lines().next().unwrap().rsplit(' ').next().unwrap();
    assert_eq!(key.id().to_string(), padded(told), "{comment}");
}

/// An id as we write it: stock leaves its leading zeros out, which one key in sixteen has.
fn padded(id: &str) -> String {
    format!("{id:0>16}")
}

#[test]
fn an_id_with_a_leading_zero_is_read() {
    let file = "untrusted comment: minisign public key DDAAE332EDD38AE\n\
                RWSuON0uM67aDclPtei6P7YjffbgTNCC1FpvBzkNRBaHTGKbbQCSCYuW\n";
    assert_eq!(PublicKey::parse(file).unwrap().id().to_string(), padded("DDAAE332EDD38AE"));
}

#[test]
fn stocks_old_kind_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    fs_err::write(folder.join("tool.wasm"), "a component").unwrap();
    succeeds(folder, &["-G", "-W", "-p", "stock.pub", "-s", "stock.key"], "");
    succeeds(folder, &["-S", "-W", "-l", "-s", "stock.key", "-m", "tool.wasm"], "");
    let file = PackageFile::read(&folder.join("tool.wasm")).unwrap();
    assert_eq!(Signature::parse(&file.signature.unwrap()).err().unwrap().code(), "signature.legacy");
}

#[test]
fn encrypted_keys_work_both_ways() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    fs_err::write(folder.join("tool.wasm"), "a component").unwrap();
    let password = Secret::new("correct horse".into());
    signing::generate(folder, "ours", Some(&password)).unwrap();
    succeeds(folder, &["-S", "-s", "ours.key", "-m", "tool.wasm"], "correct horse\n");
    signature(folder).verify(b"a component", &public(folder, "ours.pub").into()).unwrap();

    succeeds(folder, &["-G", "-p", "stock.pub", "-s", "stock.key"], "correct horse\ncorrect horse\n");
    let path = folder.join("stock.key");
    assert!(matches!(SecretKey::read(&path, None), Err(SigningError::PasswordNeeded(_))));
    assert!(matches!(SecretKey::read(&path, Some(&Secret::new("wrong".into()))), Err(SigningError::WrongPassword(_))));
    let signed = SecretKey::read(&path, Some(&password)).unwrap().sign(b"x", "x.wasm", "1.0.0").unwrap();
    Signature::parse(signed.as_bytes()).unwrap().verify(b"x", &public(folder, "stock.pub").into()).unwrap();
}

#[test]
fn keys_are_private_and_never_overwritten() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    signing::generate(dir.path(), "me", None).unwrap();
    let mode = fs_err::metadata(dir.path().join("me.key")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(matches!(signing::generate(dir.path(), "me", None), Err(SigningError::Exists(_))));
    assert!(matches!(SecretKey::read(&dir.path().join("me.pub"), None), Err(SigningError::NotSecretKey(_))));
    let secret = fs_err::read_to_string(dir.path().join("me.key")).unwrap();
    assert_eq!(PublicKey::parse(&secret).unwrap_err().code(), "key.secret");
}
