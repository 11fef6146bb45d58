//! The tool against answers like those of Brave Search, and against others.

use std::cell::RefCell;
use std::rc::Rc;

use proptest::prelude::*;
use ringfence_sdk::FailureKind;
use ringfence_sdk::http::Response;
use ringfence_sdk::serde_json::{Value, from_str, json};
use ringfence_sdk::testing::{Call, TestHost};

use crate::TOOLS;

const FOUND: &str = include_str!("../answers/search.json");

/// Searches, and gets `answer`. Gives the query that was sent as well.
fn search(args: Value, answer: Response) -> (Call, Option<String>) {
    let asked = Rc::new(RefCell::new(None));
    let log = asked.clone();
    let host = TestHost::new(TOOLS).with_http(move |request| {
        assert_eq!(request.method, "GET");
        assert!(request.headers.iter().all(|header| header.name == "accept"), "{:?}", request.headers);
        let query = request.url.strip_prefix("https://api.search.brave.com/res/v1/web/search?").unwrap();
        assert!(log.replace(Some(query.to_owned())).is_none(), "a second request");
        Ok(answer.clone())
    });
    let call = host.call("search_web", args);
    (call, asked.take())
}

fn refused(status: u16, body: &str) -> Call {
    search(json!({ "query": "x" }), Response::new(status, body)).0
}

#[test]
fn what_was_found_is_told_and_structured() {
    let (call, asked) = search(json!({ "query": "webasembly sandbox" }), Response::new(200, FOUND));
    let query = "q=webasembly%20sandbox&count=10&offset=0&safesearch=moderate&result_filter=web&text_decorations=false";
    assert_eq!(asked.as_deref(), Some(query));
    assert_eq!(
        call.text(),
        "Searched for \"webassembly sandbox\".\n\n\
         1. WebAssembly & its sandbox (October 3, 2026)\nhttps://webassembly.org/docs/security/\n\
         Each module runs in a sandbox; it's separated from the host.\n\n\
         2. No title\nhttps://example.org/\n\n\
         There are more: ask with offset 1."
    );
    let structured: Value = call.structured();
    assert_eq!((&structured["results"][0]["language"], &structured["next_offset"]), (&json!("en"), &json!(1)));
}

#[test]
fn every_argument_is_sent() {
    let args = json!({
        "query": "ä&b", "count": 20, "offset": 9, "country": "de", "freshness": "week", "safesearch": "strict"
    });
    let (call, asked) = search(args, Response::new(200, FOUND));
    let query = "q=%C3%A4%26b&count=20&offset=9&country=DE&freshness=pw&safesearch=strict&";
    assert!(asked.unwrap().starts_with(query));
    // There is no page behind the tenth, whatever the API says.
    assert_eq!(call.structured::<Value>()["next_offset"], Value::Null);
}

#[test]
fn a_query_is_neither_empty_nor_too_long() {
    for query in ["", "  ", &"x".repeat(401), &"x ".repeat(51)] {
        let (call, asked) = search(json!({ "query": query }), Response::new(200, FOUND));
        assert!(call.failure().kind == FailureKind::InvalidParams && asked.is_none(), "{query}");
    }
    assert!(search(json!({ "query": "é".repeat(400) }), Response::new(200, FOUND)).0.outcome.is_ok());
}

#[test]
fn nothing_found_is_no_failure() {
    for body in [r#"{"type": "search", "query": {"original": "x"}}"#, r#"{"query": {}, "web": {"results": []}}"#] {
        assert_eq!(refused(200, body).text(), "Nothing was found.");
    }
}

#[test]
fn a_refusal_says_what_the_caller_can_do() {
    let problem = |code: &str, status: u16| {
        let error = json!({ "id": "1", "status": status, "code": code, "detail": "Because", "meta": {} });
        json!({ "type": "ErrorResponse", "error": error, "time": 1 }).to_string()
    };
    for (status, code, kind, part) in [
        (422, "SUBSCRIPTION_TOKEN_INVALID", FailureKind::AuthRequired, "does not accept the key: Because"),
        (401, "UNAUTHORIZED", FailureKind::AuthRequired, "The operator has to store a valid one"),
        (403, "OPTION_NOT_IN_PLAN", FailureKind::AuthRequired, "does not accept the key: Because"),
        (422, "VALIDATION", FailureKind::InvalidParams, "with these parameters: Because"),
        (429, "RATE_LIMITED", FailureKind::Unavailable, "used up for now: Because"),
        (500, "INTERNAL", FailureKind::Unavailable, "status 500: Because"),
        (404, "NOT_FOUND", FailureKind::NotFound, "status 404: Because"),
    ] {
        let call = refused(status, &problem(code, status));
        assert_eq!(call.failure().kind, kind, "{status} {code}");
        assert!(call.failure().message.contains(part), "{}", call.failure());
    }
    let mistakes = r#"{"error": {"code": "VALIDATION", "detail": "Unable to validate request parameter(s)", "meta":
        {"errors": [{"type": "enum", "loc": ["query", "country"], "msg": "Input should be 'AR'", "input": "XX"}]}}}"#;
    assert!(refused(422, mistakes).failure().message.ends_with("`country`: Input should be 'AR'"));
    let odd = r#"{"error": {"code": "SUBSCRIPTION_TOKEN_INVALID", "meta": {"errors": [{"msg": "Bad", "loc": 7}, 7]}}}"#;
    assert_eq!(refused(422, odd).failure().kind, FailureKind::AuthRequired);
    assert!(refused(422, odd).failure().message.contains("the key: Bad."));
    assert!(refused(503, "<!doctype html>").failure().message.ends_with("status 503: an HTML page"));
}

#[test]
fn a_key_that_is_used_up_says_until_when() {
    let answer = Response::new(429, r#"{"error": {"code": "RATE_LIMITED"}}"#)
        .with_header("X-RateLimit-Remaining", "0, 1200")
        .with_header("X-RateLimit-Reset", "1, 86400");
    let (call, _) = search(json!({ "query": "x" }), answer);
    assert_eq!(
        (call.failure().code.as_ref(), call.failure().retry_after.map(|wait| wait.as_secs())),
        ("rate_limited", Some(1))
    );
}

#[test]
fn odd_answers_are_failures() {
    for body in
        ["", "<html>", "[]", "{}", "null", r#"{"query": {}, "web": 1}"#, r#"{"query": {}, "web": {"results": [{}]}}"#]
    {
        assert_eq!(refused(200, body).failure().code, "http.json", "{body}");
    }
}

#[test]
fn examples_are_calls_that_work() {
    for example in (TOOLS[0].define)().examples {
        let (call, _) = search(from_str(&example.input).unwrap(), Response::new(200, FOUND));
        assert!(call.outcome.is_ok(), "{}", call.failure());
    }
}

proptest! {
    /// Whatever a server says, there is an outcome.
    #[test]
    fn any_answer_has_an_outcome(status in 100u16..600, body in "[\\[\\]{}:,\"a-z0-9.]{0,60}") {
        let _ = refused(status, &body);
    }

    #[test]
    fn any_problem_is_told(code in "[A-Z_]{0,20}", detail in "[^.]{0,40}") {
        let body = json!({ "error": { "code": code, "detail": detail, "meta": { "errors": [] } } }).to_string();
        prop_assert!(refused(400, &body).failure().message.contains(&detail));
    }
}
