//! Requests by the HTTP of WASI: they pass the same door as those of `network.rs`, and their bodies go as they are made.

use std::sync::{Arc, Barrier};

use serde_json::{Value, json};

use super::network::{EXCEEDED, SECRET, asks};
use super::{call, home};
use crate::support::binary::{Home, Run};
use crate::support::server::Server;

/// A home whose tool asks for and is granted `/api/**` at `server`.
fn granted(server: &Server, more: &str, config: &str) -> Home {
    let home = home("wasi_fetcher", &asks(server, more), config);
    home.args(&["grant", "reach", "--all", "--address", "127.0.0.1/32"]).ok();
    home
}

fn run(home: &Home, params: &Value) -> Run {
    call(home, "fetch", params)
}

fn fetch(home: &Home, params: &Value) -> Value {
    run(home, params).json()
}

/// The error code that the guest gets.
fn error(home: &Home, params: &Value) -> String {
    let answer = fetch(home, params);
    answer["error"].as_str().unwrap_or_else(|| panic!("no error: {answer}")).to_owned()
}

#[test]
fn a_request_goes_where_it_was_asked_for_and_granted_and_nowhere_else() {
    let server = Server::echo();
    let home = home("wasi_fetcher", &asks(&server, ""), "");
    let params = json!({"method": "GET", "url": server.url("/api/x")});
    run(&home, &params).fails(6, &["needs to send requests", "`ringfence grant`"]);
    home.args(&["grant", "reach", "--all"]).ok();
    assert_eq!(error(&home, &params), "ErrorCode::DestinationIpProhibited");
    home.args(&["grant", "reach", "--address", "127.0.0.1/32"]).ok();
    assert_eq!(fetch(&home, &params)["status"], 200);
    for (method, path, code) in [
        ("GET", "/apix", "HttpRequestDenied"),
        ("DELETE", "/api/x", "HttpRequestDenied"),
        ("GET", "/api/%2e%2e/other", "HttpRequestUriInvalid"),
        ("get", "/api/x", "HttpRequestMethodInvalid"),
    ] {
        let run = run(&home, &json!({"method": method, "url": server.url(path)}));
        assert!(run.out.contains(code), "{method} {path}: {run:?}");
    }
    // The operator reads why.
    let run = run(&home, &json!({"method": "DELETE", "url": server.url("/api/x")}));
    assert!(run.err.contains("may not reach DELETE") && run.err.contains("to allow it add"), "{run:?}");
    let elsewhere = server.url("/api/x").replace("127.0.0.1", "u:p@127.0.0.1");
    assert_eq!(error(&home, &json!({"method": "GET", "url": elsewhere})), "ErrorCode::HttpRequestUriInvalid");
    assert_eq!(server.begun(), 1, "{:?}", server.seen());
}

#[test]
fn each_limit_of_the_network_ends_the_call() {
    let server = Server::new(|request| {
        if request.contains("/api/slow") {
            std::thread::sleep(std::time::Duration::from_millis(600));
        }
        ("200 OK".into(), vec![b'x'; 1000])
    });
    // A request more than one takes a guest that sends two.
    for (key, value, code) in EXCEEDED.iter().filter(|(key, ..)| *key != "http_requests") {
        let path = if *key == "http_time_ms" { "/api/slow" } else { "/api/x" };
        let params = json!({"method": "GET", "url": server.url(path)});
        let home = granted(&server, "", &format!("[limits]\n{key} = {value}\n"));
        let run = home.args(&["--json", "call", "reach__fetch", &params.to_string()]);
        assert_eq!(run.code, 4, "{key}: {run:?}");
        let error: Value = serde_json::from_str(&run.out).unwrap();
        assert_eq!(error["error"]["code"], *code);
        let of_rule = key.strip_prefix("http_").unwrap();
        let home = granted(&server, &format!("{of_rule} = {value}\n"), "");
        assert_eq!(call(&home, "fetch", &params).code, 4, "{of_rule} of a rule");
        assert_eq!(call(&granted(&server, "", ""), "fetch", &params).code, 0, "{key}");
    }
    let home = granted(&server, "", "[limits]\nhttp_requests = 1\n");
    let params = json!({"method": "GET", "url": server.url("/api/x"), "times": 2});
    assert_eq!(call(&home, "fetch", &params).code, 4);
    assert_eq!(fetch(&granted(&server, "", ""), &params)["status"], 200);
}

#[test]
fn a_body_is_counted_as_it_is_made() {
    let server = Server::echo();
    let home = granted(&server, "", "[limits]\nhttp_request_bytes = 100000\n");
    let body = |size: usize| json!({"method": "POST", "url": server.url("/api/x"), "body": "x".repeat(size)});
    assert_eq!(fetch(&home, &body(90_000))["status"], 200);
    let run = home.args(&["--json", "call", "reach__fetch", &body(110_000).to_string()]);
    assert!(run.code == 4 && run.out.contains("limit.http_request"), "{run:?}");
    assert_eq!(server.seen().len(), 1, "what is too large breaks off");
}

#[test]
fn a_credential_is_placed_and_taken_out_of_what_comes_back() {
    let server = Server::echo();
    for (place, expected) in [
        ("\"bearer\"", "authorization: Bearer s3cret+value/of=38~chars"),
        ("{ json = \"/auth\" }", "\"auth\":\"s3cret+value/of=38~chars\""),
    ] {
        let credential = format!(
            "[capabilities.credentials.token]\nplace = {place}\nrequests = [{{ url = \"{}\", methods = [\"POST\"] }}]\n",
            server.url("/api/**")
        );
        let home = granted(&server, &credential, "");
        let headers = json!([["content-type", "application/json"]]);
        let params = json!({"method": "POST", "url": server.url("/api/x"), "body": "{\"a\":1}", "headers": headers});
        assert!(error(&home, &params).contains("needs the credential `token`"));
        home.fed(&["secret", "set", "service_key", "--place", "file"], &format!("{SECRET}\n")).ok();
        home.args(&["grant", "reach", "--credential", "token=service_key"]).ok();
        let answer = fetch(&home, &params)["body"].take().as_str().unwrap().to_owned();
        let seen = server.seen().pop().unwrap();
        assert!(seen.contains(expected), "{place}: {seen}");
        assert!(answer.contains("[REDACTED:service_key]") && !answer.contains(SECRET), "{answer}");
    }
}

#[test]
fn a_secret_does_not_leave_in_headers_or_body() {
    let server = Server::echo();
    let home = granted(&server, "", "");
    home.fed(&["secret", "set", "other_key", "--place", "file"], SECRET).ok();
    // So that it lies across two pieces.
    let body = format!("{}{SECRET}{}", "x".repeat(4090), "y".repeat(9000));
    for params in [
        json!({"method": "POST", "url": server.url("/api/x"), "body": body}),
        json!({"method": "GET", "url": server.url("/api/x"), "headers": [["x-note", SECRET]]}),
    ] {
        let error = error(&home, &params);
        assert!(error.contains("`other_key`"), "{error}");
    }
    assert!(server.seen().is_empty());
}

#[test]
fn what_only_the_host_sets_is_forbidden() {
    let server = Server::echo();
    let home = granted(&server, "", "");
    for name in ["host", "Authorization", "cookie", "connection", "transfer-encoding", "proxy-authorization", "te"] {
        let params = json!({"method": "GET", "url": server.url("/api/x"), "headers": [[name, "1"]]});
        assert_eq!(error(&home, &params), "HeaderError::Forbidden", "{name}");
    }
    assert_eq!(server.begun(), 0);
}

#[test]
fn a_redirect_is_an_answer_like_any_other() {
    let server = Server::new(|_| ("302 Found\r\nlocation: /api/there".into(), Vec::new()));
    let answer = fetch(&granted(&server, "", ""), &json!({"method": "GET", "url": server.url("/api/x")}));
    assert_eq!(answer["status"], 302);
    assert!(answer["headers"].to_string().contains("/api/there"), "{answer}");
    assert_eq!(server.begun(), 1);
}

#[test]
fn bodies_go_both_ways_as_they_are_made() {
    let server = Server::by_hand(|exchange| {
        exchange.send(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")?;
        while let Some(chunk) = exchange.chunk()? {
            exchange.send(format!("{:x}\r\n", chunk.len()).as_bytes())?;
            exchange.send(&chunk)?;
            exchange.send(b"\r\n")?;
        }
        exchange.send(b"0\r\n\r\n")?;
        Ok(String::new())
    });
    let home = granted(&server, "", "");
    let lines = ["first", "second", "third"];
    let answers = call(&home, "converse", &json!({"url": server.url("/api/x"), "lines": lines})).json();
    assert_eq!(answers, json!(lines));
}

#[test]
fn a_response_is_larger_than_the_guest() {
    let server = Server::new(|_| ("200 OK".into(), vec![b'x'; 9 << 20]));
    let home = granted(&server, "", "[limits]\nmemory_bytes = 4194304\n");
    let answer = fetch(&home, &json!({"method": "GET", "url": server.url("/api/x"), "read": "count"}));
    assert_eq!(answer["body"], 9 << 20);
}

#[test]
fn trailers_arrive_and_are_treated_like_headers() {
    let server = Server::by_hand(|exchange| {
        let request = exchange.whole()?;
        exchange.send(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntrailer: x-sum, set-cookie\r\n\r\n")?;
        exchange.send(format!("2\r\nok\r\n0\r\nx-sum: {SECRET}!\r\nset-cookie: a=b\r\n\r\n").as_bytes())?;
        Ok(request)
    });
    let home = granted(&server, "", "");
    home.fed(&["secret", "set", "other_key", "--place", "file"], SECRET).ok();
    let answer = fetch(&home, &json!({"method": "GET", "url": server.url("/api/x")}));
    assert_eq!((&answer["body"], &answer["trailers"]), (&json!("ok"), &json!([["x-sum", "[REDACTED:other_key]!"]])));
    // The other way they cannot be announced.
    let params = json!({"method": "POST", "url": server.url("/api/x"), "body": "x", "end": "trailers"});
    assert!(error(&home, &params).contains("trailers, which cannot be sent"));
}

#[test]
fn a_body_is_as_long_as_it_says() {
    let server = Server::echo();
    let home = granted(&server, "", "");
    let params = |length: &str| {
        let headers = json!([["content-length", length]]);
        json!({"method": "POST", "url": server.url("/api/x"), "body": "12345", "headers": headers})
    };
    assert_eq!(fetch(&home, &params("5"))["status"], 200);
    let seen = server.seen().pop().unwrap();
    assert!(seen.contains("content-length: 5") && seen.ends_with("12345"), "{seen}");
    for length in ["4", "6"] {
        assert!(error(&home, &params(length)).contains("HttpRequestBodySize"), "{length}");
    }
    assert!(["+5", "-1", "5, 5"].iter().all(|length| error(&home, &params(length)).contains("InvalidSyntax")));
    assert_eq!(server.seen().len(), 1);
}

#[test]
fn a_body_that_is_given_up_is_never_taken_for_the_whole() {
    let server = Server::echo();
    let home = granted(&server, "", "[limits]\nhttp_time_ms = 300\n");
    for (end, code) in [("drop", 0), ("trap", 1), ("hold", 4)] {
        let params = json!({"method": "POST", "url": server.url("/api/x"), "body": "DELETE ALL", "end": end});
        let run = call(&home, "fetch", &params);
        assert_eq!(run.code, code, "{end}: {run:?}");
    }
    assert!(server.seen().is_empty(), "{:?}", server.seen());
}

#[test]
fn the_guest_may_be_less_patient_than_the_host() {
    let server = Server::by_hand(|exchange| {
        let request = exchange.whole()?;
        if request.contains("/api/drip") {
            exchange.send(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nfirst")?;
        }
        std::thread::sleep(std::time::Duration::from_millis(700));
        Ok(request)
    });
    let home = granted(&server, "", "");
    for (path, timeouts) in [("/api/hang", json!([null, 50, null])), ("/api/drip", json!([null, null, 50]))] {
        let params = json!({"method": "GET", "url": server.url(path), "timeouts": timeouts});
        let error = error(&home, &params);
        assert!(error.contains("ConnectionReadTimeout") || error.contains("connection read timeout"), "{path} {error}");
    }
    // And not more.
    let home = granted(&server, "", "[limits]\nhttp_time_ms = 100\n");
    let params = json!({"method": "GET", "url": server.url("/api/hang"), "timeouts": [9000, 9000, 9000]});
    assert_eq!(call(&home, "fetch", &params).code, 4);
}

#[test]
fn a_guest_need_not_read_what_it_asked_for() {
    let server = Server::new(|_| ("200 OK".into(), vec![b'x'; 8 << 20]));
    let home = granted(&server, "", "");
    let answer = fetch(&home, &json!({"method": "GET", "url": server.url("/api/x"), "read": "nothing"}));
    assert_eq!(answer["status"], 200);
}

#[test]
fn requests_at_once_all_go_on_whichever_answer_is_waited_for() {
    for with_body in [json!([]), json!([0]), json!([1]), json!([2])] {
        // Nobody is answered before all have asked.
        let all = Arc::new(Barrier::new(3));
        let server = Server::new(move |_| {
            all.wait();
            ("200 OK".into(), b"ok".to_vec())
        });
        let home = granted(&server, "", "");
        let urls = ["/api/a", "/api/b", "/api/c"].map(|path| server.url(path));
        let answer = call(&home, "fetch_several", &json!({"urls": urls, "with_body": with_body})).json();
        assert_eq!(answer, json!([200, 200, 200]), "{with_body}");
    }
}

#[test]
fn requests_at_once_take_host_resources() {
    let server = Server::echo();
    let home = granted(&server, "", "[limits]\nresources = 3\n");
    let run = home.args(&[
        "--json",
        "call",
        "reach__fetch",
        &json!({"method": "GET", "url": server.url("/api/x")}).to_string(),
    ]);
    assert!(run.code == 4 && run.out.contains("limit.resources"), "{run:?}");
}
