//! A request as whoever asks for it makes it, and as it stands after each redirect.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use thiserror::Error;

use crate::credential::is_forbidden_header;
use crate::outgoing::Outgoing;
use crate::target::{Target, TargetError};

/// A request without credentials. Nothing in it speaks for the host: what only the host may set is refused.
#[derive(Clone, Debug)]
pub struct Request {
    pub(crate) method: Method,
    pub(crate) target: Target,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// Why there can be no such request. Repeats names, never values.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RequestError {
    /// Not a method, or one that does not ask a resource for anything.
    #[error("the method `{}` cannot be used: use one such as GET or POST, in capitals, of at most 32", .0.escape_debug())]
    Method(String),
    /// Not a URL that can be sent.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// Not a header name. A line break in it would begin another header.
    #[error("`{}` is not the name of a header: use letters, digits and hyphens", .0.escape_debug())]
    HeaderName(String),
    /// Not a header value. A line break in it would begin another header.
    #[error("the value of the header `{0}` has a line break or another control character in it: leave it out")]
    HeaderValue(HeaderName),
    /// More headers than a request can have.
    #[error("the request has too many headers: leave some out")]
    TooManyHeaders,
    /// A header that only the host sets.
    #[error("the header `{0}` is the host's to set: leave it out")]
    ForbiddenHeader(HeaderName),
}

impl Request {
    /// A request for `url`.
    ///
    /// # Errors
    /// [`RequestError`].
    pub fn new<'a>(
        method: &str,
        url: &str,
        headers: impl IntoIterator<Item = (&'a str, &'a [u8])>,
        body: impl Into<Bytes>,
    ) -> Result<Self, RequestError> {
        let method = usable_method(method).ok_or_else(|| RequestError::Method(method.chars().take(20).collect()))?;
        let target = Target::parse(url)?;
        let mut checked = HeaderMap::new();
        for (name, value) in headers {
            let (name, value) = usable_header(name, value)?;
            checked.try_append(name, value).map_err(|_| RequestError::TooManyHeaders)?;
        }
        Ok(Self { method, target, headers: checked, body: body.into() })
    }

    /// The method.
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// Where to.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// The headers.
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// Bytes of method, URL, headers and body.
    pub(crate) fn size(&self) -> u64 {
        (self.method.as_str().len()
            + self.target.url().as_str().len()
            + size_of_headers(&self.headers)
            + self.body.len()) as u64
    }

    /// The request as it will be sent, still without credentials.
    pub(crate) fn to_outgoing(&self) -> Outgoing {
        Outgoing {
            method: self.method.clone(),
            url: self.target.url().clone(),
            headers: self.headers.clone(),
            body: self.body.clone(),
        }
    }
}

/// Bytes of names and values.
pub(crate) fn size_of_headers(headers: &HeaderMap) -> usize {
    headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum()
}

/// The longest method, in bytes. Those that IANA has registered have at most 17; a longer one would be a place to hide
/// something in.
const MAX_METHOD: usize = 32;

fn usable_method(text: &str) -> Option<Method> {
    match Method::from_bytes(text.as_bytes()).ok()? {
        // One makes a tunnel of the connection, the other sends credentials back in the body (RFC 9110, 9.3.6, 9.3.8).
        Method::CONNECT | Method::TRACE => None,
        // `get` would be another method than GET: rules and servers could differ on it.
        method => {
            let plain = text.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'-');
            (plain && text.len() <= MAX_METHOD).then_some(method)
        }
    }
}

fn usable_header(name: &str, value: &[u8]) -> Result<(HeaderName, HeaderValue), RequestError> {
    let name = HeaderName::try_from(name).map_err(|_| RequestError::HeaderName(name.chars().take(64).collect()))?;
    let value = HeaderValue::from_bytes(value).map_err(|_| RequestError::HeaderValue(name.clone()))?;
    if is_forbidden_header(&name) { Err(RequestError::ForbiddenHeader(name)) } else { Ok((name, value)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(method: &str, name: &str, value: &[u8]) -> Result<Request, RequestError> {
        Request::new(method, "https://x.com/", [(name, value)], "")
    }

    #[test]
    fn line_breaks_make_no_headers() {
        let error = request("GET", "X-A", b"1\r\nX-Injected: 1").unwrap_err();
        assert_eq!(error, RequestError::HeaderValue("x-a".parse().unwrap()));
        let error = request("GET", "X-B\r\nX-Injected", b"1").unwrap_err();
        assert_eq!(error, RequestError::HeaderName("X-B\r\nX-Injected".into()));
        assert!(!error.to_string().contains('\n'), "{error}");
    }

    #[test]
    fn what_only_the_host_sets_is_refused() {
        for name in ["Host", "Authorization", "Cookie", "Proxy-Authorization", "Content-Length", "Transfer-Encoding"] {
            let refused = request("GET", name, b"1").unwrap_err();
            assert_eq!(refused, RequestError::ForbiddenHeader(name.to_lowercase().parse().unwrap()));
        }
        assert!(request("GET", "X-Trace-Id", b"1").is_ok());
    }

    #[test]
    fn methods_are_in_capitals_and_ask_for_something() {
        for method in ["GET", "POST", "PROPFIND", "M-SEARCH"] {
            assert!(request(method, "a", b"1").is_ok(), "{method}");
        }
        assert!(request(&"A".repeat(MAX_METHOD), "a", b"1").is_ok());
        let long = "A".repeat(MAX_METHOD + 1);
        for method in ["get", "CONNECT", "TRACE", "", "GET /", "GET\r\n", long.as_str()] {
            assert!(matches!(request(method, "a", b"1"), Err(RequestError::Method(_))), "{method}");
        }
    }
}
