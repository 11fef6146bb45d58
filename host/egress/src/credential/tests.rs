//! Placements, good ones and others.

use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method};
use percent_encoding::percent_decode_str;
use proptest::prelude::*;
use serde_json::Value;

use super::*;

const SECRET: &str = "rf_live_9f+Zq/7Kp~2x=Vd_";

fn request(url: &str) -> Outgoing {
    let url = url.parse().unwrap();
    Outgoing { method: Method::GET, url, headers: HeaderMap::new(), body: Bytes::new() }
}

fn json_request(body: &str) -> Outgoing {
    let mut request = request("https://a.test/");
    request.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json; charset=utf-8"));
    request.body = Bytes::from(body.to_owned());
    request
}

fn placed(placement: &Placement, secret: &str, mut request: Outgoing) -> Result<Outgoing, CredentialError> {
    let before = format!("{request:?}");
    match placement.place("svc", &Secret::new(secret.into()), &mut request) {
        Ok(()) => Ok(request),
        Err(error) => {
            assert_eq!(format!("{request:?}"), before, "a refusal changes nothing");
            let text = format!("{error} {error:?}");
            assert!(text.contains("svc"), "{text}");
            assert!(secret.trim().is_empty() || !text.contains(secret.trim()), "{text}");
            Err(error)
        }
    }
}

#[track_caller]
fn check_refused(placement: &Placement, secret: &str, request: Outgoing, code: &str) {
    assert_eq!(placed(placement, secret, request).unwrap_err().code(), code);
}

fn header(name: &str, prefix: &str) -> Placement {
    Placement::Header { name: name.into(), prefix: prefix.into() }
}

fn basic(username: &str) -> Placement {
    Placement::Basic { username: username.into() }
}

#[derive(Debug, Deserialize, Serialize)]
struct Grant {
    place: Placement,
}

#[test]
fn placements_are_read_as_they_are_written() {
    for (text, placement) in [
        ("place = \"bearer\"", Placement::Bearer),
        ("place = { basic = { username = \"x\" } }", basic("x")),
        ("place = { header = { name = \"X-Api-Key\", prefix = \"Token \" } }", header("X-Api-Key", "Token ")),
        ("place = { header = { name = \"X-Api-Key\" } }", header("X-Api-Key", "")),
        ("place = { query = \"key\" }", Placement::Query("key".into())),
        ("place = { path = \"TOKEN\" }", Placement::Path("TOKEN".into())),
        ("place = { json = \"/auth/key\" }", Placement::Json("/auth/key".into())),
    ] {
        let read: Grant = toml::from_str(text).unwrap();
        assert_eq!(read.place, placement, "{text}");
        let again: Grant = toml::from_str(&toml::to_string(&read).unwrap()).unwrap();
        assert_eq!(again.place, placement, "{text}");
    }
}

#[test]
fn what_cannot_be_placed_is_refused_when_it_is_read() {
    for text in [
        "\"cookie\"",
        "{ basic = {} }",
        "{ basic = { username = \"a:b\" } }",
        "{ basic = { username = \"a\\n\" } }",
        "{ basic = { username = \"a\", password = \"b\" } }",
        "{ header = { name = \"X A\" } }",
        "{ header = { name = \"\" } }",
        "{ header = { name = \"Transfer-Encoding\" } }",
        "{ header = { name = \"host\" } }",
        "{ header = { name = \"X-A\", prefix = \"a\\r\\nX-B: \" } }",
        "{ header = { name = \"X-A\", suffix = \"a\" } }",
        "{ query = \"\" }",
        "{ path = \"\" }",
        "{ path = \"{TOKEN}\" }",
        "{ path = \"A/B\" }",
        "{ json = \"\" }",
        "{ json = \"auth\" }",
        "{ json = \"/a~2\" }",
        "{ json = \"/a~\" }",
    ] {
        assert!(toml::from_str::<Grant>(&format!("place = {text}")).is_err(), "{text}");
    }
}

/// A placement that no file was the source of is checked all the same.
#[test]
fn what_cannot_be_placed_is_not_placed() {
    for placement in [basic("a:b"), header("Host", ""), header("X-A", "\n"), Placement::Path("}".into())] {
        check_refused(&placement, SECRET, request("https://a.test/"), "credential.placement");
    }
}

#[test]
fn headers_carry_the_credential_and_are_sensitive() {
    let pair = "Basic YWdlbnQ6cmZfbGl2ZV85ZitacS83S3B+Mng9VmRf".to_owned();
    for (placement, name, value) in [
        (Placement::Bearer, "authorization", format!("Bearer {SECRET}")),
        (basic("agent"), "authorization", pair),
        (header("X-Api-Key", ""), "x-api-key", SECRET.to_owned()),
        (header("Authorization", "Token "), "authorization", format!("Token {SECRET}")),
    ] {
        // A line break at the end is a slip of whoever stored it.
        for secret in [SECRET.to_owned(), format!("{SECRET}\n"), format!(" {SECRET}\r\n")] {
            let sent = placed(&placement, &secret, request("https://a.test/")).unwrap();
            assert_eq!(sent.headers[name].as_bytes(), value.as_bytes());
            assert!(sent.headers[name].is_sensitive());
            assert!(!format!("{:?}", sent.headers).contains(&value));
        }
    }
}

#[test]
fn no_header_carries_control_characters() {
    for secret in
        ["rf_live_in\nner", "rf_live_in\rner", "rf_live_in\r\nX-Injected: 1", "rf_live\0_inner", "rf_live\t12"]
    {
        for placement in [Placement::Bearer, basic("agent"), header("X-Api-Key", "")] {
            check_refused(&placement, secret, request("https://a.test/"), "credential.control_character");
        }
    }
}

/// A server that takes the bytes of a header for Latin-1, and writes them as UTF-8, sends back another text.
#[test]
fn no_header_carries_a_credential_that_comes_back_as_another_text() {
    for secret in ["rf_live_p\u{e4}ssword", "\u{5d0}rf_live_password"] {
        for placement in [Placement::Bearer, header("X-Api-Key", "")] {
            check_refused(&placement, secret, request("https://a.test/"), "credential.not_ascii");
            assert_eq!(placement.fits("svc", &Secret::new(secret.into())).unwrap_err().code(), "credential.not_ascii");
        }
        let sent = placed(&basic("agent"), secret, request("https://a.test/")).unwrap();
        assert!(sent.headers[AUTHORIZATION].to_str().is_ok());
    }
}

#[test]
fn short_credentials_are_refused() {
    for secret in ["", "1234567", "1234567 \n", "   1   \t\n   "] {
        check_refused(&Placement::Bearer, secret, request("https://a.test/"), "credential.too_short");
    }
    assert!(placed(&Placement::Bearer, "12345678", request("https://a.test/")).is_ok());
}

#[test]
fn what_the_request_sets_itself_is_not_overwritten() {
    let mut own = request("https://a.test/p?a=1&k%65y=mine");
    own.headers.insert(AUTHORIZATION, HeaderValue::from_static("Bearer caller"));
    own.headers.insert("x-api-key", HeaderValue::from_static("caller"));
    for placement in [Placement::Bearer, basic("agent"), header("X-API-KEY", ""), Placement::Query("key".into())] {
        check_refused(&placement, SECRET, own.clone(), "credential.already_set");
    }
    for body in [r#"{"key":"mine"}"#, r#"{"key":null}"#, r#"{"\u006bey":1}"#] {
        check_refused(&Placement::Json("/key".into()), SECRET, json_request(body), "credential.already_set");
    }
}

#[test]
fn the_query_keeps_what_it_had() {
    for (url, expected) in [
        ("https://a.test/p", "key=rf_live_9f%2BZq%2F7Kp~2x%3DVd_"),
        ("https://a.test/p?", "key=rf_live_9f%2BZq%2F7Kp~2x%3DVd_"),
        ("https://a.test/p?q=a+b%20c&x", "q=a+b%20c&x&key=rf_live_9f%2BZq%2F7Kp~2x%3DVd_"),
    ] {
        let sent = placed(&Placement::Query("key".into()), SECRET, request(url)).unwrap();
        assert_eq!(sent.url.query(), Some(expected));
    }
    let sent = placed(&Placement::Query("a&b".into()), SECRET, request("https://a.test/")).unwrap();
    assert_eq!(sent.url.query_pairs().next().unwrap(), ("a&b".into(), SECRET.into()));
}

#[test]
fn the_placeholder_stands_once_in_the_path() {
    let path = Placement::Path("TOKEN".into());
    let sent = placed(&path, SECRET, request("https://a.test/bot{TOKEN}/ok?x={TOKEN}")).unwrap();
    assert_eq!(sent.url.as_str(), "https://a.test/botrf_live_9f%2BZq%2F7Kp~2x%3DVd_/ok?x={TOKEN}");
    for url in
        ["https://a.test/", "https://a.test/TOKEN", "https://a.test/{TOKEN}/{TOKEN}", "https://a.test/?x={TOKEN}"]
    {
        check_refused(&path, SECRET, request(url), "credential.placeholder");
    }
}

#[test]
fn the_json_body_keeps_every_other_byte() {
    for (body, pointer, expected) in [
        ("{}", "/key", r#"{"key":"a\"b\\c\nd-12345"}"#),
        (" { \"n\" : 1.0e400 }\n", "/key", " {\"key\":\"a\\\"b\\\\c\\nd-12345\", \"n\" : 1.0e400 }\n"),
        (r#"{"auth":{ }, "b":[ ]}"#, "/auth/key", r#"{"auth":{"key":"a\"b\\c\nd-12345" }, "b":[ ]}"#),
        (r#"{"l":[0,{"a/b":{}}]}"#, "/l/1/a~1b/~0", r#"{"l":[0,{"a/b":{"~":"a\"b\\c\nd-12345"}}]}"#),
    ] {
        let sent = placed(&Placement::Json(pointer.into()), "a\"b\\c\nd-12345", json_request(body)).unwrap();
        assert_eq!(std::str::from_utf8(&sent.body).unwrap(), expected);
    }
}

#[test]
fn a_json_body_has_to_have_a_place_for_it() {
    for (body, pointer) in [
        ("{}", "/auth/key"),
        ("[]", "/0"),
        ("[{}]", "/01/key"),
        ("[{}]", "/+0/key"),
        ("[{}]", "/-/key"),
        ("1", "/key"),
        (r#"{"auth":"text"}"#, "/auth/key"),
    ] {
        check_refused(&Placement::Json(pointer.into()), SECRET, json_request(body), "credential.no_parent");
    }
    for body in ["", "{", "{} {}", "{\"a\":1,}", "key=1"] {
        check_refused(&Placement::Json("/key".into()), SECRET, json_request(body), "credential.not_json");
    }
    for types in [&["text/plain"][..], &[], &["application/json", "text/plain"], &["application/jsonp"], &["+json"]] {
        let mut request = json_request("{}");
        request.headers.remove(CONTENT_TYPE);
        for one in types {
            request.headers.append(CONTENT_TYPE, HeaderValue::from_static(one));
        }
        check_refused(&Placement::Json("/key".into()), SECRET, request, "credential.content_type");
    }
    let mut request = json_request("{}");
    request.headers.insert(CONTENT_TYPE, HeaderValue::from_static("Application/Vnd.Api+JSON"));
    assert!(placed(&Placement::Json("/key".into()), SECRET, request).is_ok());
}

#[test]
fn guests_set_neither_credentials_nor_the_connection_nor_another_method() {
    for name in [
        "Authorization",
        "Proxy-Authorization",
        "Cookie",
        "Host",
        "Content-Length",
        "Connection",
        "Keep-Alive",
        "Proxy-Connection",
        "TE",
        "Trailer",
        "Transfer-Encoding",
        "Upgrade",
        "HTTP2-Settings",
        "X-HTTP-Method-Override",
        "X-Original-URL",
    ] {
        assert!(is_forbidden_header(&HeaderName::try_from(name).unwrap()), "{name}");
    }
    for name in ["Accept", "Content-Type", "X-Api-Key", "Range", "User-Agent", "Authorization-X"] {
        assert!(!is_forbidden_header(&HeaderName::try_from(name).unwrap()), "{name}");
    }
}

#[test]
fn a_credential_goes_into_no_header_that_the_host_sets() {
    for name in ["Accept-Encoding", "range", "If-Range", "Host", "Connection"] {
        let placement = Placement::Header { name: name.into(), prefix: String::new() };
        assert_eq!(placement.check(), Err(PlacementError::HostHeader(name.into())));
    }
}

#[test]
fn what_would_let_an_answer_pass_the_scan_is_withheld() {
    let mut request = request("https://a.test/");
    for (name, value) in
        [("range", "bytes=0-3"), ("if-range", "\"x\""), ("accept-encoding", "compress"), ("accept", "text/html")]
    {
        request.headers.append(name, HeaderValue::from_static(value));
    }
    request.headers.append(ACCEPT_ENCODING, HeaderValue::from_static("exi"));
    withhold(&mut request);
    assert_eq!(request.headers.len(), 2);
    assert_eq!(request.headers["accept"], "text/html");
    assert_eq!(request.headers[ACCEPT_ENCODING], "gzip, deflate, br, zstd, identity");
}

/// Values of all kinds, those that mean something in a URL above all.
fn values() -> impl Strategy<Value = String> {
    let value = prop_oneof!["[ -~äß€]{8,40}", "([./?#%&=+;\\\\@:]|%2e|%2F|\\.\\.){8,20}", "\\PC{8,20}"];
    value.prop_filter("long enough", |value| value.trim().len() >= MIN_CREDENTIAL)
}

proptest! {
    #[test]
    fn a_value_in_the_url_stays_one_value(secret in values()) {
        let before = request("https://u@a.test:8443/a/x{T}y/../b/{T}?q=1#f");
        let sent = placed(&Placement::Path("T".into()), &secret, before.clone()).unwrap();
        let segments: Vec<&str> = sent.url.path_segments().unwrap().collect();
        prop_assert_eq!(segments.len(), 3);
        prop_assert_eq!(percent_decode_str(segments[2]).decode_utf8().unwrap(), secret.trim());
        let mut undone = sent.url.clone();
        undone.set_path(before.url.path());
        prop_assert_eq!(undone, before.url.clone());

        let sent = placed(&Placement::Query("k".into()), &secret, before.clone()).unwrap();
        let pairs: Vec<_> = sent.url.query_pairs().collect();
        prop_assert_eq!(&pairs[..], &[("q".into(), "1".into()), ("k".into(), secret.trim().into())]);
        let mut undone = sent.url.clone();
        undone.set_query(before.url.query());
        prop_assert_eq!(undone, before.url);
    }

    #[test]
    fn a_value_in_json_stays_one_value(secret in values(), other in "\\PC{0,9}") {
        let body = serde_json::json!({"other": other, "auth": {"a": [1]}});
        let sent = placed(&Placement::Json("/auth/k".into()), &secret, json_request(&body.to_string())).unwrap();
        let mut value: Value = serde_json::from_slice(&sent.body).unwrap();
        let key = value["auth"].as_object_mut().unwrap().remove("k").unwrap();
        prop_assert_eq!(key, secret.trim());
        prop_assert_eq!(value, body);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,20}", secret in "\\PC{0,20}") {
        let request = json_request(&text);
        for placement in [
            header(&text, &text), basic(&text), Placement::Query(text.clone()), Placement::Path(text.clone()),
            Placement::Json(format!("/{text}")),
        ] {
            let placeable = placement.check().is_ok() && secret.trim().len() >= MIN_CREDENTIAL;
            let sent = placement.place("svc", &Secret::new(secret.clone()), &mut request.clone());
            prop_assert!(placeable || sent.is_err());
        }
    }
}
