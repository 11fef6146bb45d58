//! What a redirect makes of a request (RFC 9110, 15.4). Pure: whether the next request may be sent is decided anew.

use bytes::Bytes;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, ACCEPT_LANGUAGE, CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_TYPE, LOCATION,
};
use http::header::{TRANSFER_ENCODING, USER_AGENT};
use http::{HeaderMap, HeaderName, Method, StatusCode};
use ringfence_core::grant::Scheme;
use thiserror::Error;

use crate::request::Request;
use crate::target::TargetError;

/// How many redirects are followed.
pub const MAX_REDIRECTS: usize = 5;

/// What another origin may see of the headers. All others could be keys, whatever they are called.
const SAFE_ELSEWHERE: [HeaderName; 7] =
    [ACCEPT, ACCEPT_ENCODING, ACCEPT_LANGUAGE, USER_AGENT, CONTENT_TYPE, CONTENT_ENCODING, CONTENT_LANGUAGE];

/// Why a redirect is not followed. Shows nothing of where it leads: that text is the server's, and it may hold a
/// credential which the server was sent.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RedirectError {
    /// Too many.
    #[error("the server redirects more than {MAX_REDIRECTS} times: ask for the final URL")]
    TooMany,
    /// More than one `Location`: a proxy and we could follow different ones.
    #[error("the server redirects to several places at once")]
    Ambiguous,
    /// Not text.
    #[error("the server redirects to something that is not text")]
    NotText,
    /// Not a URL that can be sent.
    #[error("the server redirects to something that cannot be used: {}", without_text(.0))]
    Target(TargetError),
    /// What was sent under TLS would go on in the clear.
    #[error("the server redirects from https to http, where everybody can read along")]
    Downgrade,
}

/// What is wrong with it, without the scheme.
fn without_text(error: &TargetError) -> String {
    match error {
        TargetError::Scheme(_) => "its scheme is neither https nor http".into(),
        other => other.to_string(),
    }
}

/// The request that `status` and `headers`, which answer `request`, ask for next. `None` when they ask for none.
///
/// 307 and 308 keep method and body. 303 makes it a GET, except that HEAD stays; 301 and 302 do so with POST. What
/// describes the body goes with the body. On another origin only a few harmless headers stay; credentials are not part
/// of `request` at all, so they cannot follow.
///
/// # Errors
/// [`RedirectError`].
pub fn follow(request: &Request, status: StatusCode, headers: &HeaderMap) -> Result<Option<Request>, RedirectError> {
    if !matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let mut locations = headers.get_all(LOCATION).iter();
    let Some(location) = locations.next() else { return Ok(None) };
    if locations.next().is_some() {
        return Err(RedirectError::Ambiguous);
    }
    let location = std::str::from_utf8(location.as_bytes()).map_err(|_| RedirectError::NotText)?;
    let target = request.target.join(location).map_err(RedirectError::Target)?;
    if request.target.seen().scheme() == Scheme::Https && target.seen().scheme() == Scheme::Http {
        return Err(RedirectError::Downgrade);
    }
    let mut next = Request { target, ..request.clone() };
    if becomes_get(&request.method, status) {
        next.method = Method::GET;
        drop_body(&mut next);
    }
    if !next.target.seen().same_origin(request.target.seen()) {
        retain(&mut next.headers, |name| SAFE_ELSEWHERE.contains(name));
    }
    Ok(Some(next))
}

fn becomes_get(method: &Method, status: StatusCode) -> bool {
    match status {
        StatusCode::SEE_OTHER => method != Method::HEAD && method != Method::GET,
        StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND => method == Method::POST,
        _ => false,
    }
}

fn drop_body(request: &mut Request) {
    request.body = Bytes::new();
    let of_body = |name: &HeaderName| {
        let text = name.as_str();
        text.starts_with("content-") || text.ends_with("digest") || name == TRANSFER_ENCODING
    };
    retain(&mut request.headers, |name| !of_body(name));
}

fn retain(headers: &mut HeaderMap, keep: impl Fn(&HeaderName) -> bool) {
    let dropped: Vec<HeaderName> = headers.keys().filter(|name| !keep(name)).cloned().collect();
    for name in dropped {
        headers.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;
    use crate::target::Target;

    /// A request with everything that a guest, or a door that is less strict than ours, could put into it.
    fn request(method: &str, url: &str) -> Request {
        let headers = [
            ("authorization", "Bearer caller"),
            ("cookie", "a=b"),
            ("private-token", "caller"),
            ("x-trace-id", "t1"),
            ("accept", "*/*"),
            ("content-type", "text/plain"),
            ("content-md5", "x"),
            ("repr-digest", "x"),
        ];
        let headers = headers.map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_static(value)));
        Request {
            method: method.parse().unwrap(),
            target: Target::parse(url).unwrap(),
            headers: headers.into_iter().collect(),
            body: "x".into(),
        }
    }

    fn redirected(request: &Request, status: u16, location: &str) -> Result<Option<Request>, RedirectError> {
        let headers = HeaderMap::from_iter([(LOCATION, HeaderValue::from_str(location).unwrap())]);
        follow(request, StatusCode::from_u16(status).unwrap(), &headers)
    }

    #[test]
    fn method_and_body() {
        for (status, method, expected, keeps_body) in [
            (301, "POST", "GET", false),
            (302, "POST", "GET", false),
            (303, "POST", "GET", false),
            (307, "POST", "POST", true),
            (308, "POST", "POST", true),
            (301, "PUT", "PUT", true),
            (302, "DELETE", "DELETE", true),
            (303, "PUT", "GET", false),
            (303, "HEAD", "HEAD", true),
            (302, "HEAD", "HEAD", true),
            (301, "GET", "GET", true),
            (307, "GET", "GET", true),
        ] {
            let next = redirected(&request(method, "https://a.test/"), status, "/b").unwrap().unwrap();
            assert_eq!((next.method.as_str(), !next.body.is_empty()), (expected, keeps_body), "{status} {method}");
            for name in ["content-type", "content-md5", "repr-digest"] {
                assert_eq!(next.headers.contains_key(name), keeps_body, "{status} {method} {name}");
            }
            assert!(next.headers.contains_key("private-token"), "the same origin");
        }
    }

    #[test]
    fn another_origin_sees_no_key_whatever_it_is_called() {
        for location in ["https://b.test/", "https://a.test:444/", "https://sub.a.test/", "//b.test/"] {
            for status in [301, 302, 303, 307, 308] {
                let next = redirected(&request("POST", "https://a.test/"), status, location).unwrap().unwrap();
                for name in ["authorization", "cookie", "private-token", "x-trace-id"] {
                    assert!(!next.headers.contains_key(name), "{status} {location} {name}");
                }
                assert!(next.headers.contains_key("accept"));
                // And they are not there again on the way back.
                let back = redirected(&next, status, "https://a.test/").unwrap().unwrap();
                assert!(!back.headers.contains_key("private-token"));
            }
        }
        let next = redirected(&request("GET", "http://a.test/"), 301, "https://a.test/").unwrap().unwrap();
        assert!(!next.headers.contains_key("private-token"), "another scheme is another origin");
    }

    #[test]
    fn what_is_not_followed() {
        let request = request("GET", "https://a.test/");
        for status in [200, 201, 300, 304, 305, 306, 401, 500] {
            assert!(redirected(&request, status, "/b").unwrap().is_none(), "{status}");
        }
        assert!(follow(&request, StatusCode::FOUND, &HeaderMap::new()).unwrap().is_none());
        assert_eq!(redirected(&request, 302, "http://a.test/").unwrap_err(), RedirectError::Downgrade);
        let scheme = TargetError::Scheme("file".into());
        assert_eq!(redirected(&request, 302, "file:///etc/passwd").unwrap_err(), RedirectError::Target(scheme));
        assert!(matches!(redirected(&request, 302, "/%2e%2e/b"), Err(RedirectError::Target(_))));
        let two = ["/a", "/b"].map(|place| (LOCATION, HeaderValue::from_static(place)));
        let error = follow(
            &request,
            StatusCode::FOUND,
            &two.into_iter().collect::<Vec<_>>().into_iter().fold(HeaderMap::new(), |mut headers, (name, value)| {
                headers.append(name, value);
                headers
            }),
        );
        assert_eq!(error.unwrap_err(), RedirectError::Ambiguous);
        let odd = HeaderMap::from_iter([(LOCATION, HeaderValue::from_bytes(b"/\xff").unwrap())]);
        assert_eq!(follow(&request, StatusCode::FOUND, &odd).unwrap_err(), RedirectError::NotText);
    }

    #[test]
    fn fragments_stay_here() {
        let next = redirected(&request("GET", "https://a.test/x#y"), 302, "z#w").unwrap().unwrap();
        assert_eq!(next.target.url().as_str(), "https://a.test/z");
    }
}
