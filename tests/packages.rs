//! Packages from end to end: stock minisign, updates while a server runs, limits that a manifest asks for.

use std::process::Command;

use serde_json::json;

use crate::support::binary::Home;
use crate::support::packages::{package, signed};
use crate::support::{guests, repository};

/// Stock minisign, in the home's folder.
fn minisign(home: &Home, args: &[&str]) -> bool {
    let status = Command::new("minisign").args(args).current_dir(home.path()).status();
    status.expect("minisign is installed (apt-get install minisign)").success()
}

#[test]
fn stock_minisign_accepts_our_signature() {
    let (home, file) = signed("mirror", "1.0.0");
    assert!(minisign(&home, &["-V", "-p", "acme.pub", "-m", file.to_str().unwrap()]));
}

#[test]
fn we_accept_a_signature_and_a_key_of_stock_minisign() {
    let home = Home::new();
    assert!(minisign(&home, &["-G", "-W", "-p", "stock.pub", "-s", "stock.key"]));
    let file = package(&home, "mirror", "1.0.0");
    assert!(minisign(&home, &["-S", "-H", "-s", "stock.key", "-m", file.to_str().unwrap()]));
    home.trust("stock", &["mirror"]);
    assert!(home.args(&["verify", file.to_str().unwrap()]).ok().contains("Signed by"));
    home.args(&["install", file.to_str().unwrap()]).ok();
    // And we sign with its key.
    home.sign(&file, "stock");
    assert!(minisign(&home, &["-V", "-p", "stock.pub", "-m", file.to_str().unwrap()]));
}

#[test]
fn a_key_with_a_password_signs_when_it_is_given() {
    let home = Home::new();
    home.fed(&["key", "generate", "safe"], "correct horse\n").ok();
    let file = package(&home, "mirror", "1.0.0");
    let sign = ["sign", file.to_str().unwrap(), "--key", "safe.key"];
    home.fed(&sign, "wrong\n").fails(1, &["cannot be opened with this password"]);
    home.fed(&sign, "correct horse\n").ok();
    assert!(minisign(&home, &["-V", "-p", "safe.pub", "-m", file.to_str().unwrap()]));
}

#[test]
fn a_publisher_s_new_key_takes_the_place_of_the_old_one() {
    let home = Home::new();
    home.key("old");
    home.key("new");
    home.trust("old", &["keeper"]);
    let asks = "[capabilities.state]\nbytes = 100\nkeys = 3\n";
    let package = |version: &str, key: &str| {
        let file = home.file(&format!("{version}.wasm"), guests::package_of_version("keeper", "keeper", version, asks));
        home.sign(&file, key);
        file.display().to_string()
    };
    home.args(&["install", &package("1.0.0", "old")]).ok();
    home.run("grant keeper --all").ok();
    home.args(&["call", "keeper__keep", r#"{"key": "k", "value": "kept"}"#]).ok();
    let update = package("1.11.0", "new");
    home.args(&["install", &update]).fails(3, &["is not trusted"]);

    home.run("key rotate new.pub --key old.key").ok();
    let statement = std::fs::read_to_string(home.path().join("new.rotation")).unwrap();
    home.file("altered", statement.replace("from ", "from  "));
    home.run("trust rotate altered --signature new.rotation.minisig").fails(3, &["does not fit"]);
    home.run("trust rotate nowhere").fails(2, &["there is no `nowhere`"]);
    assert!(home.run("trust rotate new.rotation").ok().contains("of old for keeper"));
    home.run("trust rotate new.rotation").fails(3, &["as its successor already"]);
    assert!(home.run("trust list").ok().contains("followed by"));

    // What the old key signed runs on; the update comes in by the new one, with grant and state.
    let recall = ["call", "keeper__recall", r#"{"key": "k"}"#];
    assert!(home.args(&recall).ok().contains("kept"));
    let installed = home.args(&["install", &update]).ok();
    assert!(!installed.contains("suspended") && !installed.contains("is not seen"), "{installed}");
    assert!(home.args(&recall).ok().contains("kept"));
    let old = home.run("trust list --json").json()[0]["key_id"].as_str().unwrap().to_owned();
    let revoked = home.args(&["trust", "revoke", &old]).ok();
    assert!(home.args(&recall).ok().contains("kept"), "it is the new key's now");
    // Whoever stole the old key may have named the new one.
    let keys = home.run("trust list --json").json();
    let new = keys.as_array().unwrap().iter().find(|key| key["key_id"] != json!(old)).unwrap()["key_id"].clone();
    let new = new.as_str().unwrap();
    assert!(revoked.contains(&format!("`ringfence trust revoke {new}`")), "{revoked}");
    assert!(home.run("trust list").ok().contains(&format!("; followed by {new}")));
    assert_eq!(home.args(&["trust", "revoke", &old, "--json"]).json()["successors"], json!([new]));
}

#[test]
fn a_change_of_keys_can_be_stated_with_stock_minisign() {
    let home = Home::new();
    assert!(minisign(&home, &["-G", "-W", "-p", "stock.pub", "-s", "stock.key"]));
    home.key("new");
    home.trust("stock", &["mirror"]);
    let id = home.run("trust list --json").json()[0]["key_id"].as_str().unwrap().to_owned();
    let new = std::fs::read_to_string(home.path().join("new.pub")).unwrap();
    let statement = format!("ringfence key rotation 1\nfrom {id}\nto {}\n", new.lines().nth(1).unwrap());
    home.file("statement", statement);
    assert!(minisign(&home, &["-S", "-H", "-s", "stock.key", "-m", "statement"]));
    home.run("trust rotate statement").ok();
    // And the other way: stock verifies what ours states.
    home.run("key rotate stock.pub --key new.key --out back").ok();
    assert!(minisign(&home, &["-V", "-p", "new.pub", "-m", "back"]));
    home.run("trust rotate back").fails(3, &["gave its place to another one before"]);
}

#[test]
fn an_update_takes_effect_at_the_next_call() {
    let (home, old) = signed("mirror", "1.0.0");
    home.args(&["install", old.to_str().unwrap()]).ok();
    let before = home.run("list --json").json()[0]["digest"].clone();
    let new = home.file("new.wasm", guests::package("slow", "mirror", "1.1.0"));
    home.sign(&new, "acme");
    assert!(home.args(&["install", new.to_str().unwrap()]).ok().contains("(was 1.0.0)"));
    assert_ne!(home.run("list --json").json()[0]["digest"], before);
    home.args(&["call", "mirror__run", "{\"n\": 1}"]).ok();
}

#[test]
fn effects_are_believed_only_when_they_were_accepted() {
    let (home, file) = {
        let home = Home::new();
        home.key("acme");
        home.trust("acme", &["*"]);
        let file = package(&home, "calc", "1.0.0");
        home.sign(&file, "acme");
        (home, file)
    };
    let read_only =
        |home: &Home| home.run("tools calc__evaluate --json").json()["spec"]["effects"]["read_only"].clone();
    home.args(&["install", file.to_str().unwrap()]).ok();
    assert_eq!(read_only(&home), json!(false));
    home.args(&["install", file.to_str().unwrap(), "--accept-effects"]).ok();
    assert_eq!(read_only(&home), json!(true));
}

#[test]
fn install_shows_what_a_tool_asks_for_and_what_it_does_not_get() {
    let home = Home::new();
    let file = home.file(
        "greedy.wasm",
        guests::package_with("mirror", "greedy", "[limits]\nfuel = 9000000000\nmemory_bytes = 10000000\n"),
    );
    let shown = home.args(&["install", file.to_str().unwrap(), "--allow-unsigned"]).ok();
    for part in ["fuel 9000000000", "memory_bytes 10000000", "gets 500000000", "[tools.\"greedy\".limits]"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let limits = home.run("tools greedy__run --json").json()["limits"].clone();
    assert_eq!((&limits["fuel"], &limits["memory_bytes"]), (&json!(500_000_000), &json!(10_000_000)));
}

#[test]
fn what_a_tool_asks_for_is_shown_before_and_when_it_is_installed() {
    let home = Home::new();
    let asks = "[limits]\nfuel = 1000000\n[[capabilities.http]]\nurl = \"https://api.example.org/**\"\n\
                [capabilities.workspace]\nread = [\"docs/**\"]\n[capabilities.secrets]\nsign = [\"hook\"]\n";
    home.file("asks.wasm", guests::package_with("mirror", "asks", asks));
    home.file("quiet.wasm", guests::package_with("mirror", "quiet", ""));
    for command in ["inspect asks.wasm", "install asks.wasm --allow-unsigned"] {
        let shown = home.run(command).ok();
        for part in ["fuel 1000000", "HTTP GET", "https://api.example.org/**", "reading `docs/**`", "the secret `hook`"]
        {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        assert!(!shown.contains("for nothing") && !shown.contains("for   nothing"), "{shown}");
    }
    assert!(home.run("inspect quiet.wasm").ok().contains("asks for   nothing"));
    assert!(home.run("install quiet.wasm --allow-unsigned").ok().contains("asks for nothing"));
    let only_files = "[capabilities.workspace]\nread = [\"docs/**\"]\n";
    home.file("files.wasm", guests::package_with("mirror", "files", only_files));
    for command in ["inspect files.wasm", "install files.wasm --allow-unsigned"] {
        let shown = home.run(command).ok();
        assert!(!shown.contains("for nothing") && !shown.contains("for   nothing"), "{shown}");
    }
}

#[test]
fn a_package_whose_file_is_not_what_was_installed_is_not_called_ready() {
    let home = Home::new();
    crate::support::packages::install_unsigned(&home, "mirror");
    assert!(home.run("list").ok().contains("ready"));
    let file = std::fs::read_dir(home.path().join("home/state/tools")).unwrap().next().unwrap().unwrap().path();
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[100] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    let out = home.run("list").ok();
    assert!(out.contains("was altered") && !out.contains("ready"), "{out}");
    std::fs::remove_file(&file).unwrap();
    let out = home.run("list").ok();
    assert!(out.contains("its file is gone") && !out.contains("ready"), "{out}");
}

#[test]
fn a_key_keeps_its_publisher_and_what_is_said_of_it_is_one_line() {
    let home = Home::new();
    home.key("acme");
    home.trust("acme", &["weather"]);
    let add = |publisher: &str| home.args(&["trust", "add", "acme.pub", "--publisher", publisher, "--sign", "maps"]);
    add("mallory").fails(3, &["is recorded as that of acme"]);
    for name in ["", "a\nb", "a\u{1b}[2J", "acme\u{202e}", "x".repeat(5000).as_str()] {
        add(name).fails(2, &["the name of the publisher"]);
    }
    let keys = home.run("trust list --json").json();
    assert_eq!((&keys[0]["publisher"], &keys[0]["names"]), (&json!("acme"), &json!(["weather"])));
    let id = keys[0]["key_id"].as_str().unwrap();
    home.args(&["trust", "revoke", id, "--reason", "a\nFAKE"]).fails(2, &["the reason has a line break"]);
    home.args(&["trust", "revoke", id, "--reason", "stolen"]).ok();
}

#[test]
fn a_source_cannot_have_the_name_of_one_of_ours() {
    let home = Home::new();
    let file = package(&home, "mirror", "1.0.0");
    for name in ["builtin", "native", "mcp"] {
        home.args(&["install", file.to_str().unwrap(), "--allow-unsigned", "--as", name])
            .fails(3, &["belongs to ringfence"]);
    }
}

#[test]
fn our_own_tools_are_packages_like_any_other() {
    for name in ["calc", "github", "text", "weather", "web-search"] {
        let manifest =
            std::fs::read_to_string(repository().join("tools-wasm").join(name).join("ringfence.toml")).unwrap();
        ringfence_package::PackageInfo::parse(&manifest).unwrap();
    }
}

/// A component that knows nothing of us is signed, installed and called like any other; each function is a tool.
#[test]
fn plain_functions_become_tools_of_a_signed_package() {
    let (home, file) = signed("plain", "1.0.0");
    home.args(&["install", file.to_str().unwrap()]).ok();
    let shown = home.run("tools plain__add --json").json();
    assert_eq!(shown["spec"]["parameters"]["required"], json!(["a", "b"]));
    // Beyond 2^53 a number would lose digits on its way through many a reader.
    let run = home.args(&["call", "plain__add", "{\"a\": 18446744073709551614, \"b\": 1}"]);
    assert_eq!(run.json()["result"], "18446744073709551615");
    home.args(&["call", "plain__add", "{\"a\": -1, \"b\": 1}"]).fails(2, &["not valid"]);
}

/// What a start with a thousand of them costs is measured by tests/benches/startup.rs.
#[test]
fn a_start_compiles_nothing_however_many_tools_are_installed() {
    const PACKAGES: usize = 20;
    let home = Home::new();
    let one = guests::package("big_table_ok", "tool", "1.0.0");
    for i in 0..PACKAGES {
        let file = home.file("tool.wasm", guests::with_field(&one, "name", format!("tool-{i}").into()));
        home.args(&["install", file.to_str().unwrap(), "--allow-unsigned"]).ok();
    }
    let compiled = home.path().join("home/state/compiled");
    let count = || std::fs::read_dir(&compiled).map_or(0, Iterator::count);
    assert_eq!(count(), PACKAGES, "they are all different");
    std::fs::remove_dir_all(&compiled).unwrap();
    assert_eq!(home.run("list --json").json().as_array().unwrap().len(), PACKAGES);
    let tools = home.run("tools --json").json();
    let listed = tools.as_array().unwrap().iter().filter(|tool| tool["name"].as_str().unwrap().starts_with("tool-"));
    assert_eq!(listed.count(), PACKAGES);
    home.args(&["call", "echo", "{\"message\": \"x\"}"]).ok();
    assert_eq!(count(), 0);
    home.run("call tool-7__run").ok();
    assert_eq!(count(), 1, "what is called is compiled, and nothing else");
}
