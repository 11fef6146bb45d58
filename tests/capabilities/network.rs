//! Requests of tools: where they go, what they carry, what comes back of it, and how much of all that.

use serde_json::{Value, json};

use super::{by_hand, call, files, home};
use crate::support::authority::Authority;
use crate::support::binary::{Home, spelling_in};
use crate::support::server::Server;

/// The limits of the network, each with a value that one request of the tests below exceeds, and its code.
pub const EXCEEDED: &[(&str, u64, &str)] = &[
    ("http_requests", 1, "limit.http_requests"),
    ("http_request_bytes", 10, "limit.http_request"),
    ("http_response_bytes", 10, "limit.http_response"),
    ("http_time_ms", 100, "limit.http_time"),
];

pub const SECRET: &str = "s3cret+value/of=38~chars";

/// The manifest of a tool that asks for `rules` at `server`.
pub fn asks(server: &Server, more: &str) -> String {
    format!("[[capabilities.http]]\nurl = \"{}\"\nmethods = [\"GET\", \"POST\"]\n{more}", server.url("/api/**"))
}

/// A home whose tool asks for and is granted `/api/**` at `server`.
fn granted(server: &Server, more: &str, config: &str) -> Home {
    let home = home("fetcher", &asks(server, more), config);
    home.args(&["grant", "reach", "--all", "--address", "127.0.0.1/32"]).ok();
    home
}

fn fetch(home: &Home, url: &str) -> Value {
    let run = call(home, "fetch", &json!({"method": "GET", "url": url}));
    serde_json::from_str(&run.ok()).unwrap()
}

#[test]
fn a_request_goes_where_it_was_asked_for_and_granted_and_nowhere_else() {
    let server = Server::echo();
    let home = home("fetcher", &asks(&server, ""), "");
    // Asked for only: the component imports what it was not granted.
    let run = call(&home, "fetch", &json!({"method": "GET", "url": server.url("/api/x")}));
    run.fails(6, &["needs to send requests", "`ringfence grant`"]);
    home.args(&["grant", "reach", "--all"]).ok();
    // A granted rule opens no private address.
    let run = call(&home, "fetch", &json!({"method": "GET", "url": server.url("/api/x")}));
    run.fails(1, &["names an address that this tool may not reach"]);
    home.args(&["grant", "reach", "--address", "127.0.0.1/32"]).ok();
    assert_eq!(fetch(&home, &server.url("/api/x"))["status"], 200);
    for (method, path) in [("GET", "/apix"), ("GET", "/other"), ("DELETE", "/api/x"), ("GET", "/api/%2e%2e/other")] {
        let run = call(&home, "fetch", &json!({"method": method, "url": server.url(path)}));
        assert_eq!(run.code, 1, "{method} {path}: {run:?}");
    }
    // Granted and not asked for.
    let other = format!("[[http]]\nurl = \"{}\"\n", server.url("/other"));
    by_hand(&home, |text| format!("{text}\n{other}"));
    let run = call(&home, "fetch", &json!({"method": "GET", "url": server.url("/other")}));
    run.fails(1, &["this tool may not reach"]);
    assert_eq!(server.seen().len(), 1, "{:?}", server.seen());
    home.args(&["revoke", "reach"]).ok();
    assert_eq!(call(&home, "fetch", &json!({"method": "GET", "url": server.url("/api/x")})).code, 6);
}

#[test]
fn either_side_can_name_fewer_urls_and_methods() {
    let server = Server::echo();
    let home = home("fetcher", &asks(&server, ""), "");
    let rule = format!("GET {}", server.url("/api/only"));
    home.args(&["grant", "reach", "--http", &rule, "--address", "127.0.0.1/32"]).ok();
    fetch(&home, &server.url("/api/only"));
    // The manifest does not ask for this one.
    let delete = format!("DELETE {}", server.url("/api/only"));
    home.args(&["grant", "reach", "--http", &delete]).fails(3, &["does not ask for", &delete]);
    by_hand(&home, |text| text.replace("[\"GET\"]", "[\"GET\", \"DELETE\"]"));
    for (method, path) in [("GET", "/api/other"), ("POST", "/api/only"), ("DELETE", "/api/only")] {
        let run = call(&home, "fetch", &json!({"method": method, "url": server.url(path)}));
        run.fails(1, &["this tool may not reach"]);
    }
    assert_eq!(server.seen().len(), 1);
}

#[test]
fn each_limit_of_the_network_ends_the_call() {
    let slow = Server::new(|request| {
        if request.contains("/api/slow") {
            std::thread::sleep(std::time::Duration::from_millis(600));
        }
        match request.contains("/api/again") {
            true => ("302 Found\r\nlocation: /api/there".into(), Vec::new()),
            false => ("200 OK".into(), vec![b'x'; 1000]),
        }
    });
    for (key, value, code) in EXCEEDED {
        let path = match *key {
            "http_requests" => "/api/again",
            "http_time_ms" => "/api/slow",
            _ => "/api/x",
        };
        let params = json!({"method": "GET", "url": slow.url(path)});
        for config in [format!("[limits]\n{key} = {value}\n"), format!("[tools.reach.limits]\n{key} = {value}\n")] {
            let home = granted(&slow, "", &config);
            let run = home.args(&["--json", "call", "reach__fetch", &params.to_string()]);
            assert_eq!(run.code, 4, "{key}: {run:?}");
            let error: Value = serde_json::from_str(&run.out).unwrap();
            assert_eq!(error["error"]["code"], *code);
            assert!(error["error"]["hint"].as_str().unwrap().contains(&format!("`{key}`")), "{error}");
        }
        let home = granted(&slow, "", "");
        home.args(&["grant", "reach", "--limit", &format!("{key}={value}")]).ok();
        assert_eq!(call(&home, "fetch", &params).code, 4, "{key} in the grant");
        // The author's side, and the limits of a rule.
        let home = granted(&slow, &format!("[limits]\n{key} = {value}\n"), "");
        assert_eq!(call(&home, "fetch", &params).code, 4, "{key} in the manifest");
        let of_rule = format!("{} = {value}\n", key.strip_prefix("http_").unwrap());
        for (of_manifest, of_grant) in [(of_rule.as_str(), ""), ("", of_rule.as_str())] {
            let home = super::home("fetcher", &asks(&slow, of_manifest), "");
            let rule = asks(&slow, of_grant).replace("capabilities.http", "http");
            home.file("home/grants/reach.toml", format!("addresses = [\"127.0.0.1/32\"]\n{rule}"));
            assert_eq!(
                call(&home, "fetch", &params).code,
                4,
                "`{of_manifest}` of the manifest's rule, `{of_grant}` of the grant's"
            );
        }
        // Without any of them it goes through.
        assert_eq!(call(&granted(&slow, "", ""), "fetch", &params).code, 0, "{key}");
    }
}

/// A credential in every place, and what the server then sees.
const PLACES: &[(&str, &str, &str)] = &[
    ("\"bearer\"", "/api/x", "authorization: Bearer s3cret+value/of=38~chars"),
    ("{ basic = { username = \"ada\" } }", "/api/x", "authorization: Basic YWRhOnMzY3JldCt2YWx1ZS9vZj0zOH5jaGFycw=="),
    ("{ header = { name = \"x-key\", prefix = \"Token \" } }", "/api/x", "x-key: Token s3cret+value/of=38~chars"),
    ("{ query = \"key\" }", "/api/x", "?key=s3cret%2Bvalue%2Fof%3D38~chars"),
    ("{ path = \"KEY\" }", "/api/{KEY}/x", "/api/s3cret%2Bvalue%2Fof%3D38~chars/x"),
    ("{ json = \"/auth\" }", "/api/x", "\"auth\":\"s3cret+value/of=38~chars\""),
];

#[test]
fn credentials_are_placed_by_the_host_and_taken_out_of_what_comes_back() {
    let server = Server::echo();
    for (place, path, expected) in PLACES {
        let credential = format!(
            "[capabilities.credentials.token]\nplace = {place}\nrequests = [{{ url = \"{}\", methods = [\"POST\"] }}]\n",
            server.url("/api/**")
        );
        let home = granted(&server, &credential, "");
        let params = json!({"method": "POST", "url": server.url(path), "body": {"a": 1}});
        // Nobody has given it: the request is not sent.
        let told = "`ringfence secret set reach_token`, then `ringfence grant reach --credential token=reach_token`";
        call(&home, "fetch", &params).fails(6, &["needs a login", "`reach__fetch` lacks the credential `token`", told]);
        home.fed(&["secret", "set", "service_key", "--place", "file"], &format!("{SECRET}\n")).ok();
        home.args(&["grant", "reach", "--credential", "token=service_key"]).ok();
        let run = call(&home, "fetch", &params);
        let seen = server.seen().pop().unwrap();
        assert!(seen.contains(expected), "{place}: {seen}");
        let out = run.ok();
        assert!(out.contains("[REDACTED:service_key]"), "{place}: {out}");
        for form in [SECRET, "s3cret%2Bvalue", "czNjcmV0K3ZhbHVl", "YWRhOnMzY3JldCt2"] {
            assert!(!out.contains(form), "{place}: {form} in {out}");
        }
        let traced = home.traced(&["call", "reach__fetch", &params.to_string()]);
        assert_eq!(traced.code, 0, "{traced:?}");
        traced.shows_nothing_of(SECRET);
        // Bound to a method: another request carries nothing.
        let plain = server.url(&path.replace("{KEY}", "y"));
        fetch(&home, &plain);
        assert!(!server.seen().pop().unwrap().contains("s3cret"));
    }
}

/// A home in which the secret goes to one place of the server, as a bearer token.
fn bound_to_one_place(server: &Server) -> Home {
    let credential = format!(
        "[capabilities.credentials.token]\nplace = \"bearer\"\nrequests = [{{ url = \"{}\" }}]\n",
        server.url("/api/only")
    );
    let home = granted(server, &credential, "");
    home.fed(&["secret", "set", "service_key", "--place", "file"], SECRET).ok();
    home.args(&["grant", "reach", "--credential", "token=service_key"]).ok();
    home
}

#[test]
fn what_a_tool_logs_and_breaks_off_with_is_clean_wherever_it_is_written() {
    let server = Server::echo();
    let home = bound_to_one_place(&server);
    // What came back, and what it was told.
    for (path, word) in [("/api/only", "nothing"), ("/api/other", SECRET)] {
        let params = json!({"url": server.url(path), "word": word}).to_string();
        for run in [home.args(&["call", "reach__shout", &params]), home.traced(&["call", "reach__shout", &params])] {
            assert!(run.code != 0 && run.err.contains("[REDACTED:service_key]"), "{run:?}");
            run.shows_nothing_of(SECRET);
        }
    }
    assert!(server.seen()[0].contains(SECRET));
    for file in files(&home) {
        let bytes = std::fs::read(&file).unwrap();
        assert_eq!(spelling_in(&String::from_utf8_lossy(&bytes), SECRET), None, "{}", file.display());
    }
}

#[test]
fn a_credential_goes_only_where_the_manifest_binds_it() {
    let server = Server::echo();
    let home = bound_to_one_place(&server);
    for (path, carried) in [("/api/only", true), ("/api/other", false)] {
        fetch(&home, &server.url(path));
        assert_eq!(server.seen().pop().unwrap().contains("authorization: Bearer"), carried, "{path}");
    }
}

#[test]
fn a_credential_that_is_optional_is_missed_by_nobody() {
    let server = Server::echo();
    let credential = |optional: bool| {
        format!(
            "[capabilities.credentials.token]\nplace = \"bearer\"\noptional = {optional}\n\
             requests = [{{ url = \"{}\" }}]\n",
            server.url("/api/**")
        )
    };
    let params = json!({"method": "GET", "url": server.url("/api/x")});
    call(&granted(&server, &credential(false), ""), "fetch", &params).fails(6, &["needs a login"]);
    call(&granted(&server, &credential(true), ""), "fetch", &params).ok();
    assert!(!server.seen().pop().unwrap().contains("authorization"));
}

#[test]
fn the_operator_can_bind_a_credential_more_tightly_than_it_was_asked_for() {
    let server = Server::echo();
    let credential = format!(
        "[capabilities.credentials.token]\nplace = \"bearer\"\nrequests = [{{ url = \"{}\" }}]\n",
        server.url("/api/**")
    );
    let home = granted(&server, &credential, "");
    home.fed(&["secret", "set", "service_key", "--place", "file"], SECRET).ok();
    let file = home.path().join("home/grants/reach.toml");
    let given = std::fs::read_to_string(&file).unwrap();
    let only = server.url("/api/only");
    for (requests, path, carried) in [
        (format!("{{ url = \"{only}\" }}"), "/api/only", true),
        (format!("{{ url = \"{only}\" }}"), "/api/other", false),
        (format!("{{ url = \"{only}\", methods = [\"POST\"] }}"), "/api/only", false),
    ] {
        let narrow = format!("[credentials.token]\nsecret = \"service_key\"\nrequests = [{requests}]\n");
        std::fs::write(&file, format!("{given}\n{narrow}")).unwrap();
        fetch(&home, &server.url(path));
        let seen = server.seen().pop().unwrap();
        assert_eq!(seen.contains("authorization: Bearer"), carried, "{requests} {path}");
    }
}

#[test]
fn an_authority_that_cannot_be_read_is_named() {
    let home = Home::new();
    home.file("home/config.toml", "[network]\nauthorities = \"/nowhere/authority.pem\"\n");
    home.run("tools").fails(1, &["`authorities`", "/nowhere/authority.pem"]);
    let file = home.file("not.pem", "no certificate");
    home.file("home/config.toml", format!("[network]\nauthorities = \"{}\"\n", file.display()));
    home.run("tools").fails(1, &["[network]", "certificate"]);
}

/// The manifest and the grant of a tool that reaches one port of this machine over TLS.
fn over_tls(port: u16, config: &str) -> (Home, String) {
    let rule = format!("url = \"https://127.0.0.1:{port}/**\"\n");
    let home = home("fetcher", &format!("[[capabilities.http]]\n{rule}"), config);
    home.args(&["grant", "reach", "--all", "--address", "127.0.0.1/32"]).ok();
    (home, format!("https://127.0.0.1:{port}/x"))
}

#[test]
fn an_authority_of_the_operators_is_trusted() {
    let authority = Authority::new();
    let server = Server::tls(authority.identity("127.0.0.1"), |_| ("200 OK".into(), b"ok".to_vec()));
    let (home, url) = over_tls(server.address.port(), "");
    let stranger = call(&home, "fetch", &json!({"method": "GET", "url": url}));
    assert!(stranger.code != 0 && stranger.err.contains("could not be connected to"), "{stranger:?}");
    assert!(stranger.err.contains("authority that is not trusted"), "the operator's log says why: {stranger:?}");
    let file = home.file("own.pem", authority.pem());
    let (home, url) = over_tls(server.address.port(), &format!("[network]\nauthorities = \"{}\"\n", file.display()));
    assert_eq!(fetch(&home, &url)["body"], "ok");
}

#[test]
fn a_connection_takes_no_longer_than_it_may() {
    // It takes connections and never says a word, so TLS begins and does not end.
    let port = Server::silent().address.port();
    let (home, url) = over_tls(port, "[network]\nconnect_ms = 100\n[limits]\nhttp_time_ms = 8000\n");
    let run = call(&home, "fetch", &json!({"method": "GET", "url": url}));
    assert!(run.code != 4 && run.err.contains("could not be connected to"), "{run:?}");
    let (home, url) = over_tls(port, "[network]\nconnect_ms = 60000\n[limits]\nhttp_time_ms = 100\n");
    call(&home, "fetch", &json!({"method": "GET", "url": url})).fails(4, &["`http_time_ms`"]);
}

#[test]
fn a_guest_can_set_no_credential_and_no_host_of_its_own() {
    let server = Server::echo();
    let home = granted(&server, "", "");
    home.fed(&["secret", "set", "other_key", "--place", "file"], SECRET).ok();
    // A secret of the vault that the guest got hold of does not leave.
    let run = call(&home, "fetch", &json!({"method": "POST", "url": server.url("/api/x"), "body": {"a": SECRET}}));
    run.fails(1, &["`other_key`"]);
    assert!(server.seen().is_empty());
}

#[test]
fn a_credential_that_no_header_can_carry_is_told_before_a_request_and_at_it() {
    let server = Server::echo();
    let home = bound_to_one_place(&server);
    let url = server.url("/api/only");
    home.fed(&["secret", "rotate", "service_key"], "p\u{e4}ssword-of-the-service").ok();
    let problem = "`service_key` has characters beyond ASCII";
    home.args(&["explain", "reach", &format!("GET {url}")]).answers(3, &["would be refused", problem]);
    let run = call(&home, "fetch", &json!({"method": "GET", "url": url}));
    run.shows_nothing_of("p\u{e4}ssword-of-the-service");
    run.fails(1, &[problem]);
    assert!(server.seen().is_empty());
}

#[test]
fn explain_says_which_line_decides_and_sends_nothing() {
    let server = Server::echo();
    let home = granted(&server, "", "");
    let out = home.args(&["explain", "reach__fetch", &format!("GET {}", server.url("/api/x"))]).ok();
    assert!(out.contains("would be sent") && !out.contains("no method was given"), "{out}");
    let out_of_get = home.args(&["explain", "reach__fetch", &server.url("/api/x")]).ok();
    assert!(out_of_get.contains("would be sent:\n  no method was given, so GET was looked at\n"), "{out_of_get}");
    // Each by the line where its rule begins.
    let inspected = home.run("inspect reach.wasm").ok();
    let line = inspected.lines().find(|line| line.contains("[[capabilities.http]]")).unwrap();
    let number = line.split_whitespace().next().unwrap();
    assert!(out.contains(&format!("ringfence.toml:{number} of `reach`: `GET,POST http")), "{out}\n{inspected}");
    let grant = std::fs::read_to_string(home.path().join("home/grants/reach.toml")).unwrap();
    let number = grant.lines().position(|line| line == "[[http]]").unwrap() + 1;
    assert!(out.contains(&format!("grants/reach.toml:{number}: `GET,POST http")), "{out}\n{grant}");
    let run = home.args(&["explain", "reach", &format!("DELETE {}", server.url("/api/x"))]);
    run.answers(3, &["would be refused", "the manifest of `reach` refuses it", "the nearest rule is ringfence.toml:"]);
    let run = home.args(&["explain", "reach", &format!("DELETE {}", server.url("/api/x")), "--json"]);
    let explained: Value = serde_json::from_str(&run.out).expect("one document");
    assert_eq!((run.code, &explained["allowed"]), (3, &json!(false)), "{explained}");
    home.args(&["revoke", "reach"]).ok();
    let run = home.args(&["explain", "reach", &format!("GET {}", server.url("/api/x"))]);
    run.answers(3, &["ringfence.toml:", "the grant of `reach` gives none", "revoked", "`ringfence grant reach --http"]);
    assert!(server.seen().is_empty());
}
