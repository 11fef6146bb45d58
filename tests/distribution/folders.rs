//! Folders of packages: published to, carried elsewhere, searched, served.

use serde_json::{Value, json};

use super::{home, installed, publish, tamper, weather};
use crate::support::binary::Home;
use crate::support::guests;
use crate::support::server::Server;

/// Moves the folder `from` to `to`, as a stick would.
fn carry(home: &Home, from: &str, to: &str) -> String {
    std::fs::rename(home.path().join(from), home.path().join(to)).unwrap();
    home.path().join(to).display().to_string()
}

#[test]
fn a_folder_needs_nothing_but_itself() {
    let home = home();
    for version in ["1.0.0", "1.10.0", "1.9.0", "2.0.0-rc.1"] {
        let published = publish(&home, &weather(&home, version, ""), "packages").json();
        assert_eq!(published["version"], version);
    }
    let folder = carry(&home, "packages", "stick");
    home.args(&["install", &format!("{folder}#weather")]).ok();
    assert_eq!(installed(&home)["version"], "1.10.0", "the highest release");
    assert_eq!(installed(&home)["location"], format!("{folder}#weather"));
    home.args(&["install", &format!("{folder}#weather@2.0.0-rc.1")]).ok();
    assert_eq!(installed(&home)["version"], "2.0.0-rc.1");
    home.args(&["install", "stick#weather@3.0.0"]).fails(5, &["it has 1.0.0, 1.9.0, 1.10.0, 2.0.0-rc.1"]);
    home.args(&["install", "stick#whether"]).fails(5, &["did you mean `weather`?"]);
    home.args(&["install", "stick"]).fails(2, &["is a folder", "stick#NAME"]);
    home.file("project/ringfence.toml", "");
    home.args(&["install", "project"]).fails(2, &["is the source of a tool", "project` makes one of it"]);
    home.args(&["install", "nowhere#weather"]).fails(2, &["nowhere"]);
    home.args(&["install", "stick#weather", "--signature", "stick/index.json"])
        .fails(2, &["--signature", "no meaning"]);
}

#[test]
fn what_was_changed_in_a_folder_is_refused() {
    let home = home();
    publish(&home, &weather(&home, "1.0.0", ""), "packages").ok();
    let index = home.path().join("packages/index.json");
    let whole = std::fs::read_to_string(&index).unwrap();
    // The file alone, and the file with its index: then the signature is left.
    tamper(&home.path().join("packages/weather-1.0.0.wasm"));
    home.args(&["install", "packages#weather"]).fails(3, &["is not what was asked for"]);
    let changed = std::fs::read(home.path().join("packages/weather-1.0.0.wasm")).unwrap();
    let mut document: Value = serde_json::from_str(&whole).unwrap();
    document["packages"][0]["sha256"] = json!(ringfence_store::Digest::of(&changed).to_string());
    std::fs::write(&index, document.to_string()).unwrap();
    home.args(&["install", "packages#weather"]).fails(3, &["does not fit"]);
    for (what, says) in [("{", "cannot be used"), ("{\"format\": 2, \"packages\": []}", "format 2")] {
        std::fs::write(&index, what).unwrap();
        home.args(&["install", "packages#weather"]).fails(3, &[says, "ringfence publish"]);
    }
    document["packages"][0]["file"] = json!("../secret.wasm");
    std::fs::write(&index, document.to_string()).unwrap();
    home.args(&["install", "packages#weather"]).fails(3, &["not beside the index"]);
}

#[test]
fn a_version_is_published_once() {
    let home = home();
    let file = weather(&home, "1.0.0", "");
    let first = publish(&home, &file, "packages").ok();
    assert_eq!(publish(&home, &file, "packages").ok(), first, "the same again changes nothing");
    let other = home.file("other.wasm", guests::package("slow", "weather", "1.0.0"));
    publish(&home, &other, "packages").fails_somehow();
    home.args(&["publish", other.to_str().unwrap(), "--to", "packages"]).fails(3, &["not signed", "ringfence sign"]);
    home.sign(&other, "acme");
    home.args(&["publish", other.to_str().unwrap(), "--to", "packages"]).fails(3, &["new version"]);
    home.args(&["publish", file.to_str().unwrap(), "--to", "https://x.example/"]).fails(2, &["oci://HOST/REPOSITORY"]);
}

#[test]
fn search_finds_what_is_installed_and_what_the_indexes_list() {
    let home = home();
    publish(&home, &weather(&home, "1.0.0", ""), "packages").ok();
    publish(&home, &weather(&home, "1.1.0", ""), "packages").ok();
    let found = |words: &str| home.run(&format!("search {words} --json")).json();
    assert_eq!(found("weather")["found"], json!([]));
    assert!(home.run("search weather").ok().contains("[indexes]"));
    let folder = home.path().join("packages").display().to_string();
    home.file("home/config.toml", format!("[indexes]\nours = \"{folder}\"\ngone = \"{folder}/gone\"\n"));
    let report = found("WEATH guest");
    let location = format!("{folder}#weather");
    assert_eq!(report["found"].as_array().unwrap().len(), 1, "each package once: {report}");
    assert_eq!((&report["found"][0]["version"], &report["found"][0]["location"]), (&json!("1.1.0"), &json!(location)));
    assert_eq!(report["unreadable"][0]["index"], "gone");
    assert_eq!(found("weather maps")["found"], json!([]));
    let shown = home.run("search run").ok();
    assert!(shown.contains(&format!("ringfence install {location}")) && shown.contains("warning"), "{shown}");
    home.args(&["install", &location]).ok();
    let indexes: Vec<Value> =
        found("run")["found"].as_array().unwrap().iter().map(|found| found["index"].clone()).collect();
    assert_eq!(indexes, [Value::Null, json!("ours")]);
}

/// Any web server that serves the folder is an index; over plain HTTP only when that was said.
#[test]
fn a_folder_can_be_served() {
    let home = home();
    publish(&home, &weather(&home, "1.0.0", ""), "packages").ok();
    let folder = home.path().join("packages");
    let site = Server::new(move |request| {
        let path = request.split(' ').nth(1).unwrap_or_default().trim_start_matches('/');
        match std::fs::read(folder.join(path)) {
            Ok(bytes) => ("200 OK".into(), bytes),
            Err(_) => ("404 Not Found".into(), Vec::new()),
        }
    });
    let location = format!("{}#weather", site.url("/index.json"));
    home.args(&["install", &location]).fails(3, &["--plain-http", "http://"]);
    assert!(site.seen().is_empty());
    home.args(&["install", &location, "--plain-http"]).ok();
    assert_eq!(installed(&home)["location"], location);
    // As a setting.
    let config = format!(
        "[distribution]\naddresses = [\"127.0.0.1\"]\nplain_http = [\"{}\"]\n[indexes]\nsite = \"{}\"\n",
        site.address,
        site.url("/index.json")
    );
    home.file("home/config.toml", config);
    home.args(&["install", &location]).ok();
    let found = home.run("search weather --json").json()["found"].clone();
    assert_eq!(found[1]["location"], location);
    home.file("home/config.toml", "[distribution]\naddresses = [\"elsewhere\"]\n");
    home.run("config --check").fails_somehow();
}
