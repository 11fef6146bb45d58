//! Our tools for services of the network: built, signed, installed, granted by the files of examples/grants, and called
//! against servers on this machine that answer as the services do, under the services' names and with certificates.

mod certificates;
mod github;
mod incidents;
mod weather;
mod web_search;

use serde_json::Value;

use crate::repository;
use crate::support::authority::Authority;
use crate::support::binary::{Home, Run};
use crate::support::guests;
use crate::support::server::Server;

/// Letters that change in every encoding.
const SECRET: &str = "s3cret+value/of=38~chars";

/// What no result may show: the secret raw, and as it stands in URLs, base64 and hexadecimal.
const FORMS: &[&str] = &[
    SECRET,
    "s3cret%2Bvalue%2Fof%3D38~chars",
    "czNjcmV0K3ZhbHVlL29mPTM4fmNoYXJz",
    "7333637265742b76616c75652f6f663d33387e6368617273",
];

/// A home where the names of `services` lead to their servers, and `authority` is trusted.
fn at_services(authority: &Authority, services: &[(&str, &Server)]) -> Home {
    let home = Home::new();
    let trusted = home.file("authority.pem", authority.pem());
    let hosts: Vec<_> = services.iter().map(|(name, server)| format!("\"{name}\" = \"{}\"", server.address)).collect();
    let network = format!("authorities = {:?}\nhosts = {{ {} }}\n", trusted.display().to_string(), hosts.join(", "));
    home.file("home/config.toml", format!("[network]\n{network}\n[rate]\nunlimited = true\n"));
    home
}

/// The same, and `tool` is installed, signed by acme, its effects believed, and nothing granted.
fn installed(tool: &str, authority: &Authority, services: &[(&str, &Server)]) -> Home {
    let home = at_services(authority, services);
    home.key("acme");
    home.trust("acme", &[tool]);
    let file = home.file(&format!("{tool}.wasm"), guests::own_package(tool));
    home.sign(&file, "acme");
    home.args(&["install", file.to_str().unwrap(), "--accept-effects"]).ok();
    home
}

/// Grants what the example grants, as an operator would who copies the file, and the address of the servers.
fn grant(home: &Home, tool: &str) {
    let example = repository().join("examples/grants").join(format!("{tool}.toml"));
    home.file(&format!("home/grants/{tool}.toml"), std::fs::read(example).unwrap());
    home.args(&["grant", tool, "--address", "127.0.0.1/32"]).ok();
}

/// Stores the secret that an example names.
fn store(home: &Home, name: &str) {
    home.fed(&["secret", "set", name, "--place", "file"], &format!("{SECRET}\n")).ok();
}

fn call(home: &Home, tool: &str, params: &Value) -> Run {
    home.args(&["call", tool, &params.to_string()])
}

/// The structured result of a call that has to succeed. No form of the secret is in any of its output.
#[track_caller]
fn structured(home: &Home, tool: &str, params: &Value) -> Value {
    let run = home.args(&["--json", "call", tool, &params.to_string()]);
    keeps_the_secret(&run);
    run.json()["structured"].clone()
}

#[track_caller]
fn keeps_the_secret(run: &Run) {
    for form in FORMS {
        assert!(!run.out.contains(form) && !run.err.contains(form), "{form} is in {run:#?}");
    }
}

/// The value of a header of a request as a server saw it.
fn header<'a>(request: &'a str, name: &str) -> Option<&'a str> {
    let head = request.split("\r\n\r\n").next()?;
    let mut headers = head.lines().skip(1).filter_map(|line| line.split_once(": "));
    headers.find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}

/// What a server answers: status line with headers, and body.
type Answer = (String, Vec<u8>);

/// An answer in JSON.
fn json(status: &str, body: impl Into<Vec<u8>>) -> Answer {
    (format!("{status}\r\ncontent-type: application/json; charset=utf-8"), body.into())
}

/// The files that are shown to operators grant what the manifests ask for, all of it.
#[test]
fn the_examples_grant_what_is_asked_for() {
    let server = Server::echo();
    for (tool, secret) in [("weather", None), ("github", Some("github_token")), ("web-search", Some("brave_key"))] {
        let home = installed(tool, &Authority::new(), &[("unused.test", &server)]);
        secret.into_iter().for_each(|name| store(&home, name));
        let asked = |home: &Home| home.run("grants --json").json()[0]["asked"].as_array().unwrap().clone();
        assert!(asked(&home).iter().all(|asked| asked["granted"] == false), "{tool}");
        grant(&home, tool);
        for asked in asked(&home) {
            assert_eq!(asked["granted"], true, "{tool}: {}", asked["what"]);
        }
    }
}
