//! Every status, to every kind of place: what the place sees, or that it sees nothing.

use ringfence_egress::{EgressError, Request, ResolveError};

use super::support::door::{access, body, door, send};
use super::support::names::Names;
use super::support::server::{Seen, Server};

const STATUSES: [u16; 5] = [301, 302, 303, 307, 308];

fn post(url: &str) -> Request {
    let headers: [(&str, &[u8]); 4] = [
        ("private-token", b"caller"),
        ("x-trace-id", b"t1"),
        ("accept", b"text/plain"),
        ("content-type", b"text/plain"),
    ];
    Request::new("POST", url, headers, "payload").unwrap()
}

/// What RFC 9110 15.4 says of method and body.
fn assert_method_and_body(status: u16, seen: &Seen) {
    let (method, body, content_type) = match status {
        301..=303 => ("GET", "", None),
        _ => ("POST", "payload", Some("text/plain")),
    };
    assert_eq!((seen.method.as_str(), seen.body.as_str()), (method, body), "{status}");
    assert_eq!(seen.header("content-type"), content_type, "{status}");
    assert_eq!(seen.header("accept"), Some("text/plain"), "{status}");
}

#[tokio::test]
async fn on_the_same_host_the_guests_headers_stay() {
    let (a, names) = (Server::on("127.0.0.1").await, Names::new(&[("a.test", &["127.0.0.1"])]));
    let rules = format!("http://a.test:{}/**", a.port);
    for status in STATUSES {
        let url = format!("http://a.test:{}/r/{status}?to=/ok", a.port);
        assert_eq!(body(&door(&names), post(&url), &access(&[&rules], &["127.0.0.1/32"])).await.unwrap(), "ok");
        let last = a.seen().last().unwrap().clone();
        assert_eq!(last.path, "/ok");
        assert_method_and_body(status, &last);
        assert_eq!(last.header("private-token"), Some("caller"), "{status}");
    }
    assert_eq!(a.seen().len(), 10);
}

#[tokio::test]
async fn on_another_allowed_host_they_do_not() {
    let (a, b) = (Server::on("127.0.0.1").await, Server::on("127.0.0.1").await);
    let names = Names::new(&[("a.test", &["127.0.0.1"]), ("b.test", &["127.0.0.1"])]);
    let rules = [format!("http://a.test:{}/**", a.port), format!("http://b.test:{}/ok", b.port)];
    let access = access(&[&rules[0], &rules[1]], &["127.0.0.1/32"]);
    for status in STATUSES {
        let url = format!("http://a.test:{}/r/{status}?to=http://b.test:{}/ok", a.port, b.port);
        let response = send(&door(&names), post(&url), &access).await.unwrap();
        assert_eq!(response.target.url().host_str(), Some("b.test"));
        let last = b.seen().last().unwrap().clone();
        assert_method_and_body(status, &last);
        for name in ["private-token", "x-trace-id", "referer"] {
            assert_eq!(last.header(name), None, "{status} {name}");
        }
        assert_eq!(last.header("host"), Some(format!("b.test:{}", b.port).as_str()));
    }
    assert_eq!(b.seen().len(), 5);
}

#[tokio::test]
async fn a_host_that_is_not_allowed_sees_nothing() {
    let (a, b) = (Server::on("127.0.0.1").await, Server::on("127.0.0.1").await);
    let names = Names::new(&[("a.test", &["127.0.0.1"]), ("b.test", &["127.0.0.1"])]);
    let rules = [format!("http://a.test:{}/**", a.port), format!("http://b.test:{}/only", b.port)];
    let access = access(&[&rules[0], &rules[1]], &["127.0.0.1/32"]);
    for status in STATUSES {
        for host in ["b.test", "evil.test", "127.0.0.1"] {
            let url = format!("http://a.test:{}/r/{status}?to=http://{host}:{}/ok", a.port, b.port);
            let error = send(&door(&names), post(&url), &access).await.unwrap_err();
            assert!(matches!(error, EgressError::RedirectDenied(_)), "{status} {host}: {error}");
            assert!(error.for_guest().contains(host), "{error}");
        }
    }
    assert!(b.seen().is_empty());
    assert!(names.asked().iter().all(|name| name == "a.test"), "not even its name is looked up");
}

#[tokio::test]
async fn an_address_that_is_not_granted_sees_nothing() {
    let (a, b) = (Server::on("127.0.0.1").await, Server::on("127.0.0.2").await);
    let names = Names::new(&[("a.test", &["127.0.0.1"]), ("b.test", &["127.0.0.2"])]);
    let rules = [
        format!("http://a.test:{}/**", a.port),
        format!("http://b.test:{}/**", b.port),
        format!("http://127.0.0.2:{}/**", b.port),
    ];
    let access = access(&[&rules[0], &rules[1], &rules[2]], &["127.0.0.1/32"]);
    for status in STATUSES {
        let to = |host: &str| format!("http://a.test:{}/r/{status}?to=http://{host}:{}/ok", a.port, b.port);
        let error = send(&door(&names), post(&to("b.test")), &access).await.unwrap_err();
        let EgressError::AfterRedirect(cause) = error else { panic!("{status}: {error}") };
        assert!(matches!(*cause, EgressError::Resolve(ResolveError::Refused { .. })), "{status}: {cause}");
        let error = send(&door(&names), post(&to("127.0.0.2")), &access).await.unwrap_err();
        let EgressError::AfterRedirect(cause) = error else { panic!("{status}: {error}") };
        assert!(matches!(*cause, EgressError::Address(_)), "{status}: {cause}");
    }
    assert!(b.seen().is_empty());
}
