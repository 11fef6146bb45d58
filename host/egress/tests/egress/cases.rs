//! Cases from reports of other products: what has to be refused before anything is looked up, and what has to pass.

use http::Method;
use ringfence_egress::{Access, EgressError, Request, Target};

use super::support::door::{access, body, door, get, send};
use super::support::names::Names;
use super::support::server::Server;

fn passes(access: &Access, url: &str) -> bool {
    Target::parse(url).is_ok_and(|target| access.decide(&target, &Method::GET).is_ok())
}

#[test]
fn spellings_do_not_fool_the_rules() {
    let access = access(&["https://api.example.com/**", "https://*.wild.example/**"], &[]);
    for url in [
        "https://api.example.com@evil.test/",
        "https://api.example.com:443@evil.test/",
        "https://user@api.example.com/",
        "https://api.example.com.evil.test/",
        "https://api.example.com%2eevil.test/",
        "https://xapi.example.com/",
        "https://evil.test/?x=api.example.com",
        "https://evil.test/#api.example.com",
        "https://evil.test\\@api.example.com/",
        "http://api.example.com/",
        "https://api.example.com:8443/",
        "ftp://api.example.com/",
        "https://evilwild.example/",
        "https://a.wild.example.evil.test/",
        "https://аpi.example.com/",
        "http://localhost./",
        "http://a.localhost/",
        "http://169.254.169.254./",
        // Either would do if it were written down, and it is: `*` is one label and not none.
        "https://wild.example/",
        "https://a.b.wild.example/",
    ] {
        assert!(!passes(&access, url), "{url}");
    }
    for url in [
        "https://api.example.com/x",
        "https://API.EXAMPLE.COM/x",
        "https://api.example.com:443/x",
        "https://a.wild.example/",
        // Either would do: these are the same host.
        "https://api.example.com./",
        "https://ａpi.example.com/",
    ] {
        assert!(passes(&access, url), "{url}");
    }
}

#[test]
fn special_addresses_are_refused_though_a_rule_names_them() {
    for host in [
        "127.0.0.1",
        "[::1]",
        "169.254.169.254",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.0.1",
        "224.0.0.1",
        "0.0.0.0",
        "0",
        "100.64.0.1",
        "198.18.0.1",
        "[::ffff:127.0.0.1]",
        "[64:ff9b::a00:1]",
        "0x7f000001",
        "2130706433",
        "127.1",
        "0177.0.0.1",
        "127.0.0.1.",
    ] {
        let access = access(&[&format!("http://{host}/**")], &[]);
        let target = Target::parse(&format!("http://{host}/")).unwrap();
        let error = access.decide(&target, &Method::GET).unwrap_err();
        assert!(matches!(error, EgressError::Address(_)), "{host}: {error}");
    }
}

#[tokio::test]
async fn a_name_with_one_private_address_among_others_is_refused() {
    for answer in ["127.0.0.1", "93.184.216.34,10.0.0.1", "169.254.169.254", "::1"] {
        let names = Names::new(&[("a.test", &[answer])]);
        let error = send(&door(&names), get("http://a.test/"), &access(&["http://a.test/**"], &[])).await.unwrap_err();
        assert_eq!(error.code(), "http.address", "{answer}");
    }
}

#[tokio::test]
async fn an_allowed_host_cannot_send_the_request_to_another() {
    let (a, b) = (Server::on("127.0.0.1").await, Server::on("127.0.0.2").await);
    let base = format!("http://127.0.0.1:{}", a.port);
    let (names, access) = (Names::new(&[]), access(&[&format!("{base}/**")], &["127.0.0.0/8"]));
    let other = format!("127.0.0.2:{}", b.port);
    for (method, to, code) in [
        ("GET", format!("302?to=http://{other}/ok"), "http.redirect_denied"),
        ("POST", format!("307?to=http://{other}/ok"), "http.redirect_denied"),
        ("GET", format!("302?to=//{other}/ok"), "http.redirect_denied"),
        ("GET", "302?to=file:///etc/passwd".into(), "http.redirect"),
    ] {
        let request = Request::new(method, &format!("{base}/r/{to}"), [], "x").unwrap();
        let error = send(&door(&names), request, &access).await.unwrap_err();
        assert_eq!(error.code(), code, "{to}");
        let shown = if code == "http.redirect" { "neither https nor http" } else { other.as_str() };
        assert!(error.for_guest().contains(shown), "names what was blocked: {error}");
    }
    assert!(b.seen().is_empty());
    let error = send(&door(&names), get(&format!("{base}/loop")), &access).await.unwrap_err();
    assert_eq!(error.code(), "http.redirect");
    assert_eq!(a.seen().iter().filter(|seen| seen.path == "/loop").count(), 6, "the request and 5 redirects");
    assert_eq!(body(&door(&names), get(&format!("{base}/r/302?to=/ok")), &access).await.unwrap(), "ok");
}

#[tokio::test]
async fn a_guest_sees_no_cookies() {
    let server = Server::on("127.0.0.1").await;
    let base = format!("http://127.0.0.1:{}", server.port);
    let access = access(&[&format!("{base}/**")], &["127.0.0.1/32"]);
    let response = send(&door(&Names::new(&[])), get(&format!("{base}/keys")), &access).await.unwrap();
    let names: Vec<&str> = response.headers.keys().map(http::HeaderName::as_str).collect();
    assert_eq!(names, ["x-kept"]);
}
