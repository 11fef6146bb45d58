//! Credentials go where they are bound to, at every hop anew, and nowhere else.

use ringfence_core::Secret;
use ringfence_core::grant::{HttpRule, Methods, RuleSet};
use ringfence_egress::{BoundCredential, CredentialValue, EgressError, Placement, Request};

use super::support::door::{access, access_with, door, get, rule, send};
use super::support::names::Names;
use super::support::server::Server;

const VALUE: &str = "rf_live_9f+Zq/7Kp~2x=Vd_";

fn bound(placement: Placement, value: &str, bound_to: HttpRule) -> Vec<BoundCredential> {
    vec![BoundCredential {
        name: "svc".into(),
        value: CredentialValue::Fixed(Secret::new(value.into())),
        placement,
        bound_to: vec![RuleSet::new(vec![bound_to])],
    }]
}

fn api_key() -> Placement {
    Placement::Header { name: "x-api-key".into(), prefix: String::new() }
}

#[tokio::test]
async fn a_redirect_to_another_host_gets_no_key_of_any_kind() {
    let (a, b) = (Server::on("127.0.0.1").await, Server::on("127.0.0.2").await);
    let (at_a, at_b) = (format!("http://127.0.0.1:{}", a.port), format!("http://127.0.0.2:{}", b.port));
    let rules = [format!("{at_a}/**"), format!("{at_b}/**")];
    let credentials = bound(api_key(), VALUE, rule(&format!("{at_a}/**")));
    let access = access_with(rules.iter().map(|url| rule(url)).collect(), &["127.0.0.0/8"], credentials);
    let door = door(&Names::new(&[]));
    for status in [301, 302, 303, 307, 308] {
        let headers: [(&str, &[u8]); 2] = [("Private-Token", b"caller"), ("X-Trace-Id", b"t1")];
        let request = Request::new("POST", &format!("{at_a}/r/{status}?to={at_b}/ok"), headers, "x").unwrap();
        send(&door, request, &access).await.unwrap();
    }
    assert_eq!(b.seen().len(), 5);
    for seen in b.seen() {
        for name in ["x-api-key", "authorization", "cookie", "private-token"] {
            assert_eq!(seen.header(name), None, "{name}");
        }
    }
    assert_eq!(a.seen().len(), 5);
    assert!(a.seen().iter().all(|seen| seen.header("x-api-key") == Some(VALUE)));
    // A redirect that stays is a request like the first.
    send(&door, get(&format!("{at_a}/r/302?to=/ok")), &access).await.unwrap();
    assert_eq!(a.seen().last().unwrap().header("x-api-key"), Some(VALUE));
}

#[tokio::test]
async fn path_and_method_bind_a_credential_too() {
    let server = Server::on("127.0.0.1").await;
    let base = format!("http://127.0.0.1:{}", server.port);
    let bound_to = HttpRule { methods: Methods::default(), ..rule(&format!("{base}/v1/**")) };
    let credentials = bound(api_key(), VALUE, bound_to);
    let access = access_with(vec![rule(&format!("{base}/**"))], &["127.0.0.1/32"], credentials);
    let door = door(&Names::new(&[]));
    for (method, path, placed) in [
        ("GET", "/v1/a", true),
        ("HEAD", "/v1", true),
        ("POST", "/v1/a", false),
        ("GET", "/v1x", false),
        ("GET", "/v2", false),
        ("GET", "/r/302?to=/v1/b", false),
    ] {
        let before = server.seen().len();
        let request = Request::new(method, &format!("{base}{path}"), [], "").unwrap();
        send(&door, request, &access).await.unwrap();
        assert_eq!(server.seen()[before].header("x-api-key").is_some(), placed, "{method} {path}");
    }
    // The last redirect led to where it is bound.
    assert_eq!(server.seen().last().unwrap().header("x-api-key"), Some(VALUE));
}

#[tokio::test]
async fn a_credential_lets_nothing_pass_that_no_rule_does() {
    let base = "http://a.test";
    let access = access_with(Vec::new(), &[], bound(api_key(), VALUE, rule(&format!("{base}/**"))));
    let error = send(&door(&Names::new(&[])), get(&format!("{base}/")), &access).await.unwrap_err();
    assert_eq!(error.code(), "http.denied");
}

#[tokio::test]
async fn line_breaks_around_a_value_are_cut_and_inside_it_refused() {
    let server = Server::on("127.0.0.1").await;
    let base = format!("http://127.0.0.1:{}", server.port);
    let all = || rule(&format!("{base}/**"));
    let with = |value: &str| access_with(vec![all()], &["127.0.0.1/32"], bound(Placement::Bearer, value, all()));
    let door = door(&Names::new(&[]));
    send(&door, get(&format!("{base}/ok")), &with(&format!("{VALUE}\n"))).await.unwrap();
    assert_eq!(server.seen()[0].header("authorization"), Some(format!("Bearer {VALUE}").as_str()));
    let error = send(&door, get(&format!("{base}/ok")), &with("rf_live_in\nner")).await.unwrap_err();
    for text in [error.for_guest(), error.for_operator("x"), format!("{error:?}")] {
        assert!(text.contains("svc") && !text.contains("rf_live_in"), "{text}");
    }
    assert_eq!(server.seen().len(), 1, "nothing was sent");
}

#[tokio::test]
async fn where_secrets_are_known_nothing_arrives_in_pieces() {
    let server = Server::on("127.0.0.1").await;
    let base = format!("http://127.0.0.1:{}", server.port);
    let plain = access(&[&format!("{base}/**")], &["127.0.0.1/32"]);
    let all = || rule(&format!("{base}/**"));
    let secret = access_with(vec![all()], &["127.0.0.1/32"], bound(api_key(), VALUE, all()));
    // Not only where it is placed: any server may have it in a file.
    let elsewhere = access_with(vec![all()], &["127.0.0.1/32"], bound(api_key(), VALUE, rule("https://else.test/**")));
    let door = door(&Names::new(&[]));
    for (access, range, encoding) in
        [(&plain, Some("bytes=0-3"), "identity"), (&secret, None, "gzip"), (&elsewhere, None, "gzip")]
    {
        let headers: [(&str, &[u8]); 2] = [("range", b"bytes=0-3"), ("accept-encoding", b"compress")];
        let request = Request::new("GET", &format!("{base}/ok"), headers, "").unwrap();
        send(&door, request, access).await.unwrap();
        let seen = server.seen().last().unwrap().clone();
        assert_eq!(seen.header("range"), range);
        assert!(seen.header("accept-encoding").unwrap().contains(encoding), "only what can be decoded is asked for");
    }
}

#[tokio::test]
async fn a_credential_that_is_sent_back_does_not_arrive() {
    let server = Server::on("127.0.0.1").await;
    let base = format!("http://127.0.0.1:{}", server.port);
    let all = || rule(&format!("{base}/**"));
    let access = access_with(vec![all()], &["127.0.0.1/32"], bound(api_key(), VALUE, all()));
    let door = door(&Names::new(&[]));
    let response = send(&door, get(&format!("{base}/echo")), &access).await.unwrap();
    assert_eq!(response.headers.get("x-echo").unwrap(), "[REDACTED:svc]");
    assert_eq!(response.body.collect().await.unwrap(), "[REDACTED:svc]");
    assert_eq!(server.seen()[0].header("x-api-key"), Some(VALUE));
}

#[tokio::test]
async fn a_redirect_carries_no_credential_away_in_its_url() {
    let (a, b) = (Server::on("127.0.0.1").await, Server::on("127.0.0.2").await);
    let (at_a, at_b) = (format!("http://127.0.0.1:{}", a.port), format!("http://127.0.0.2:{}", b.port));
    let rules = [format!("{at_a}/**"), format!("{at_b}/**")];
    let credentials = bound(api_key(), "rf_live_plain_value", rule(&rules[0]));
    let access = access_with(rules.iter().map(|url| rule(url)).collect(), &["127.0.0.0/8"], credentials);
    let url = format!("{at_a}/r/302?to={at_b}/KEY");
    let error = send(&door(&Names::new(&[])), get(&url), &access).await.unwrap_err();
    assert_eq!(error.code(), "http.leak");
    assert!(matches!(error, EgressError::AfterRedirect(_)), "a request was sent");
    assert!(b.seen().is_empty());
}

#[tokio::test]
async fn a_redirect_shows_a_credential_to_nobody_wherever_it_leads() {
    // In small letters and in both: the host of a URL is put into small ones, and then it is another text.
    for value in ["rf-live-plain-value", "Rf-Live-Plain-Value"] {
        let server = Server::on("127.0.0.1").await;
        let base = format!("http://127.0.0.1:{}", server.port);
        let all = || rule(&format!("{base}/**"));
        let access = access_with(vec![all()], &["127.0.0.1/32"], bound(api_key(), value, all()));
        let names = Names::new(&[]);
        for (location, code) in [
            ("http://new.test/botKEY/getMe", "http.leak"),
            ("/ok%23KEY", "http.leak"),
            ("http://KEY.x.test/", "http.leak"),
            ("http://HEX.x.test/", "http.leak"),
            ("http://HEX:0/", "http.redirect"),
            ("KEY:x", "http.redirect"),
        ] {
            let url = format!("{base}/r/301?to={location}");
            let error = send(&door(&names), get(&url), &access).await.unwrap_err();
            assert_eq!(error.code(), code, "{location}: {error}");
            let hex: String = value.bytes().map(|byte| format!("{byte:02x}")).collect();
            for text in [error.for_guest(), error.for_operator("x")] {
                let text = text.to_lowercase();
                assert!(!text.contains(&value.to_lowercase()) && !text.contains(&hex), "{location}: {text}");
            }
        }
        assert_eq!(server.seen().len(), 6);
        assert!(names.asked().is_empty(), "{:?}", names.asked());
    }
}
