//! Every way to fail, as guest and operator read it.

use ringfence_core::grant::{HttpRule, Methods, RuleSet};
use ringfence_core::{LimitKind, LimitSet, Limits, Secret};
use ringfence_egress::{BoundCredential, Budget, CredentialValue, EgressError, Placement, Request};

use super::support::door::{access, access_with, door, get, rule, send};
use super::support::names::Names;
use super::support::server::Server;

/// Both texts name the code's cause; the guest's has nothing of the inside.
fn check(error: &EgressError, code: &str, for_guest: &str, for_operator: &str) {
    let (guest, operator) = (error.for_guest(), error.for_operator("weather"));
    assert_eq!(error.code(), code, "{operator}");
    assert!(guest.contains(for_guest), "{guest}");
    assert!(operator.contains(for_operator), "{operator}");
    for inside in ["10.9.8.7", "s3cret-value", "inner/**"] {
        assert!(!guest.contains(inside), "{guest}");
    }
    assert!(!operator.contains("s3cret-value") && !format!("{error:?}").contains("s3cret-value"), "{operator}");
}

#[tokio::test]
async fn what_was_decided() {
    let names = Names::new(&[("a.test", &["10.9.8.7"]), ("none.test", &[""])]);
    let all =
        access(&["http://**.in.test/inner/**", "http://a.test/**", "http://none.test/**", "http://gone.test/**"], &[]);
    let door = door(&names);
    for (url, code, for_guest, for_operator) in [
        (
            "http://b.other/x?q",
            "http.denied",
            "this tool may not reach GET http://b.other/x: no rule for this host",
            "`weather` may not reach GET http://b.other/x: no rule for this host; to allow it add \
             { url = \"http://b.other/x\", methods = [\"GET\"] }",
        ),
        (
            "http://b.in.test/x",
            "http.denied",
            "no rule for this path",
            "the nearest is number 1: `* http://**.in.test/inner/**`",
        ),
        (
            "http://a.test/",
            "http.address",
            "`a.test` leads to an address that this tool may not reach",
            "`ringfence grant SOURCE --address 10.9.8.7/32` opens it",
        ),
        ("http://none.test/", "http.resolve", "`none.test` has no addresses", "no addresses"),
        (
            "http://gone.test/",
            "http.resolve",
            "`gone.test` could not be resolved",
            "could not be resolved: no such name",
        ),
    ] {
        check(&send(&door, get(url), &all).await.unwrap_err(), code, for_guest, for_operator);
    }
    let literal = send(&door, get("http://10.9.8.7/"), &access(&["http://10.9.8.7/**"], &[])).await.unwrap_err();
    check(&literal, "http.address", "an address that this tool may not reach", "10.9.8.7 is private");
    let request = Request::new("GET", "http://a.test/", [("host", b"x".as_slice())], "").unwrap_err();
    check(&request.into(), "http.request", "`host` is the host's to set", "`host`");
}

#[tokio::test]
async fn what_happened_on_the_way() {
    let server = Server::on("127.0.0.1").await;
    let base = format!("http://127.0.0.1:{}", server.port);
    let closed = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let closed_base = format!("http://127.0.0.1:{}", closed.local_addr().unwrap().port());
    drop(closed);
    let rules = [format!("{base}/**"), format!("{closed_base}/**")];
    let credential = BoundCredential {
        name: "svc".into(),
        value: CredentialValue::Fixed(Secret::new("s3cret-value".into())),
        placement: Placement::Query("key".into()),
        bound_to: vec![RuleSet::new(vec![HttpRule::new(rule(&rules[0]).url, Methods::All)])],
    };
    let other = BoundCredential { bound_to: vec![RuleSet::new(vec![rule(&rules[1])])], ..credential.clone() };
    let rules = || rules.iter().map(|url| rule(url)).collect();
    let without = access_with(rules(), &["127.0.0.1/32"], Vec::new());
    let access = access_with(rules(), &["127.0.0.1/32"], vec![credential, other]);
    let door = door(&Names::new(&[]));
    for (url, code, for_guest, for_operator) in [
        (format!("{closed_base}/"), "http.connect", "could not be connected to", "onnection refused"),
        (format!("{base}/garbage"), "http.transport", "did not answer properly", "HTTP"),
        (format!("{base}/r/302?to=ftp://x/"), "http.redirect", "neither https nor http", "neither https nor http"),
        (
            format!("{base}/r/302?to=http://b.test/?s3cret-value"),
            "http.redirect_denied",
            "redirects to http://b.test,",
            "after a redirect",
        ),
        (format!("{base}/s3cret-value"), "http.leak", "the value of the secret `svc`", "URL"),
        (format!("{base}/coded"), "decode.unknown_encoding", "cannot be decoded", "cannot be decoded"),
        (format!("{base}/?key=own"), "credential.already_set", "`svc` was not placed", "`svc` was not placed"),
    ] {
        // The credential makes a query of its own, which most paths of the test server do not expect.
        let with = matches!(code, "credential.already_set" | "http.connect" | "http.leak");
        let access = if with { &access } else { &without };
        check(&send(&door, get(&url), access).await.unwrap_err(), code, for_guest, for_operator);
    }
    let limits = Limits::effective(&LimitSet::default(), &LimitSet::default().with(LimitKind::HttpRequestBytes, 1));
    let error = door.send(get(&format!("{base}/")), &access, &Budget::new(limits)).await.unwrap_err();
    check(&error, "http.limit", "over its limit of HTTP request", "raise `http_request_bytes`");
}
