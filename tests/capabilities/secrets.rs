//! Secrets: stored, listed, used without being seen, and found nowhere.

use serde_json::{Value, json};

use super::{call, files, home, network};
use crate::support::binary::Home;
use crate::support::server::Server;

const SECRET: &str = "Jefe-and-some-more-characters";

const ASKS: &str = "[capabilities.secrets]\ntest = [\"hook_*\"]\nsign = [\"hook_key\"]\n";

#[test]
fn secrets_are_stored_listed_rotated_and_removed_without_being_shown() {
    let home = Home::new();
    assert!(home.run("secret list").ok().contains("no secrets"));
    let out = home.fed(&["secret", "set", "hook_key", "--place", "file"], &format!("{SECRET}\n")).ok();
    assert!(out.contains("hook_key") && out.contains("the encrypted file") && !out.contains(SECRET), "{out}");
    home.fed(&["secret", "set", "hook_key"], "another value").fails(3, &["hook_key", "rotate"]);
    home.fed(&["secret", "rotate", "hook_key"], "another value").ok();
    home.fed(&["secret", "rotate", "nobody"], "another value").fails(5, &["nobody"]);
    home.fed(&["secret", "set", "pin"], "1234").fails(2, &["shorter than 8 bytes"]);
    home.fed(&["secret", "rotate", "hook_key"], "1234").fails(2, &["shorter than 8 bytes"]);
    home.fed(&["secret", "set", "Not A Name"], "another value").fails(2, &["not the name of a secret"]);
    let file = home.file("secrets.env", "export API_KEY=\"0123456789abcdef\"\n# comment\nOTHER=0123456789\n");
    let out = home.args(&["secret", "import", file.to_str().unwrap()]).ok();
    assert!(out.contains("api_key") && out.contains("other"), "{out}");
    home.run("secret remove other").ok();
    let names = home.run("secret list --json").json();
    let names: Vec<_> =
        names["secrets"].as_array().unwrap().iter().map(|s| s["name"].as_str().unwrap().to_owned()).collect();
    assert_eq!(names, ["api_key", "hook_key"]);
    home.run("secret remove other").fails(5, &["other"]);
    // In no file of the home, in no usual form.
    let forms = [SECRET.to_owned(), "another value".into(), "0123456789abcdef".into(), "SmVmZS1hbmQt".into()];
    for entry in files(&home) {
        let bytes = std::fs::read(&entry).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        assert!(!forms.iter().any(|form| text.contains(form.as_str())), "{}", entry.display());
    }
}

#[test]
fn the_host_signs_and_says_what_is_there_as_far_as_that_was_granted() {
    let home = home("signer", ASKS, "");
    home.fed(&["secret", "set", "hook_key", "--place", "file"], SECRET).ok();
    home.fed(&["secret", "set", "unrelated_key"], "0123456789").ok();
    home.run("grant reach --all").ok();
    assert_eq!(call(&home, "has", &json!({"name": "hook_key"})).ok().trim(), "true");
    assert_eq!(call(&home, "has", &json!({"name": "hook_none"})).ok().trim(), "false");
    call(&home, "has", &json!({"name": "unrelated_key"})).fails(1, &["did not grant"]);
    // HMAC-SHA-256 (RFC 2104) of "message", as openssl has it.
    let expected = expected_signature();
    assert_eq!(call(&home, "signature", &json!({"name": "hook_key"})).ok().trim(), expected);
    call(&home, "signature", &json!({"name": "unrelated_key"})).fails(1, &["did not grant"]);
    home.run("secret remove hook_key").ok();
    call(&home, "signature", &json!({"name": "hook_key"}))
        .fails(6, &["has to store the secret `hook_key`", "hint: `ringfence secret set hook_key`"]);
}

#[test]
fn asking_about_a_secret_and_signing_with_it_are_granted_apart() {
    let home = home("signer", ASKS, "");
    home.fed(&["secret", "set", "hook_key", "--place", "file"], SECRET).ok();
    let name = json!({"name": "hook_key"});
    home.args(&["grant", "reach", "--test-secret", "hook_key"]).ok();
    assert_eq!(call(&home, "has", &name).ok().trim(), "true");
    call(&home, "has", &json!({"name": "hook_none"})).fails(1, &["did not grant"]);
    call(&home, "signature", &name).fails(1, &["did not grant"]);
    home.run("revoke reach").ok();
    home.args(&["grant", "reach", "--sign-with", "hook_key"]).ok();
    assert_eq!(call(&home, "signature", &name).ok().trim(), expected_signature());
    call(&home, "has", &name).fails(1, &["did not grant"]);
}

#[test]
fn a_secret_whose_value_is_gone_stops_what_needs_it_and_nothing_else() {
    let server = Server::echo();
    let credential = |name: &str| {
        let url = server.url(&format!("/api/{name}"));
        format!(
            "[capabilities.credentials.{name}]\nplace = {{ header = {{ name = \"x-key\" }} }}\n\
             requests = [{{ url = \"{url}\" }}]\n"
        )
    };
    let asks = format!("{}{}{}", network::asks(&server, ""), credential("one"), credential("two"));
    let home = home("fetcher", &asks, "");
    home.fed(&["secret", "set", "kept_key", "--place", "file"], SECRET).ok();
    // As after a reboot with the kernel's keyring: listed, and the place knows nothing of it.
    let index = home.path().join("home/state/vault/vault.json");
    let mut record: Value = serde_json::from_slice(&std::fs::read(&index).unwrap()).unwrap();
    record["secrets"]["gone_key"] = json!({"created": 1, "rotated": null});
    std::fs::write(&index, record.to_string()).unwrap();
    let given = ["--credential", "one=kept_key", "--credential", "two=gone_key", "--address", "127.0.0.1/32"];
    home.args(&[&["grant", "reach", "--all"], &given[..]].concat()).ok();
    let fetch = |path: &str| call(&home, "fetch", &json!({"method": "GET", "url": server.url(path)}));
    assert!(fetch("/api/one").ok().contains("200") && fetch("/api/other").ok().contains("200"));
    fetch("/api/two").fails(6, &["the credential `two`", "the secret `gone_key` has no value any more"]);
    let seen = server.seen().len();
    assert_eq!(seen, 2);
    assert!(home.run("secret list").ok().contains("`gone_key` has no value any more"));
    let listed = home.run("secret list --json").json();
    let lost: Vec<_> = listed["secrets"].as_array().unwrap().iter().map(|s| (&s["name"], &s["lost"])).collect();
    assert_eq!(lost, [(&json!("gone_key"), &json!(true)), (&json!("kept_key"), &json!(false))]);
    let rotated = home.fed(&["secret", "rotate", "gone_key"], "another value").ok();
    assert!(!rotated.contains("no value any more"), "{rotated}");
    fetch("/api/two").ok();
}

#[test]
fn secrets_are_listed_with_what_they_are_for() {
    let asks = "[[capabilities.http]]\nurl = \"https://a.example/**\"\n[capabilities.credentials.token]\n\
                place = { header = { name = \"x-key\" } }\nrequests = [{ url = \"https://a.example/**\" }]\n\
                description = \"The key of your account.\"\n";
    let home = home("fetcher", asks, "");
    home.fed(&["secret", "set", "a_key", "--place", "file"], SECRET).ok();
    home.fed(&["secret", "set", "other_key"], "another value").ok();
    home.run("grant reach --credential token=a_key").ok();
    let output = home.args(&["--json", "call", "secret_list"]).json();
    let expected = json!({"stored": [
        {"name": "a_key", "used_for": [{
            "source": "reach", "called": "token", "place": "header x-key", "description": "The key of your account.",
        }]},
        {"name": "other_key", "used_for": []},
    ]});
    assert_eq!(output["structured"], expected);
    assert!(!output.to_string().contains(SECRET));
}

#[test]
fn a_value_is_given_out_where_the_operator_allows_that_and_is_on_record() {
    let home = Home::new();
    home.fed(&["secret", "set", "shown_key", "--place", "file"], SECRET).ok();
    home.fed(&["secret", "set", "hidden_key"], "another value").ok();
    let get = |name: &str| home.args(&["call", "secret_get", &json!({"name": name}).to_string()]);
    get("shown_key").fails(5, &["secret_get"]);
    home.file("home/config.toml", "[secrets]\nreveal = [\"shown_*\"]\n");
    assert_eq!(get("shown_key").ok().trim(), SECRET);
    get("hidden_key").fails(1, &["does not let the secret `hidden_key` be seen"]);
    get("shown_none").fails(1, &["there is no secret `shown_none`"]);
    let audit = home.run("audit --json").json();
    let revealed: Vec<_> = audit.as_array().unwrap().iter().filter(|event| event["event"] == "revealed").collect();
    assert_eq!(revealed.len(), 1, "{audit}");
    assert_eq!(revealed[0]["outcome"], "shown_key");
    home.run("audit --verify").ok();
    // Nothing else gets through with it: the next result is as clean as ever, and so is the record.
    let out = home.args(&["call", "echo", &json!({"message": SECRET}).to_string()]).ok();
    assert_eq!(out.trim(), "[REDACTED:shown_key]");
    for entry in files(&home) {
        assert!(!String::from_utf8_lossy(&std::fs::read(&entry).unwrap()).contains(SECRET), "{}", entry.display());
    }
    home.file("home/config.toml", "[secrets]\nreveal = [\"*\"]\n");
    get("shown_key").fails(1, &["names nothing"]);
}

/// A file that only its owner can read.
fn private(home: &Home, name: &str, content: &str) -> String {
    let path = home.file(name, content);
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_passphrase_comes_from_a_file_or_a_descriptor() {
    let home = Home::new();
    let file = private(&home, "passphrase", "correct horse battery\n");
    let with = |variable: &str, value: &str, args: &[&str]| {
        let mut command = home.command();
        command.args(args).env(variable, value);
        Home::feed(command, SECRET)
    };
    let named = "RINGFENCE_PASSPHRASE_FILE";
    let set = ["secret", "set", "a_key", "--place", "file", "--key", "passphrase"];
    home.fed(&set, SECRET).fails(2, &[named]);
    let out = with(named, &file, &set).ok();
    assert!(out.contains("the encrypted file with a passphrase"), "{out}");
    // Locked for whoever does not have it, and open for whoever has.
    home.fed(&["secret", "set", "b_key"], SECRET).fails(6, &["locked", named]);
    with(named, &file, &["secret", "set", "b_key"]).ok();
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "exec \"$@\" 3<passphrase", "sh"]).arg(home.command().get_program());
    command.args(["secret", "set", "c_key"]).current_dir(home.path());
    command.env("RINGFENCE_HOME", home.path().join("home")).env(named, "/dev/fd/3");
    assert!(Home::feed(command, SECRET).ok().contains("c_key"));
    let wrong = private(&home, "wrong", "incorrect horse");
    with(named, &wrong, &["tools"]).fails(1, &["this is not the key"]);
    with(named, "/nowhere/passphrase", &["tools"]).fails(1, &[named, "/nowhere/passphrase"]);
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    with(named, &file, &["tools"]).fails(1, &["chmod 600"]);
    home.args(&["secret", "set", "x_key", "--place", "kernel", "--key", "file"]).fails(2, &["--place file"]);
}

#[test]
fn a_systemd_credential_opens_the_file() {
    let home = Home::new();
    private(&home, "credentials/ringfence", "a credential of systemd");
    let folder = home.path().join("credentials");
    let with = |args: &[&str]| {
        let mut command = home.command();
        command.args(args).env("CREDENTIALS_DIRECTORY", &folder);
        Home::feed(command, SECRET)
    };
    let set = ["secret", "set", "a_key", "--place", "file", "--key", "credential"];
    home.fed(&set, SECRET).fails(6, &["LoadCredential=ringfence"]);
    assert!(with(&set).ok().contains("the encrypted file with a systemd credential"));
    with(&["secret", "set", "b_key"]).ok();
    home.fed(&["secret", "set", "c_key"], SECRET).fails(6, &["locked"]);
}

#[test]
fn what_a_tool_wrote_of_a_secret_is_not_in_the_operators_log() {
    let with_key = |home: Home| {
        home.fed(&["secret", "set", "hook_key", "--place", "file"], SECRET).ok();
        home
    };
    let asks = "[[capabilities.http]]\nurl = \"http://127.0.0.1:9/**\"\n";
    let fetcher = with_key(home("fetcher", asks, ""));
    fetcher.run("grant reach --all").ok();
    let url = format!("https://other.example/{SECRET}/x");
    let run = call(&fetcher, "fetch", &json!({"method": "GET", "url": url}));
    let relay = with_key(home("relay", "[capabilities.tools]\nother = \"any tool\"\n", ""));
    relay.run("grant reach --tool other=echo").ok();
    // As much of an alias is shown as is before the middle of the secret.
    let alias = format!("{}{SECRET}", "a".repeat(40));
    for (run, said) in [(run, "may not reach"), (call(&relay, "relay", &json!({"alias": alias})), "may call no tool")] {
        assert!(run.code != 0 && run.err.contains(said) && run.err.contains("[REDACTED:hook_key]"), "{run:?}");
        run.shows_nothing_of(SECRET);
        assert!(!run.err.contains(&SECRET[..8]), "{run:?}");
    }
}

/// What OpenSSL makes of it.
fn expected_signature() -> String {
    let command = format!("printf message | openssl dgst -sha256 -hmac {SECRET} | sed 's/.* //'");
    let output = std::process::Command::new("sh").args(["-c", &command]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}
