//! Grants: given, shown, ended, taken back, and corrected by hand.

use serde_json::json;

use super::{call, home};
use crate::support::{guests, packages};

const ASKS: &str = "[capabilities]\nenv = [\"LANG\"]\n[capabilities.workspace]\nread = [\"docs/**\"]\n";

#[test]
fn what_is_asked_for_is_shown_with_what_is_granted() {
    let home = home("surroundings", ASKS, "");
    let out = home.run("grants").ok();
    assert!(out.contains("reading `docs/**`") && out.contains("`LANG`") && !out.contains("yes"), "{out}");
    home.run("grant reach --all").ok();
    let grants = home.run("grants --json").json();
    let granted = |what: &str| {
        let asked = grants[0]["asked"].as_array().unwrap();
        asked.iter().find(|asked| asked["what"].as_str().unwrap().contains(what)).unwrap()["granted"].as_bool().unwrap()
    };
    assert!(granted("docs") && !granted("LANG"), "a value has to be chosen: {grants}");
    home.run("revoke reach").ok();
    assert!(!home.run("grants").ok().contains("yes"));
    home.run("revoke reach").fails(5, &["nothing is granted"]);
    home.run("grant reach").fails(2, &["nothing to grant"]);
    home.run("grant nobody --all").fails(5, &["nobody"]);
}

#[test]
fn an_update_that_asks_for_more_does_not_get_it_until_the_operator_says_so() {
    let home = home("surroundings", ASKS, "");
    home.run("grant reach --all").ok();
    let more = ASKS.replace("\"docs/**\"", "\"docs/**\", \"private/**\"");
    let newer = guests::package_of_version("surroundings", "reach", "1.1.0", &more);
    let file = home.file("newer.wasm", newer);
    let out = home.args(&["install", file.to_str().unwrap(), "--allow-unsigned"]).ok();
    assert!(out.contains("granted  reading `docs/**`"), "{out}");
    assert!(out.contains("asks for reading `private/**`") && out.contains("`ringfence grant reach --all`"), "{out}");
}

#[test]
fn the_environment_is_what_was_asked_for_and_given() {
    let home = home("surroundings", ASKS, "");
    home.run("grant reach --all --env LANG=nb_NO --env PATH=/bin").ok();
    assert_eq!(call(&home, "environment", &json!({"name": "LANG"})).ok().trim(), "\"nb_NO\"");
    assert_eq!(call(&home, "environment", &json!({"name": "PATH"})).ok().trim(), "null");
    assert_eq!(call(&home, "environment", &json!({"name": "HOME"})).ok().trim(), "null");
    // An end in the past takes all of it back.
    home.run("grant reach --expires 2020-01-01T00:00:00Z").ok();
    assert_eq!(call(&home, "environment", &json!({"name": "LANG"})).ok().trim(), "null");
}

#[test]
fn the_description_of_a_credential_is_shown_to_who_grants_it() {
    let asks = "[capabilities.credentials.token]\nplace = \"bearer\"\nrequests = []\n\
                description = \"A key from example.org/keys.\"\n";
    let home = home("surroundings", asks, "");
    let out = home.run("grants").ok();
    assert!(out.contains("credential `token` A key from example.org/keys."), "{out}");
}

#[test]
fn a_rate_in_the_grant_narrows_that_of_the_configuration() {
    for (option, period) in [("--per-minute 1", "minute"), ("--per-hour 4", "hour")] {
        // The configuration says `unlimited`.
        let home = home("surroundings", ASKS, "");
        home.run(&format!("grant reach {option}")).ok();
        call(&home, "environment", &json!({"name": "LANG"})).ok();
        call(&home, "environment", &json!({"name": "LANG"})).fails(3, &[&format!("in a {period} ")]);
    }
    // And widens nothing.
    let home = home("surroundings", ASKS, "[tools.reach.rate]\nper_minute = 1\n");
    home.run("grant reach --per-minute 1000").ok();
    call(&home, "environment", &json!({"name": "LANG"})).ok();
    call(&home, "environment", &json!({"name": "LANG"})).fails(3, &["at most 1 in a minute"]);
}

#[test]
fn limits_and_rate_of_a_grant_are_shown() {
    let asks = "[limits]\nfuel = 400000000\n[[capabilities.http]]\nurl = \"https://a.example/\"\n";
    let home = home("fetcher", asks, "");
    home.run("grant reach --all --limit fuel=300000000 --per-hour 7").ok();
    let out = home.run("grants").ok();
    assert!(out.contains("`reach` gets at most fuel 300000000, 7 calls of each tool in any hour"), "{out}");
    let out = home.args(&["explain", "reach", "GET https://a.example/"]).ok();
    let grant = std::fs::read_to_string(home.path().join("home/grants/reach.toml")).unwrap();
    let line = |key: &str| grant.lines().position(|line| line.starts_with(key)).unwrap() + 1;
    for (key, said) in [("fuel", "at most fuel 300000000"), ("per_hour", "at most 7 calls of each tool in any hour")] {
        assert!(out.contains(&format!("reach.toml:{}: {said}", line(key))), "{out}\n{grant}");
    }
    assert_eq!(home.run("tools reach__fetch --json").json()["limits"]["fuel"], 300_000_000);
    // An update says what it does not get, and where that would be changed.
    let file = home.file("newer.wasm", guests::package_of_version("fetcher", "reach", "1.1.0", asks));
    let out = home.args(&["install", file.to_str().unwrap(), "--allow-unsigned"]).ok();
    assert!(out.contains("gets 300000000; `fuel` under [limits] in its grant raises it"), "{out}");
    // A change holds at once, and the file is the operator's own.
    home.run("grant reach --limit fuel=200000000").ok();
    assert_eq!(home.run("tools reach__fetch --json").json()["limits"]["fuel"], 200_000_000);
    home.run("grant reach --limit feul=1").fails(2, &["cannot be granted: ", "did you mean `fuel`?"]);
    home.run("grant reach --limit fuel=much").fails(2, &["is no number"]);
}

#[test]
fn a_slip_in_the_file_stops_the_source_and_is_explained() {
    let home = home("surroundings", ASKS, "");
    home.file("home/grants/reach.toml", "[workspce]\nread = [\"docs/**\"]\n");
    let out = home.run("list").ok();
    assert!(out.contains("stopped") && out.contains("workspce"), "{out}");
    // It stops nobody else, and a call says why there is no tool.
    packages::install_unsigned(&home, "slow");
    let out = home.run("grants").ok();
    assert!(out.contains("`reach` is granted nothing and stopped: ") && out.contains("reading `docs/**`"), "{out}");
    call(&home, "environment", &json!({"name": "LANG"})).fails(6, &["`reach` is stopped", "workspce"]);
    home.args(&["call", "slow__run", "{\"n\": 1}"]).ok();
    let slip = "reach.toml:1:2: unknown field `workspce`: did you mean `workspace`?";
    home.run("grant reach --all").fails(3, &[slip]);
    home.file("home/grants/reach.toml", "# mine\n[workspace]\nread = []\n");
    home.run("grant reach --all").ok();
    let text = std::fs::read_to_string(home.path().join("home/grants/reach.toml")).unwrap();
    assert!(text.starts_with("# mine\n") && text.contains("docs/**"), "{text}");
    call(&home, "environment", &json!({"name": "LANG"})).ok();
}
