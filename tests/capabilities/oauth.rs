//! Access tokens: asked for in a manifest, granted with a client, obtained and placed by the host.

use serde_json::{Value, json};

use super::{call, home};
use crate::support::binary::{Home, Run};
use crate::support::guests;
use crate::support::server::Server;

const CLIENT_SECRET: &str = "client+s3cret/of=38~chars";

/// A server with a token endpoint and an API. Its tokens are numbered; it refuses `token-number-0` where `strict`, and
/// takes each refresh token once.
fn server(strict: bool) -> Server {
    let (issued, current) = (std::sync::Mutex::new(0), std::sync::Mutex::new("refresh-token-0".to_owned()));
    Server::new(move |request| {
        if !request.starts_with("POST /token ") {
            let refused = strict && request.contains("Bearer token-number-0");
            let status = if refused { "401 Unauthorized" } else { "200 OK" };
            return (format!("{status}\r\ncontent-type: text/plain"), request.as_bytes().to_vec());
        }
        let mut issued = issued.lock().unwrap();
        let mut more = String::new();
        if request.contains("grant_type=refresh_token") {
            let mut current = current.lock().unwrap();
            if !request.contains(&format!("refresh_token={current}&")) {
                return ("400 Bad Request".into(), format!("{{\"error\":\"invalid_grant\",\"x\":{request:?}}}").into());
            }
            *current = format!("refresh-token-{}", *issued + 1);
            more = format!(",\"refresh_token\":\"{current}\"");
        }
        let token = format!(
            "{{\"access_token\":\"token-number-{issued}\",\"token_type\":\"bearer\",\"expires_in\":3600{more}}}"
        );
        *issued += 1;
        ("200 OK\r\ncontent-type: application/json".into(), token.into())
    })
}

fn asks(server: &Server, oauth2: &str) -> String {
    format!(
        "[[capabilities.http]]\nurl = \"{api}\"\nmethods = [\"GET\", \"POST\"]\n\
         [capabilities.credentials.login]\nplace = \"bearer\"\ndescription = \"Your account.\"\n\
         requests = [{{ url = \"{api}\" , methods = [\"GET\", \"POST\"]}}]\n\
         [capabilities.credentials.login.oauth2]\ntoken_url = \"{token}\"\n{oauth2}",
        api = server.url("/api/**"),
        token = server.url("/token"),
    )
}

const BY_CLIENT: &str = "grant = \"client_credentials\"\nscopes = [\"read\"]\naudience = \"the-api\"\n";

fn granted(server: &Server, oauth2: &str, login: &str) -> Home {
    let home = home("fetcher", &asks(server, oauth2), "");
    home.args(&["grant", "reach", "--all", "--address", "127.0.0.1/32"]).ok();
    home.fed(&["secret", "set", "client_secret", "--place", "file"], CLIENT_SECRET).ok();
    home.fed(&["secret", "set", "account"], "refresh-token-0").ok();
    let mut args = vec!["grant", "reach"];
    args.extend(login.split_whitespace());
    home.args(&args).ok();
    home
}

fn fetch(home: &Home, server: &Server) -> Run {
    call(home, "fetch", &json!({"method": "POST", "url": server.url("/api/x"), "body": {"a": 1}}))
}

#[test]
fn a_token_is_obtained_for_a_granted_client_and_seen_by_nobody() {
    let server = server(false);
    let home = granted(&server, BY_CLIENT, "--credential login=client_secret");
    // A secret without a client is not enough, and is not sent in the place of a token.
    let run = fetch(&home, &server);
    assert!(run.err.contains("--client login=ID"), "{run:?}");
    run.fails(6, &["needs a login"]);
    let asked = home.run("grants").ok();
    assert!(asked.contains("/token by client_credentials for read") && asked.contains("Your account."), "{asked}");
    assert!(server.seen().is_empty());
    home.run("grant reach --client login=ringfence").ok();
    let out = fetch(&home, &server).ok();
    assert!(out.contains("[REDACTED:client_secret/access_token]") && !out.contains("token-number"), "{out}");
    let seen = server.seen();
    assert_eq!(seen.len(), 2, "{seen:#?}");
    // `ringfence:client%2Bs3cret%2Fof%3D38%7Echars`, in base64.
    assert!(
        seen[0].contains("authorization: Basic cmluZ2ZlbmNlOmNsaWVudCUyQnMzY3JldCUyRm9mJTNEMzglN0VjaGFycw=="),
        "{}",
        seen[0]
    );
    assert!(seen[0].ends_with("grant_type=client_credentials&scope=read&audience=the-api"), "{}", seen[0]);
    assert!(seen[1].contains("authorization: Bearer token-number-0") && !seen[1].contains("s3cret"), "{}", seen[1]);
    let out = home.args(&["explain", "reach", &format!("POST {}", server.url("/api/x"))]).ok();
    assert!(out.contains("client_secret/access_token"), "{out}");
    let params = json!({"method": "POST", "url": server.url("/api/x"), "body": {"a": 1}}).to_string();
    let traced = home.traced(&["call", "reach__fetch", &params]);
    assert_eq!(traced.code, 0, "{traced:?}");
    for secret in [CLIENT_SECRET, "token-number-1"] {
        traced.shows_nothing_of(secret);
    }
    let list: Value = serde_json::from_str(&home.args(&["call", "secret_list"]).ok()).unwrap();
    assert!(list.to_string().contains("client secret for tokens from"), "{list}");
}

#[test]
fn a_refused_token_costs_one_more_request_and_no_more() {
    let server = server(true);
    let home = granted(&server, BY_CLIENT, "--credential login=client_secret --client login=ringfence");
    let out: Value = serde_json::from_str(&fetch(&home, &server).ok()).unwrap();
    assert_eq!(out["status"], 200, "{out}");
    let seen: Vec<String> = server.seen().iter().map(|seen| seen.lines().next().unwrap().to_owned()).collect();
    assert_eq!(seen.len(), 4, "{seen:?}");
    let bodies = server.seen();
    let bodies: Vec<&String> = bodies.iter().filter(|seen| seen.contains("/api/x")).collect();
    assert!(bodies.iter().all(|seen| seen.ends_with("{\"a\":1}")), "{bodies:?}");
}

#[test]
fn a_refresh_token_that_the_server_replaces_is_there_for_the_next_process() {
    let server = server(false);
    let oauth2 = "grant = \"refresh_token\"\nclient_auth = \"client_secret_post\"\n";
    let login = "--credential login=client_secret --client login=ringfence --refresh-token login=account";
    let home = granted(&server, oauth2, login);
    for n in 0..3 {
        let out: Value = serde_json::from_str(&fetch(&home, &server).ok()).unwrap();
        assert_eq!(out["status"], 200, "{out}");
        assert!(server.seen().last().unwrap().contains(&format!("Bearer token-number-{n}")));
    }
    assert!(server.seen()[0].contains("client_id=ringfence&client_secret=client%2Bs3cret"), "{}", server.seen()[0]);
    let params = json!({"method": "POST", "url": server.url("/api/x"), "body": {"a": 1}}).to_string();
    let traced = home.traced(&["call", "reach__fetch", &params]);
    assert_eq!(traced.code, 0, "{traced:?}");
    for secret in [CLIENT_SECRET, "token-number-3", "refresh-token-3", "refresh-token-4"] {
        traced.shows_nothing_of(secret);
    }
    // One that is used up: the server says back all that it was sent, and nobody sees it.
    home.fed(&["secret", "rotate", "account"], "refresh-token-0").ok();
    let run = fetch(&home, &server);
    assert!(run.err.contains("invalid_grant") && run.err.contains("ringfence secret rotate"), "{run:?}");
    for text in [&run.out, &run.err] {
        assert!(!text.contains("refresh-token-0") && !text.contains("s3cret"), "{text}");
    }
    assert_eq!(run.code, 6);
}

#[test]
fn an_update_that_asks_for_tokens_elsewhere_or_for_more_gets_none() {
    let server = server(false);
    let login = "--credential login=client_secret --client login=ringfence";
    for (old, new) in
        [("/token", "/other"), ("[\"read\"]", "[]"), ("the-api", "another"), ("client_credentials", "refresh_token")]
    {
        let home = granted(&server, BY_CLIENT, login);
        let more = asks(&server, BY_CLIENT).replace(old, new);
        let newer = home.file("newer.wasm", guests::package_of_version("fetcher", "reach", "1.1.0", &more));
        home.args(&["install", newer.to_str().unwrap(), "--allow-unsigned"]).ok();
        fetch(&home, &server).fails(6, &["needs a login"]);
    }
    // Nor does one that asks for a plain secret get that of the client.
    let home = granted(&server, BY_CLIENT, login);
    let more = asks(&server, BY_CLIENT);
    let plain = more.split("[capabilities.credentials.login.oauth2]").next().unwrap();
    let newer = home.file("newer.wasm", guests::package_of_version("fetcher", "reach", "1.1.0", plain));
    home.args(&["install", newer.to_str().unwrap(), "--allow-unsigned"]).ok();
    fetch(&home, &server).fails(6, &["needs a login"]);
    assert!(server.seen().is_empty(), "{:?}", server.seen());
}

#[test]
fn the_token_endpoint_is_reached_at_granted_addresses_only() {
    let server = server(false);
    let home =
        home("fetcher", &asks(&server, BY_CLIENT).replace(&server.url("/api/**"), "http://192.0.2.1/api/**"), "");
    home.args(&["grant", "reach", "--all", "--address", "192.0.2.1/32"]).ok();
    home.fed(&["secret", "set", "client_secret", "--place", "file"], CLIENT_SECRET).ok();
    home.run("grant reach --credential login=client_secret --client login=ringfence").ok();
    let run = call(&home, "fetch", &json!({"method": "GET", "url": "http://192.0.2.1/api/x"}));
    assert!(run.err.contains("127.0.0.1 is loopback"), "{run:?}");
    assert!(server.seen().is_empty());
}
