//! What tools keep between calls: for each package and user apart, up to the quota, until the package goes.

use std::process::{Child, Stdio};

use serde_json::{Value, json};

use super::{call, home, limit_ends_the_call, open};
use crate::support::binary::{Home, Run};
use crate::support::guests;
use crate::support::host::caller;

/// The limit that is tried here.
pub(super) const LIMIT: &str = "state_calls";

const ASKS: &str = "[capabilities.state]\nbytes = 100\nkeys = 3\n";

fn granted(manifest: &str, config: &str) -> Home {
    let home = home("keeper", &format!("{ASKS}{manifest}"), config);
    home.run("grant reach --all").ok();
    home
}

fn as_user(home: &Home, user: &str, tool: &str, params: &Value) -> Run {
    home.args(&["call", tool, &params.to_string(), "--user", user])
}

fn install(home: &Home, guest: &str, source: &str, version: &str, asks: &str) {
    let file = home.file("more.wasm", guests::package_of_version(guest, source, version, asks));
    home.args(&["install", file.to_str().unwrap(), "--allow-unsigned"]).ok();
}

#[test]
fn what_is_kept_is_there_for_the_next_process() {
    let home = home("keeper", ASKS, "");
    let entry = json!({"key": "colour", "value": "blue"});
    call(&home, "keep", &entry).fails(6, &["keep values between calls", "`ringfence grant`"]);
    assert!(home.run("grants").ok().contains("keeping 100 bytes and 3 keys for each user"));
    home.run("grant reach --all").ok();
    assert!(home.run("grants").ok().contains("yes"));
    assert!(call(&home, "recall", &entry).json().is_null());
    call(&home, "keep", &entry).ok();
    assert_eq!(call(&home, "recall", &entry).json(), "blue");
    call(&home, "keep", &json!({"key": "cold", "value": "yes"})).ok();
    assert_eq!(call(&home, "keys", &json!({})).json(), json!(["cold", "colour"]));
    assert_eq!(call(&home, "keys", &json!({"prefix": "colo"})).json(), json!(["colour"]));
    assert_eq!(call(&home, "forget", &entry).json(), true);
    assert_eq!(call(&home, "forget", &entry).json(), false);
    // A grant that has ended opens it no more, and a new one finds it as it was.
    home.run("grant reach --expires 2020-01-01T00:00:00Z").ok();
    call(&home, "keys", &json!({})).fails(6, &["keep values between calls", "its grant has ended", "--expires TIME"]);
    home.run("grant reach --expires 2999-01-01T00:00:00Z").ok();
    assert_eq!(call(&home, "keys", &json!({})).json(), json!(["cold"]));
}

#[test]
fn users_and_packages_do_not_see_each_others() {
    let home = granted("", "");
    install(&home, "keeper", "second", "1.0.0", ASKS);
    home.run("grant second --all").ok();
    let entry = |value: &str| json!({"key": "k", "value": value});
    for (user, tool, value) in [
        ("ada", "reach__keep", "1"),
        ("bob", "reach__keep", "2"),
        ("ada", "second__keep", "3"),
        ("null", "reach__keep", "4"),
    ] {
        as_user(&home, user, tool, &entry(value)).ok();
    }
    for (user, tool, value) in
        [("ada", "reach__recall", "1"), ("bob", "reach__recall", "2"), ("ada", "second__recall", "3")]
    {
        assert_eq!(as_user(&home, user, tool, &entry("")).json(), value);
    }
    assert!(as_user(&home, "bob", "second__recall", &entry("")).json().is_null());
    assert!(call(&home, "recall", &entry("")).json().is_null(), "nobody is not somebody");
    // Agent and conversation are not part of it.
    let args = ["call", "reach__recall", "{\"key\": \"k\"}", "--user", "ada", "--agent", "a", "--session", "s"];
    assert_eq!(home.args(&args).json(), "1");
}

#[test]
fn the_quota_is_the_lesser_of_what_was_asked_for_and_granted() {
    let home = granted("", "");
    let keep = |key: &str, copies: usize| call(&home, "keep", &json!({"key": key, "value": "x", "copies": copies}));
    let refused = "more than the operator allows";
    keep("k", 99).ok();
    keep("k", 100).fails(1, &[refused]);
    keep("l", 0).fails(1, &[refused]);
    keep("k", 1_000_000).fails(1, &[refused]);
    assert_eq!(call(&home, "recall", &json!({"key": "k"})).json(), "x".repeat(99));
    for key in ["k", "l", "m"] {
        keep(key, 1).ok();
    }
    keep("n", 1).fails(1, &[refused]);
    // The operator grants less, then more than is asked for.
    home.run("grant reach --state-bytes 20 --state-keys 2").ok();
    assert!(!home.run("grants").ok().contains("yes"));
    keep("k", 2).fails(1, &[refused]);
    call(&home, "forget", &json!({"key": "m"})).ok();
    keep("k", 16).ok();
    keep("k", 18).fails(1, &[refused]);
    home.run("grant reach --state-bytes 1000 --state-keys 1000").ok();
    keep("k", 98).fails(1, &[refused]);
    keep("k", 97).ok();
    home.run("grant reach --state-bytes 1000").fails(2, &["--state-keys"]);
}

#[test]
fn a_key_is_short_and_plain() {
    let home = granted("", "");
    for key in [String::new(), "a\nb".into(), "x".repeat(257)] {
        call(&home, "keep", &json!({"key": key, "value": "x"})).fails(1, &["1 to 256 bytes"]);
    }
}

#[test]
fn an_update_keeps_it_and_a_removal_takes_it_along() {
    let home = granted("", "");
    let entry = json!({"key": "k", "value": "old"});
    call(&home, "keep", &entry).ok();
    install(&home, "keeper", "reach", "1.1.0", ASKS);
    assert_eq!(call(&home, "recall", &entry).json(), "old");
    assert!(home.run("remove reach").ok().contains("what its tools kept"));
    assert!(home.run("state list").ok().contains("No tool keeps anything"));
    install(&home, "keeper", "reach", "1.1.0", ASKS);
    assert!(call(&home, "recall", &entry).json().is_null());
}

#[test]
fn another_package_under_the_same_name_finds_nothing() {
    let home = granted("", "");
    let entry = json!({"key": "k", "value": "mine"});
    call(&home, "keep", &entry).ok();
    let file = home.file("other.wasm", guests::package_of_version("keeper", "impostor", "2.0.0", ASKS));
    home.args(&["install", file.to_str().unwrap(), "--allow-unsigned", "--as", "reach"]).ok();
    assert!(call(&home, "recall", &entry).json().is_null());
    let packages: Vec<_> = home.run("state list --json").json().as_array().unwrap().clone();
    assert_eq!(packages[0]["package"], "reach");
}

#[test]
fn another_signer_finds_nothing_until_the_operator_gives_it() {
    let home = Home::new();
    home.file("home/config.toml", "[rate]\nunlimited = true\n");
    let ids = ["acme", "evil"].map(|key| {
        home.key(key);
        home.trust(key, &["*"]);
        let keys = home.run("trust list --json").json();
        keys.as_array().unwrap().iter().find(|entry| entry["publisher"] == key).unwrap()["key_id"]
            .as_str()
            .unwrap()
            .to_owned()
    });
    let install = |version: &str, key: &str, id: &str| {
        let file = home.file(&format!("{version}.wasm"), guests::package_of_version("keeper", "reach", version, ASKS));
        home.sign(&file, key);
        home.args(&["install", file.to_str().unwrap(), "--accept-signer", id]).ok()
    };
    let [acme, evil] = &ids;
    let entry = |value: &str| json!({"key": "k", "value": value});
    install("1.0.0", "acme", acme);
    home.run("grant reach --all").ok();
    call(&home, "keep", &entry("of acme")).ok();

    let told = install("1.1.0", "evil", evil);
    assert!(told.contains(acme.as_str()) && told.contains("`ringfence state give reach --from SIGNER`"), "{told}");
    home.args(&["grant", "reach", "--accept-signer", evil]).ok();
    assert!(call(&home, "recall", &entry("")).json().is_null(), "with the grant comes nothing that was kept");
    call(&home, "keep", &entry("of evil")).ok();

    // Back with the first one, all is as it was.
    assert!(install("1.2.0", "acme", acme).contains(evil.as_str()));
    home.args(&["grant", "reach", "--accept-signer", acme]).ok();
    assert_eq!(call(&home, "recall", &entry("")).json(), "of acme");
    let shown = home.run("state list").ok();
    assert!(shown.contains(acme.as_str()) && shown.contains(evil.as_str()), "{shown}");

    home.args(&["state", "give", "reach", "--from", evil]).ok();
    assert_eq!(call(&home, "recall", &entry("")).json(), "of evil");
    assert!(!home.run("state list").ok().contains(evil.as_str()));
    home.args(&["state", "give", "reach", "--from", evil])
        .fails(5, &["keeps anything as `reach`", "`ringfence state list`"]);
    home.args(&["state", "give", "nobody", "--from", evil]).fails(5, &["nobody"]);
}

#[test]
fn the_operator_sees_how_much_is_kept_and_clears_it() {
    let home = granted("", "");
    for (user, key) in [("ada", "k"), ("ada", "l"), ("bob", "k")] {
        as_user(&home, user, "reach__keep", &json!({"key": key, "value": "confidential"})).ok();
    }
    let listed = home.run("state list --json").json();
    let entry = json!({"source": "reach", "signer": "unsigned/tests", "package": "reach", "user": "ada", "keys": 2, "bytes": 26});
    assert_eq!((&listed[0], listed.as_array().unwrap().len()), (&entry, 2));
    let shown = home.run("state list").ok();
    assert!(shown.contains("ada") && shown.contains("26 B") && !shown.contains("confidential"), "{shown}");
    assert_eq!(home.run("state clear reach --user ada --json").json(), json!({"cleared": 2}));
    home.run("state clear reach --user ada").fails(5, &["keeps nothing"]);
    assert!(as_user(&home, "ada", "reach__recall", &json!({"key": "k"})).json().is_null());
    assert_eq!(as_user(&home, "bob", "reach__recall", &json!({"key": "k"})).json(), "confidential");
    assert!(home.run("state clear reach").ok().contains("Cleared one key."));
    home.run("state clear nobody").fails(5, &["nobody"]);
}

#[test]
fn the_number_of_uses_is_limited() {
    limit_ends_the_call(LIMIT, 1, granted, "count", &json!({"key": "k"}));
    call(&granted("", ""), "churn", &json!({"key": "k"})).fails(4, &["`state_calls`"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_at_once_count_right_together() {
    let home = granted("", "");
    let host = std::sync::Arc::new(open(&home, Vec::new()).await);
    let calls: Vec<_> = (0..12)
        .map(|_| {
            let host = host.clone();
            tokio::spawn(async move { host.call("reach__count", json!({"key": "n"}), caller("ada")).await.unwrap() })
        })
        .collect();
    let mut counts = Vec::new();
    for call in calls {
        counts.push(call.await.unwrap().structured.unwrap().as_u64().unwrap());
    }
    counts.sort_unstable();
    assert_eq!(counts, (1..=12).collect::<Vec<_>>());
}

#[test]
fn a_kill_leaves_the_old_value_or_the_new_one() {
    let home = granted("", "[limits]\nstate_calls = 100000000\n");
    for _ in 0..3 {
        home.run("state clear reach");
        let params = json!({"key": "k", "value": "whole"}).to_string();
        let mut command = home.command();
        command
            .args(["call", "reach__churn", &params])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let alive =
            |child: &mut Child| assert!(child.try_wait().unwrap().is_none(), "it ended before it wrote anything");
        // Until it owns the state: whoever asks earlier would become the owner, and make the call in its stead.
        while !home.path().join("home/state/socket").exists() {
            alive(&mut child);
        }
        while home.run("state list --json").json() == json!([]) {
            alive(&mut child);
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(call(&home, "recall", &json!({"key": "k"})).json(), "whole");
    }
}
