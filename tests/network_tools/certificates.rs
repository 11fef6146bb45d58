//! Whom our tools speak to: only to who has the service's name by a certificate, and at an address that was granted.

use serde_json::json;

use super::{call, grant, installed, json as answer, store};
use crate::support::authority::Authority;
use crate::support::binary::{Home, Run};
use crate::support::server::Server;

fn search(home: &Home) -> Run {
    call(home, "web-search__search_web", &json!({"query": "x"}))
}

/// A server of the name of Brave Search, that says who it is by a certificate of `authority` for `name`.
fn server(authority: &Authority, name: &str) -> Server {
    Server::tls(authority.identity(name), |_| answer("200 OK", r#"{"query": {}}"#))
}

const SERVICE: &str = "api.search.brave.com";

#[test]
fn a_stranger_under_the_name_of_the_service_gets_nothing() {
    let authority = Authority::new();
    let (stranger, namesake) = (server(&Authority::new(), SERVICE), server(&authority, "other.test"));
    for impostor in [&stranger, &namesake] {
        let home = installed("web-search", &authority, &[(SERVICE, impostor)]);
        store(&home, "brave_key");
        grant(&home, "web-search");
        search(&home).fails(6, &["https://api.search.brave.com could not be connected to"]);
        assert!(impostor.seen().is_empty());
    }
}

#[test]
fn a_name_that_leads_elsewhere_needs_the_same_grants() {
    let authority = Authority::new();
    let service = server(&authority, SERVICE);
    let home = installed("web-search", &authority, &[(SERVICE, &service)]);
    store(&home, "brave_key");
    search(&home).fails(6, &["`ringfence grant`"]);
    // What the tool asks for, and not the private address to which the operator sent the name.
    home.args(&["grant", "web-search", "--all", "--credential", "key=brave_key"]).ok();
    search(&home).fails(6, &["the name `api.search.brave.com` leads to an address that this tool may not reach"]);
    assert!(service.seen().is_empty());
    home.args(&["grant", "web-search", "--address", "127.0.0.1/32"]).ok();
    search(&home).ok();
    assert_eq!(service.seen().len(), 1);
}

#[test]
fn hosts_that_mean_nothing_are_named() {
    let home = Home::new();
    for (hosts, part) in [
        ("{ \"https://a.test\" = \"127.0.0.1\" }", "is no name of a host"),
        ("{ \"*.a.test\" = \"127.0.0.1\" }", "is no name of a host"),
        ("{ \"a.test\" = \"localhost\" }", "write an address such as"),
    ] {
        home.file("home/config.toml", format!("[network]\nhosts = {hosts}\n"));
        home.run("tools").fails(1, &["config.toml", part]);
    }
}
