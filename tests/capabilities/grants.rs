//! Grants: given, shown, ended, taken back, and corrected by hand.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{by_hand, call, home};
use crate::support::binary::Home;
use crate::support::server::Server;
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
    assert!(
        out.contains("asks for reading `private/**`") && out.contains("`ringfence grant reach --all --env LANG=VALUE`"),
        "{out}"
    );
}

#[test]
fn what_is_to_be_granted_comes_first_and_is_named_until_nothing_lacks() {
    let asks = "[[capabilities.http]]\nurl = \"https://a.example/\"\nmethods = [\"GET\"]\n\
                [capabilities.credentials.token]\nplace = \"bearer\"\nrequests = [{ url = \"https://a.example/\" }]\n\
                [capabilities.state]\nbytes = 10\nkeys = 1\n\
                [capabilities.credentials.extra]\nplace = \"bearer\"\nrequests = []\noptional = true\n";
    let home = Home::new();
    let file = home.file("reach.wasm", guests::package_with("fetcher", "reach", asks));
    let out = home.args(&["install", file.to_str().unwrap(), "--allow-unsigned"]).ok();
    let both = "`ringfence secret set reach_token`, then `ringfence grant reach --all --credential token=reach_token`";
    assert!(out.contains(both) && !out.contains("ringfence call"), "{out}");
    let out = home.run("grant reach --all").ok();
    assert!(out.contains("`ringfence grant reach --credential token=reach_token`"), "{out}");
    home.fed(&["secret", "set", "key", "--place", "file"], "a value that is secret").ok();
    let out = home.run("grant reach --credential token=key").ok();
    assert!(!out.contains("Next:"), "{out}");
    let out = home.run("secret remove key").ok();
    let missed = "Removed `key`. It is named by the grants of `reach`: what needs it there fails until `ringfence secret set key`";
    assert!(out.starts_with(missed) && out.contains("\n\nThere are no secrets.") && !out.contains("NAME  "), "{out}");
    home.fed(&["secret", "set", "other"], "a value that is secret").ok();
    assert!(home.run("secret remove other").ok().starts_with("Removed `other`.\n\n"));
}

#[test]
fn the_environment_is_what_was_asked_for_and_given() {
    let home = home("surroundings", ASKS, "");
    home.run("grant reach --all --env LANG=en").ok();
    by_hand(&home, |text| text.replace("[env]\n", "[env]\nPATH = \"/bin\"\n"));
    assert_eq!(call(&home, "environment", &json!({"name": "LANG"})).ok().trim(), "\"en\"");
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

#[test]
fn an_identifier_with_a_slash_is_granted_as_it_is_sent() {
    let asks = "[[capabilities.http]]\nurl = \"https://git.example.org/api/**\"\n";
    let home = home("surroundings", asks, "");
    home.args(&["grant", "reach", "--http", "GET https://git.example.org/api/projects/group%2Fproject/**"]).ok();
    let explain = |path: &str| home.args(&["explain", "reach", &format!("GET https://git.example.org/api/{path}")]);
    for path in ["projects/group%2Fproject/issues", "projects/group%2fproject"] {
        explain(path).ok();
    }
    for path in ["projects/group/project/issues", "projects/group%2Fother/issues"] {
        explain(path).answers(3, &["would be refused"]);
    }
    explain("projects/group%2F..%2Fproject").fails(2, &["`.` or `..` is disguised"]);
    explain("projects/group%252Fproject").fails(2, &["a single `%2F` may stand between two names"]);
    let slashes = home.args(&["grant", "reach", "--http", "GET https://git.example.org/api//x"]);
    slashes.fails(2, &["an empty segment", "only `/**` in front of it lets pass"]);
}

#[test]
fn no_grant_is_for_all_names_below_a_public_suffix() {
    let asks = "[[capabilities.http]]\nurl = \"https://**.example.co.uk/**\"\n";
    let home = home("surroundings", asks, "");
    for wide in ["*.co.uk", "**.co.uk", "*.com"] {
        let request = format!("GET https://{wide}/**");
        home.args(&["grant", "reach", "--http", &request]).fails(2, &["is too wide", "the domain of one owner"]);
        home.file("home/grants/reach.toml", format!("[[http]]\nurl = \"https://{wide}/**\"\n"));
        assert!(home.run("grants").ok().contains("is too wide"));
        home.run("revoke reach").ok();
    }
    home.args(&["grant", "reach", "--http", "GET https://*.example.co.uk/**"]).ok();
    home.args(&["explain", "reach", "GET https://a.example.co.uk/"]).ok();
}

/// A home in which `acme` and `evil` may sign everything, and the package of `acme` is installed as `reach`.
fn of_acme() -> Home {
    let home = Home::new();
    home.file("home/config.toml", "[rate]\nunlimited = true\n");
    for key in ["acme", "evil"] {
        home.key(key);
        home.trust(key, &["*"]);
    }
    install(&home, "1.0.0", Some("acme"), &[]);
    home
}

/// Installs this version of the package, signed by `key` or by nobody.
fn install(home: &Home, version: &str, key: Option<&str>, more: &[&str]) -> String {
    let name = format!("{version}-{}.wasm", key.unwrap_or("unsigned"));
    let file = home.file(&name, guests::package_of_version("surroundings", "reach", version, ASKS));
    key.into_iter().for_each(|key| home.sign(&file, key));
    home.args(&[&["install", file.to_str().unwrap()][..], more].concat()).ok()
}

/// The id of a key.
fn id(home: &Home, key: &str) -> String {
    let keys = home.run("trust list --json").json();
    let found = keys.as_array().unwrap().iter().find(|entry| entry["publisher"] == key).unwrap();
    found["key_id"].as_str().unwrap().to_owned()
}

fn lang(home: &Home) -> String {
    call(home, "environment", &json!({"name": "LANG"})).ok().trim().to_owned()
}

#[test]
fn a_grant_does_not_go_along_to_another_signer() {
    let home = of_acme();
    home.run("grant reach --all --env LANG=en --per-hour 50").ok();
    assert_eq!(lang(&home), "\"en\"");
    let evil = id(&home, "evil");
    let out = install(&home, "1.1.0", Some("evil"), &["--accept-signer", &evil]);
    let remedy = format!("`ringfence grant reach --accept-signer {evil}`");
    assert!(out.contains("the grant of `reach` is suspended") && out.contains(&remedy), "{out}");
    assert!(out.contains("reading `docs/**` (suspended)") && !out.contains("granted "), "{out}");
    assert_eq!(lang(&home), "null");
    let out = home.run("grants").ok();
    assert!(out.contains(&remedy) && out.contains("suspended  reading") && !out.contains("yes"), "{out}");
    assert!(out.contains("50 calls of each tool in any hour"), "what only takes away holds: {out}");
    let explained = home.args(&["explain", "reach", "GET https://a.example/"]);
    explained.answers(3, &["reach.toml: the grant of `reach` is suspended"]);
    // Nothing is added to it unseen, and nobody else is accepted.
    home.run("grant reach --read docs/**").fails(3, &[&remedy, "`ringfence revoke reach`"]);
    home.run("grant reach --accept-signer unsigned").fails(3, &[&evil]);
    home.run("grant reach --accept-signer nobody").fails(2, &["is not the id of a key"]);
    assert_eq!(lang(&home), "null");
    home.args(&["grant", "reach", "--accept-signer", &evil]).ok();
    assert_eq!(lang(&home), "\"en\"");
    // And back again.
    install(&home, "1.2.0", Some("acme"), &["--accept-signer", &id(&home, "acme")]);
    assert_eq!(lang(&home), "null");
    // What is taken back is nobody's: it can be granted anew.
    home.run("revoke reach").ok();
    home.run("grant reach --env LANG=fr_FR").ok();
    assert_eq!(lang(&home), "\"fr_FR\"");
}

#[test]
fn a_grant_stays_when_its_package_goes_and_waits_for_the_same_signer() {
    let home = of_acme();
    home.run("grant reach --env LANG=en").ok();
    let out = home.run("remove reach").ok();
    assert!(out.contains("Its grant stays in") && out.contains("grants/reach.toml"), "{out}");
    install(&home, "1.1.0", Some("acme"), &[]);
    assert_eq!(lang(&home), "\"en\"");
    home.run("remove reach").ok();
    install(&home, "1.2.0", None, &["--allow-unsigned", "--accept-signer", "unsigned"]);
    assert_eq!(lang(&home), "null");
    home.run("grant reach --accept-signer unsigned").ok();
    assert_eq!(lang(&home), "\"en\"");
    // Another one that nobody signed is another's when it says so.
    let manifest = format!(
        "name = \"reach\"\nversion = \"1.3.0\"\npublisher = \"evil\"\nlicense = \"MIT\"\n\
                            description = \"A guest.\"\n{ASKS}"
    );
    let other = home.file("other.wasm", guests::package_saying("surroundings", &manifest));
    let other = ["install", other.to_str().unwrap(), "--allow-unsigned", "--accept-signer", "unsigned"];
    home.args(&other).ok();
    assert_eq!(lang(&home), "null");
}

#[test]
fn a_grant_that_was_written_by_hand_is_for_whoever_has_the_name() {
    let grant = "[env]\nLANG = \"en\"\n";
    let home = of_acme();
    home.file("home/grants/reach.toml", grant);
    assert_eq!(lang(&home), "\"en\"");
    install(&home, "1.1.0", Some("evil"), &["--accept-signer", &id(&home, "evil")]);
    assert_eq!(lang(&home), "null");
    // Meant for the one that is there, even when the first thing that happens is that it is replaced or removed.
    for removed in [false, true] {
        let home = of_acme();
        home.file("home/grants/reach.toml", grant);
        if removed {
            home.run("remove reach").ok();
        }
        install(&home, "1.1.0", Some("evil"), &["--accept-signer", &id(&home, "evil")]);
        assert_eq!(lang(&home), "null", "{removed}");
    }
}

#[test]
fn what_was_not_asked_for_is_refused_and_listed() {
    let home = home("surroundings", ASKS, "");
    for (option, said) in [
        ("--env A=b", "`A`"),
        ("--env LANGG=b", "did you mean `LANG`?"),
        ("--credential nope=tok", "credential `nope`"),
        ("--read private/**", "reading `private/**`"),
        ("--state-bytes 1 --state-keys 1", "keeping"),
        ("--address 127.0.0.1/32", "127.0.0.1/32"),
    ] {
        home.run(&format!("grant reach {option}")).fails(3, &["`reach` does not ask for", said]);
    }
    home.args(&["grant", "reach", "--http", "GET https://a.example/"]).fails(3, &["HTTP GET https://a.example/"]);
    assert!(!home.path().join("home/grants/reach.toml").exists());
    home.file("home/grants/reach.toml", "[env]\nLANG = \"en\"\nA = \"b\"\n");
    let out = home.run("grants").ok();
    assert!(out.contains("does not ask for, and would get with an update") && out.contains("value `A`"), "{out}");
    assert_eq!(home.run("grants --json").json()[0]["unused"].as_array().unwrap().len(), 1);
    // It is in nobody's way.
    home.run("grant reach --read docs/a").ok();
}

#[test]
fn a_secret_that_is_not_there_is_told() {
    let asks = "[capabilities.credentials.token]\nplace = \"bearer\"\nrequests = []\n";
    let home = home("surroundings", asks, "");
    let out = home.run("grant reach --credential token=absent").ok();
    assert!(out.contains("no secret `absent`") && out.contains("`ringfence secret set absent`"), "{out}");
    home.fed(&["secret", "set", "absent", "--place", "file"], "0123456789abcdef").ok();
    let out = home.run("grants").ok();
    assert!(out.contains("yes") && !out.contains("absent"), "{out}");
}

#[test]
fn a_grant_that_has_ended_says_so() {
    let home = home("surroundings", ASKS, "");
    for more in ["", "--all"] {
        let out = home.run(&format!("grant reach {more} --env LANG=en --expires 2020-01-01T00:00:00Z")).ok();
        assert!(out.contains("ended 2020-01-01T00:00:00Z  ") && !out.contains("yes"), "{out}");
        assert!(out.contains("Next: `ringfence grant reach --expires TIME`"), "{out}");
    }
    let out = home.run("grant reach --expires 2999-01-01T00:00:00Z").ok();
    assert!(out.contains("yes until 2999-01-01T00:00:00Z") && !out.contains("Next"), "{out}");
}

#[test]
fn an_edit_of_the_file_holds_for_calls_and_explanations_of_a_running_host() {
    let server = Server::echo();
    let asks = format!("[[capabilities.http]]\nurl = \"{}\"\n", server.url("/api/**"));
    let home = home("fetcher", &asks, "");
    home.args(&["grant", "reach", "--all", "--address", "127.0.0.1/32"]).ok();
    let _served = home.serving();
    let url = server.url("/api/x");
    let explain = || home.args(&["explain", "reach", &format!("GET {url}")]);
    let fetch = || call(&home, "fetch", &json!({"method": "GET", "url": url}));
    explain().ok();
    fetch().ok();
    for _ in 0..2 {
        by_hand(&home, |text| text.replace("/api/**", "/api/y"));
        explain().answers(3, &["would be refused"]);
        fetch().fails(1, &["may not reach"]);
        by_hand(&home, |text| text.replace("/api/y", "/api/**"));
        explain().ok();
        fetch().ok();
    }
    // Also where nobody asks for an explanation, and with a slip.
    let until = |code: i32, said: &str| {
        let end = Instant::now() + Duration::from_secs(30);
        loop {
            let run = fetch();
            if run.code == code && run.err.contains(said) {
                return;
            }
            assert!(Instant::now() < end, "{run:?}");
        }
    };
    by_hand(&home, |text| text.replace("/api/**", "/api/only"));
    until(1, "may not reach");
    by_hand(&home, |text| format!("{text}\nslip = 1\n"));
    until(6, "`reach` is stopped");
    std::fs::remove_file(home.path().join("home/grants/reach.toml")).unwrap();
    until(6, "needs to send requests");
    assert_eq!(home.run("list --json").json()[0]["stopped"], json!(null));
}

#[test]
fn a_grant_of_a_part_is_shown_as_that_and_nothing_more_is_proposed() {
    let asks = "[[capabilities.http]]\nurl = \"https://a.example/v1/**\"\n[capabilities.workspace]\nread = [\"docs/*\"]\n\
                [capabilities.state]\nbytes = 100\nkeys = 3\n";
    let home = home("fetcher", asks, "");
    let part =
        ["--http", "GET https://a.example/v1/items/*", "--read", "docs/a", "--state-bytes", "50", "--state-keys", "3"];
    let out = home.args(&[&["grant", "reach"], &part[..]].concat()).ok();
    for part in ["in part: GET https://a.example/v1/items/*", "in part: docs/a", "in part: 50 bytes and 3 keys"] {
        assert!(out.contains(part), "{part}: {out}");
    }
    assert!(!out.contains("Next:") && !out.contains("--all"), "{out}");
    assert_eq!(home.run("grants --json").json()[0]["asked"][1]["held_back"], json!({"part": ["docs/a"]}));
}

#[test]
fn a_call_ends_with_the_grant_that_it_uses() {
    let server = Server::silent();
    let home = home("fetcher", &format!("[[capabilities.http]]\nurl = \"{}\"\n", server.url("/**")), "");
    home.args(&["grant", "reach", "--all", "--address", "127.0.0.1/32", "--expires", "3s"]).ok();
    // Without that, it would go on until the request's own time is over.
    call(&home, "fetch", &json!({"method": "GET", "url": server.url("/")})).fails(6, &["its grant has ended"]);
}
