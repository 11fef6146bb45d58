//! Updates: from where a package came, with what more they ask for shown and not granted.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use super::{home, installed, publish, weather};
use crate::support::binary::Home;
use crate::support::registry::Registry;
use crate::support::server::Server;
use crate::support::{guests, packages};

const ASKS: &str = "[[capabilities.http]]\nurl = \"https://api.example.org/v1/**\"\nmethods = [\"GET\"]\n";
const ASKS_MORE: &str = "[limits]\nfuel = 900000000\n[[capabilities.http]]\nurl = \"https://api.example.org/v1/**\"\nmethods = [\"GET\"]\n\
                         [[capabilities.http]]\nurl = \"https://other.example.org/**\"\nmethods = [\"GET\"]\n";

fn update(home: &Home, args: &str) -> Value {
    home.run(&format!("update {args} --json")).json()[0].clone()
}

#[test]
fn an_update_shows_what_more_it_asks_for_and_grants_none_of_it() {
    let (home, registry) = (home(), Registry::public());
    let place = format!("oci://{}/w", registry.address);
    publish(&home, &weather(&home, "1.0.0", ASKS), &place).ok();
    home.args(&["install", &place]).ok();
    home.args(&["grant", "weather", "--all"]).ok();
    assert_eq!(update(&home, "")["state"], "current");
    publish(&home, &weather(&home, "1.1.0", ASKS_MORE), &place).ok();

    let checked = update(&home, "--check");
    assert_eq!((&checked["state"], &checked["version"]), (&json!("available"), &json!("1.0.0")));
    assert_eq!(checked["changes"]["version"], "1.1.0");
    let more = checked["changes"]["asks_more"].to_string();
    assert!(more.contains("other.example.org") && more.contains("fuel 900000000 (was 500000000)"), "{more}");
    assert!(!more.contains("api.example.org"), "{more}");
    assert_eq!(installed(&home)["version"], "1.0.0", "nothing has changed");
    let told = home.run("update --check").ok();
    assert!(told.contains("asks for HTTP GET https://other.example.org/**"), "{told}");
    assert!(told.contains("`ringfence grant weather --all` grants it"), "{told}");

    assert_eq!(update(&home, "weather")["state"], "updated");
    assert_eq!((&installed(&home)["version"], &installed(&home)["location"]), (&json!("1.1.0"), &json!(place)));
    let grants = home.run("grants --json").json()[0]["asked"].to_string();
    assert!(grants.contains("\"granted\":true") && grants.contains("\"granted\":false"), "{grants}");
    home.args(&["explain", "weather", "GET https://other.example.org/x"]).answers(3, &["would be refused"]);
    assert_eq!(update(&home, "")["state"], "current");
    home.run("update wheather").fails(5, &["`wheather`"]);
}

#[test]
fn a_tag_is_followed_and_what_is_pinned_stays() {
    let (home, registry) = (home(), Registry::public());
    let place = format!("oci://{}/w", registry.address);
    let exactly = publish(&home, &weather(&home, "1.0.0", ""), &place).json()["exactly"].as_str().unwrap().to_owned();
    publish(&home, &weather(&home, "1.0.0", ""), &format!("{place}:edge")).ok();
    home.args(&["install", &exactly]).ok();
    publish(&home, &weather(&home, "1.1.0", ""), &place).ok();
    assert_eq!(update(&home, "")["state"], "pinned");
    home.args(&["install", &format!("{place}:edge")]).ok();
    assert_eq!(update(&home, "")["state"], "current");
    publish(&home, &weather(&home, "1.1.0", ""), &format!("{place}:edge")).ok();
    assert_eq!(update(&home, "")["state"], "updated");
    assert_eq!(installed(&home)["location"], format!("{place}:edge"));
}

#[test]
fn an_update_has_to_be_newer_and_of_the_same_signer() {
    let home = home();
    let file = weather(&home, "1.1.0", "");
    home.args(&["install", file.to_str().unwrap()]).ok();
    assert_eq!(update(&home, "")["state"], "current");
    let put = |version: &str, key: &str| {
        std::fs::write(&file, guests::package("mirror", "weather", version)).unwrap();
        home.sign(&file, key);
    };
    put("1.0.0", "acme");
    let run = home.run("update");
    assert_eq!(run.code, 3);
    assert!(run.out.contains("weather 1.1.0 stays") && run.out.contains("older"), "{run:?}");
    home.key("other");
    home.trust("other", &["*"]);
    put("1.2.0", "other");
    let run = home.run("update --json");
    let outcome: Value = serde_json::from_str(&run.out).expect("one document");
    assert_eq!(
        (run.code, &outcome[0]["state"], &outcome[0]["error"]["code"]),
        (3, &json!("failed"), &json!("install.signer_changed"))
    );
    put("1.2.0", "acme");
    assert_eq!(update(&home, "")["state"], "updated");
    std::fs::remove_file(&file).unwrap();
    assert_eq!(home.run("update").code, 1);
    assert_eq!(installed(&home)["version"], "1.2.0");
}

#[test]
fn an_unsigned_package_is_updated_only_when_that_was_said() {
    let home = home();
    let file = home.file("weather.wasm", guests::package("mirror", "weather", "1.0.0"));
    home.args(&["install", file.to_str().unwrap(), "--allow-unsigned", "--as", "sky"]).ok();
    std::fs::write(&file, guests::package("mirror", "weather", "1.1.0")).unwrap();
    assert_eq!(home.run("update").code, 3);
    assert_eq!(update(&home, "--allow-unsigned")["state"], "updated");
    assert_eq!((&installed(&home)["source"], &installed(&home)["version"]), (&json!("sky"), &json!("1.1.0")));
}

#[test]
fn belief_in_effects_lasts_as_long_as_nothing_more_is_claimed() {
    let home = home();
    let file = home.file("calc.wasm", guests::package("calc", "tool", "1.0.0"));
    let put = |guest: &str, version: &str| {
        std::fs::write(&file, guests::package(guest, "tool", version)).unwrap();
        home.sign(&file, "acme");
    };
    put("calc", "1.0.0");
    home.args(&["install", file.to_str().unwrap(), "--accept-effects"]).ok();
    put("calc", "1.1.0");
    assert_eq!(update(&home, "")["state"], "updated");
    assert_eq!(installed(&home)["effects_accepted"], true);
    // Other tools, of which nobody said that they are believed.
    put("text", "1.2.0");
    assert_eq!(update(&home, "")["state"], "updated");
    assert_eq!(installed(&home)["effects_accepted"], false);
    put("calc", "1.3.0");
    assert_eq!(update(&home, "--accept-effects")["state"], "updated");
    assert_eq!(installed(&home)["effects_accepted"], true);
}

#[test]
fn what_was_done_before_an_interruption_is_told() {
    let home = home();
    publish(&home, &weather(&home, "1.0.0", ""), "packages").ok();
    let (folder, stuck) = (home.path().join("packages"), Arc::new(AtomicBool::new(false)));
    let waits = stuck.clone();
    let site = Server::new(move |request| {
        while waits.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(20));
        }
        let path = request.split(' ').nth(1).unwrap().trim_start_matches('/');
        std::fs::read(folder.join(path)).map_or(("404 Not Found".into(), Vec::new()), |bytes| ("200 OK".into(), bytes))
    });
    home.args(&["install", &format!("{}#weather", site.url("/index.json")), "--plain-http"]).ok();
    packages::install_unsigned(&home, "mirror");
    stuck.store(true, Ordering::SeqCst);
    let before = site.begun();
    let mut command = home.command();
    command.args(["update", "--plain-http", "--json"]).stdin(Stdio::null()).stdout(Stdio::piped());
    let updating = command.spawn().unwrap();
    while site.begun() == before {
        std::thread::sleep(Duration::from_millis(20));
    }
    Command::new("sh").arg("-c").arg(format!("kill -INT {}", updating.id())).status().unwrap();
    let ended = updating.wait_with_output().unwrap();
    stuck.store(false, Ordering::SeqCst);
    let outcomes: Value = serde_json::from_slice(&ended.stdout).expect("one document");
    assert_eq!((&outcomes[0]["source"], &outcomes[0]["state"]), (&json!("mirror"), &json!("current")), "{outcomes}");
    assert_eq!((ended.status.code(), &outcomes[1]["error"]["code"]), (Some(1), &json!("interrupted")), "{outcomes}");
}
