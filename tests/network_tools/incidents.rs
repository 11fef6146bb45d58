//! The example in Rust, examples/rust-tool: everything that a tool can ask for, granted, and used.

use std::process::Command;

use serde_json::json;

use super::{SECRET, at_services, call, header, structured};
use crate::readme::blocks;
use crate::support::authority::Authority;
use crate::support::binary::Home;
use crate::support::guests;
use crate::support::server::Server;

fn status_page(request: &str) -> super::Answer {
    let known = request.starts_with("GET /api/services/mail%20in HTTP/1.1\r\n");
    match header(request, "authorization") == Some(&format!("Bearer {SECRET}")) {
        true if known => super::json("200 OK", json!({"state": "degraded", "token": SECRET}).to_string()),
        true => super::json("404 Not Found", "{}"),
        false => super::json("401 Unauthorized", "{}"),
    }
}

/// HMAC-SHA-256 as openssl makes it.
fn hmac(key: &str, message: &std::path::Path) -> String {
    let out = Command::new("openssl").args(["dgst", "-sha256", "-hmac", key, "-r"]).arg(message).output().unwrap();
    String::from_utf8(out.stdout).unwrap().split_whitespace().next().unwrap().to_owned()
}

/// What the example's README shows, but for what cargo and `ringfence build` do, which is done already.
fn follow_readme(home: &Home) {
    home.file("incidents.wasm", guests::own_package("rust-tool"));
    for line in blocks("examples/rust-tool/README.md", "console") {
        let mut command = home.command();
        match line.strip_prefix("ringfence ") {
            None | Some("build") => continue,
            Some(args) => command.args(args.split(' ')).current_dir(home.path()),
        };
        Home::feed(command, &format!("{SECRET}\n")).ok();
    }
}

#[test]
fn the_example_uses_what_it_asks_for_once_that_is_granted() {
    let authority = Authority::new();
    let server = Server::tls(authority.identity("status.example.com"), status_page);
    let home = at_services(&authority, &[("status.example.com", &server)]);
    let config = std::fs::read_to_string(home.path().join("home/config.toml")).unwrap();
    let reports = home.file("files/reports/1.md", "Smoke.");
    let workspace = reports.parent().unwrap().parent().unwrap().display().to_string();
    home.file("home/config.toml", format!("{config}[workspace]\nroot = {workspace:?}\n"));
    let calc = home.file("calc.wasm", guests::own_package("calc"));
    home.args(&["install", calc.to_str().unwrap(), "--allow-unsigned", "--accept-effects"]).ok();
    follow_readme(&home);
    home.fed(&["secret", "set", "notice_key"], "a key of this host\n").ok();
    home.args(&["grant", "incidents", "--address", "127.0.0.1/32"]).ok();
    let status = structured(&home, "incidents__service_status", &json!({"name": "mail in"}));
    assert_eq!(status, json!({"state": "degraded"}));
    let signed = call(&home, "incidents__sign_notice", &json!({"text": "mail is down"})).ok();
    assert_eq!(signed.trim(), hmac("a key of this host", &home.file("notice", "mail is down")));
    assert_eq!(call(&home, "incidents__next_number", &json!({})).ok().trim(), "2");
    call(&home, "incidents__save_report", &json!({"number": 2, "text": "A fire."})).ok();
    assert_eq!(call(&home, "incidents__read_report", &json!({"number": 2})).ok().trim(), "A fire.");
    let sum = call(&home, "incidents__downtime", &json!({"minutes": [0.1, 0.2]})).ok();
    assert_eq!(sum.trim(), "0.3 minutes");
}
