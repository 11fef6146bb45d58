//! The tool of `web-search` against a server like Brave Search's.

use serde_json::{Value, json};

use super::{Answer, FORMS, SECRET, call, grant, header, installed, keeps_the_secret, store, structured};
use crate::support::authority::Authority;
use crate::support::binary::Home;
use crate::support::server::Server;

const FOUND: &str = include_str!("../../tools-wasm/web-search/answers/search.json");

/// Answers as Brave Search does: to a key that it does not know with 422.
fn brave(request: &str) -> Answer {
    if header(request, "x-subscription-token") != Some(SECRET) {
        return problem(
            "422 Unprocessable Entity",
            "SUBSCRIPTION_TOKEN_INVALID",
            "The provided subscription token is invalid.",
        );
    }
    let line = request.lines().next().unwrap();
    let rest = "safesearch=moderate&result_filter=web&text_decorations=false HTTP/1.1";
    if line == format!("GET /res/v1/web/search?q=webasembly%20sandbox&count=10&offset=0&{rest}") {
        return super::json("200 OK", FOUND);
    }
    if line == format!("GET /res/v1/web/search?q=news&count=5&offset=1&country=DE&freshness=pw&{rest}") {
        return super::json("200 OK", FOUND);
    }
    if line.contains("q=echo&") {
        let found =
            |form: &&str| json!({"url": format!("https://example.org/{form}"), "title": form, "description": form});
        let results: Vec<Value> = FORMS.iter().map(found).collect();
        return super::json("200 OK", json!({"query": {"altered": SECRET}, "web": {"results": results}}).to_string());
    }
    if line.contains("q=often&") {
        let (head, body) = problem("429 Too Many Requests", "RATE_LIMITED", "Request rate limit exceeded for plan.");
        return (format!("{head}\r\nx-ratelimit-remaining: 0, 1200\r\nx-ratelimit-reset: 1, 86400"), body);
    }
    problem("422 Unprocessable Entity", "VALIDATION", line)
}

fn problem(status: &str, code: &str, detail: &str) -> Answer {
    let error =
        json!({"id": "1", "status": 422, "code": code, "detail": detail, "meta": {"component": "subscriptions"}});
    super::json(status, json!({"type": "ErrorResponse", "error": error, "time": 1_796_032_800}).to_string())
}

/// The server, and a home whose tool reaches it with the key.
fn service() -> (Server, Home) {
    let authority = Authority::new();
    let server = Server::tls(authority.identity("api.search.brave.com"), brave);
    let home = installed("web-search", &authority, &[("api.search.brave.com", &server)]);
    store(&home, "brave_key");
    grant(&home, "web-search");
    (server, home)
}

#[test]
fn a_search_finds_pages() {
    let (server, home) = service();
    let text = call(&home, "web-search__search_web", &json!({"query": "webasembly sandbox"})).ok();
    assert!(text.starts_with("Searched for \"webassembly sandbox\".\n\n1. WebAssembly & its sandbox"), "{text}");
    let narrowed = json!({"query": "news", "count": 5, "offset": 1, "country": "de", "freshness": "week"});
    let found = structured(&home, "web-search__search_web", &narrowed);
    assert_eq!((&found["results"][0]["language"], &found["next_offset"]), (&json!("en"), &json!(2)));
    assert!(server.seen().iter().all(|request| header(request, "accept") == Some("application/json")));
}

#[test]
fn the_key_is_never_in_a_guests_hands() {
    let (server, home) = service();
    let found = structured(&home, "web-search__search_web", &json!({"query": "echo"}));
    assert_eq!(header(&server.seen()[0], "x-subscription-token"), Some(SECRET));
    assert_eq!(found["results"].as_array().unwrap().len(), FORMS.len());
    assert_eq!(found["corrected_query"], "[REDACTED:brave_key]");
    let run = call(&home, "web-search__search_web", &json!({"query": "echo"}));
    keeps_the_secret(&run);
    assert!(run.ok().contains("[REDACTED:brave_key]"));
}

#[test]
fn what_brave_search_refuses_is_told_with_what_to_do() {
    let (_server, home) = service();
    call(&home, "web-search__search_web", &json!({"query": "often"}))
        .fails(6, &["used up for now: Request rate limit"]);
    call(&home, "web-search__search_web", &json!({"query": "other"})).fails(2, &["with these parameters: GET /res/v1"]);
    for params in
        [json!({"query": ""}), json!({"query": "x", "country": "Germany"}), json!({"query": "x", "count": 21})]
    {
        call(&home, "web-search__search_web", &params).fails(2, &["not valid"]);
    }
    home.fed(&["secret", "rotate", "brave_key"], "another-key-of-the-operator\n").ok();
    let run = call(&home, "web-search__search_web", &json!({"query": "often"}));
    run.fails(6, &["needs a login", "does not accept the key: The provided subscription token is invalid."]);
}
