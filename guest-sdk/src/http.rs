//! HTTP requests. The host sends them, as far as the operator granted it, and places credentials into them.
//!
//! ```no_run
//! # use ringfence_sdk::prelude::*;
//! # #[derive(Deserialize)] struct Weather { temperature: f64 }
//! # fn temperature() -> Result<f64, Failure> {
//! let request = http::get("https://api.example.org/weather").query("city", "São Paulo");
//! let weather: Weather = request.send()?.success()?.json()?;
//! # Ok(weather.temperature)
//! # }
//! ```
//!
//! What comes from outside into a URL is encoded: a parameter by [`Request::query`], a part of the path by [`encode`].

use std::fmt::Display;
use std::time::Duration;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::error::Category;

use crate::Failure;
use crate::bindings::ringfence::tool::http as wire;

pub use wire::ErrorKind;

/// As much of an answer's text as a failure shows.
const SHOWN: usize = 500;

/// What stands for itself everywhere in a URL (RFC 3986, section 2.3); all else is encoded.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A request that is being put together.
#[derive(Clone, Debug)]
#[must_use = "a request does nothing until it is sent"]
pub struct Request(wire::Request);

/// An answer, whatever its status.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    /// The status (RFC 9110, section 15).
    pub status: u16,
    /// The headers, as far as a guest may see them.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The body, decoded.
    pub body: Vec<u8>,
}

/// Begins a `GET`.
pub fn get(url: impl Into<String>) -> Request {
    Request::new("GET", url)
}

/// Begins a `POST`.
pub fn post(url: impl Into<String>) -> Request {
    Request::new("POST", url)
}

/// `text` as one segment of a path, or any other part of a URL: `a/b c` becomes `a%2Fb%20c`.
///
/// `.` and `..` stay as they are and mean what they mean in a path: a tool refuses them, and whatever else its server
/// has no use for.
pub fn encode(text: &str) -> String {
    utf8_percent_encode(text, ENCODED).to_string()
}

impl Request {
    /// Begins a request with any method, in capitals.
    pub fn new(method: impl Into<String>, url: impl Into<String>) -> Self {
        let (method, url) = (method.into(), url.into());
        Self(wire::Request { method, url, headers: Vec::new(), body: None, timeout_ms: None })
    }

    /// Adds a parameter to the query.
    pub fn query(mut self, name: &str, value: impl Display) -> Self {
        let separator = if self.0.url.contains('?') { '&' } else { '?' };
        self.0.url.push(separator);
        self.0.url.push_str(&encode(name));
        self.0.url.push('=');
        self.0.url.push_str(&encode(&value.to_string()));
        self
    }

    /// Adds a parameter to the query where there is a value for it.
    pub fn optional_query(self, name: &str, value: Option<impl Display>) -> Self {
        match value {
            Some(value) => self.query(name, value),
            None => self,
        }
    }

    /// Adds a header. Credentials are not for a tool to add: the manifest asks for them, and the host places them.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<Vec<u8>>) -> Self {
        self.0.headers.push(wire::Header { name: name.into(), value: value.into() });
        self
    }

    /// Sets the body.
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.0.body = Some(body.into());
        self
    }

    /// Sets the body to `value` as JSON, and the header that says so.
    ///
    /// # Errors
    /// `value` has no form in JSON.
    pub fn json(self, value: &impl Serialize) -> Result<Self, Failure> {
        let body = serde_json::to_vec(value).map_err(Failure::failed)?;
        Ok(self.header("content-type", "application/json").body(body))
    }

    /// Gives up after `time`, or sooner where the operator allows less.
    pub fn timeout(mut self, time: Duration) -> Self {
        self.0.timeout_ms = Some(u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
        self
    }

    /// Sends it and waits for the answer, behind redirects where there are any.
    ///
    /// # Errors
    /// It was not allowed, or there was no answer. The failure's code is `http.` and what happened, and its message
    /// warns where a request that changes something may have done so all the same.
    pub fn send(self) -> Result<Response, Failure> {
        let answer = crate::host::send(&self.0).map_err(|error| failure(error, &self.0.method))?;
        let headers = answer.headers.into_iter().map(|header| (header.name, header.value)).collect();
        Ok(Response { status: answer.status, headers, body: answer.body })
    }
}

impl Response {
    /// An answer, for a [test host](crate::testing) to give.
    pub fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self { status, headers: Vec::new(), body: body.into() }
    }

    /// Adds a header.
    #[must_use]
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<Vec<u8>>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// This answer, where its status says that the request succeeded.
    ///
    /// # Errors
    /// Any other status, with the beginning of what the server said.
    pub fn success(self) -> Result<Self, Failure> {
        if self.is_success() {
            return Ok(self);
        }
        Err(self.failure(format!("The server answered with status {}: {}", self.status, self.excerpt())))
    }

    /// Whether its status says that the request succeeded.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The failure that this status means, in the tool's own words: its code is `http.status_` and the status, and it
    /// says when to try again where the server does.
    pub fn failure(&self, message: impl Display) -> Failure {
        let failure = match self.status {
            401 | 403 => Failure::auth_required(message),
            404 | 410 => Failure::not_found(message),
            429 | 500.. => Failure::unavailable(message),
            _ => Failure::failed(message),
        };
        let failure = failure.with_code(format!("http.status_{}", self.status));
        match self.retry_after() {
            Some(wait) => failure.with_retry_after(wait),
            None => failure,
        }
    }

    /// What the server says in `retry-after`, where it says it in seconds (RFC 9110, section 10.2.3).
    pub fn retry_after(&self) -> Option<Duration> {
        self.header("retry-after")?.trim().parse().ok().map(Duration::from_secs)
    }

    /// The beginning of the body, for a failure. A page for browsers says little to a model at any length.
    pub fn excerpt(&self) -> String {
        let text = String::from_utf8_lossy(&self.body);
        let text = text.trim();
        match text.get(..text.floor_char_boundary(SHOWN)).unwrap_or_default() {
            "" => "nothing".to_owned(),
            shown if shown.starts_with("<!") || shown.starts_with("<html") => "an HTML page".to_owned(),
            shown => shown.to_owned(),
        }
    }

    /// The first header of this name that is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        let (_, value) = self.headers.iter().find(|(header, _)| header.eq_ignore_ascii_case(name))?;
        std::str::from_utf8(value).ok()
    }

    /// The body as text. Bytes that are not UTF-8 become `U+FFFD`.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON.
    ///
    /// # Errors
    /// It is none, or has another form.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        serde_json::from_slice(&self.body).map_err(|error| {
            let message = match error.classify() {
                Category::Data => format!("The server's answer is not what was expected: {error}."),
                _ => format!("The server's answer is not JSON ({error}). It is: {}", self.excerpt()),
            };
            Failure::failed(message).with_code("http.json")
        })
    }
}

fn failure(error: wire::Error, method: &str) -> Failure {
    let (make, code): (fn(String) -> Failure, _) = match error.kind {
        ErrorKind::Denied => (Failure::failed, "http.denied"),
        ErrorKind::Invalid => (Failure::failed, "http.invalid"),
        ErrorKind::AuthRequired => (Failure::auth_required, "http.auth_required"),
        ErrorKind::Unreachable => (Failure::unavailable, "http.unreachable"),
        ErrorKind::TimedOut => (Failure::unavailable, "http.timed_out"),
    };
    let message = match (error.sent, method) {
        // These change nothing (RFC 9110, section 9.2.1).
        (false, _) | (_, "GET" | "HEAD" | "OPTIONS") => error.message,
        _ => format!("{}; the server may have done it all the same, so look before you try again", error.message),
    };
    make(message).with_code(code)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::FailureKind;

    #[test]
    fn a_query_is_encoded() {
        let Request(request) = get("https://x.test/a")
            .query("q", "a b&c=d#é+%")
            .optional_query("page", Some(2))
            .optional_query("none", None::<u8>);
        assert_eq!(request.url, "https://x.test/a?q=a%20b%26c%3Dd%23%C3%A9%2B%25&page=2");
        assert_eq!(get("https://x.test/?a=1").query("b[]", "").0.url, "https://x.test/?a=1&b%5B%5D=");
    }

    #[test]
    fn a_segment_stays_one() {
        assert_eq!(encode("a/b c?d#e~f"), "a%2Fb%20c%3Fd%23e~f");
        assert_eq!(encode("v1.2_3-é"), "v1.2_3-%C3%A9");
    }

    #[test]
    fn a_status_says_what_the_caller_can_do() {
        for (status, kind) in [
            (400, FailureKind::Failed),
            (401, FailureKind::AuthRequired),
            (403, FailureKind::AuthRequired),
            (404, FailureKind::NotFound),
            (410, FailureKind::NotFound),
            (422, FailureKind::Failed),
            (429, FailureKind::Unavailable),
            (500, FailureKind::Unavailable),
            (503, FailureKind::Unavailable),
        ] {
            let failure = Response::new(status, "no").success().unwrap_err();
            assert_eq!((failure.kind, failure.code), (kind, format!("http.status_{status}").into()));
            assert_eq!(failure.message, format!("The server answered with status {status}: no"));
            assert_eq!(failure.retry_after, None);
        }
        assert!(Response::new(204, "").success().is_ok() && Response::new(304, "").success().is_err());
    }

    #[test]
    fn the_server_says_when_to_try_again() {
        let wait = |value: &str| Response::new(429, "").with_header("Retry-After", value).failure("x").retry_after;
        assert_eq!(wait(" 7 "), Some(Duration::from_secs(7)));
        for other in ["", "-1", "1.5", "Wed, 21 Oct 2015 07:28:00 GMT", "99999999999999999999999"] {
            assert_eq!(wait(other), None, "{other}");
        }
    }

    #[test]
    fn an_excerpt_is_short_and_no_page() {
        assert_eq!(Response::new(502, " <!DOCTYPE html><p>Bad gateway").excerpt(), "an HTML page");
        assert_eq!(Response::new(502, "\n").excerpt(), "nothing");
        assert_eq!(Response::new(502, "é".repeat(SHOWN)).excerpt(), "é".repeat(SHOWN / 2));
    }

    #[test]
    fn json_that_is_none_or_another_is_told_apart() {
        let read = |body: &str| Response::new(200, body).json::<Vec<u8>>().map_err(|failure| failure.message);
        assert_eq!(read("[1]"), Ok(vec![1]));
        let other = read("{}").unwrap_err();
        assert!(other.starts_with("The server's answer is not what was expected: invalid type: map"), "{other}");
        let page = read("<html>").unwrap_err();
        assert!(page.contains("is not JSON") && page.ends_with("It is: an HTML page"), "{page}");
        assert!(read("[1").unwrap_err().ends_with("It is: [1"));
    }

    #[test]
    fn what_may_have_been_done_is_said() {
        let told = |method, sent| {
            failure(wire::Error { kind: ErrorKind::TimedOut, message: "No answer".into(), sent }, method).message
        };
        assert_eq!(told("GET", true), "No answer");
        assert_eq!(told("POST", false), "No answer");
        assert!(told("POST", true).starts_with("No answer; the server may have done it"));
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded_to_the_same(name in ".{0,20}", value in ".{0,40}") {
            let url = get("https://x.test/").query(&name, &value).0.url;
            let (_, query) = url.split_once('?').unwrap();
            let (one, other) = query.split_once('=').unwrap();
            let decode = |text: &str| percent_encoding::percent_decode_str(text).decode_utf8().unwrap().into_owned();
            prop_assert_eq!((decode(one), decode(other)), (name, value));
            prop_assert!(url.bytes().all(|byte| byte.is_ascii_graphic()), "{}", url);
        }

        #[test]
        fn any_answer_is_read_or_refused(status: u16, body in prop::collection::vec(any::<u8>(), 0..1500)) {
            let answer = Response::new(status, body);
            let _: Result<Value, _> = answer.json();
            prop_assert!(answer.excerpt().len() <= SHOWN);
            prop_assert_eq!(answer.clone().success().is_ok(), answer.is_success());
        }
    }

    #[test]
    fn a_body_is_json_and_says_so() {
        let Request(request) = post("https://x.test/").json(&json!({"a": 1})).unwrap();
        assert_eq!(request.body.as_deref(), Some(&b"{\"a\":1}"[..]));
        assert_eq!(
            (request.headers[0].name.as_str(), &request.headers[0].value[..]),
            ("content-type", &b"application/json"[..])
        );
    }
}
