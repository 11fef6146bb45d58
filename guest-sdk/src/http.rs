//! HTTP requests. The host sends them, as far as the operator granted it, and places credentials into them.
//!
//! ```no_run
//! # use ringfence_sdk::prelude::*;
//! # #[derive(Deserialize)] struct Weather { temperature: f64 }
//! # fn temperature() -> Result<f64, Failure> {
//! let weather: Weather = http::get("https://api.example.org/weather?city=Oslo").send()?.success()?.json()?;
//! # Ok(weather.temperature)
//! # }
//! ```

use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Failure;
use crate::bindings::ringfence::tool::http as wire;

pub use wire::ErrorKind;

/// As much of an answer's text as a failure shows.
const SHOWN: usize = 500;

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

impl Request {
    /// Begins a request with any method, in capitals.
    pub fn new(method: impl Into<String>, url: impl Into<String>) -> Self {
        let (method, url) = (method.into(), url.into());
        Self(wire::Request { method, url, headers: Vec::new(), body: None, timeout_ms: None })
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
    /// It was not allowed, or there was no answer. The failure's code is `http.` and what happened.
    pub fn send(self) -> Result<Response, Failure> {
        let answer = crate::host::send(&self.0).map_err(failure)?;
        let headers = answer.headers.into_iter().map(|header| (header.name, header.value)).collect();
        Ok(Response { status: answer.status, headers, body: answer.body })
    }
}

impl Response {
    /// This answer, where its status says that the request succeeded.
    ///
    /// # Errors
    /// Any other status, with the beginning of what the server said.
    pub fn success(self) -> Result<Self, Failure> {
        if (200..300).contains(&self.status) {
            return Ok(self);
        }
        let text = String::from_utf8_lossy(&self.body);
        let shown = text.get(..text.floor_char_boundary(SHOWN)).unwrap_or_default();
        let message = format!("The server answered with status {}: {shown}", self.status);
        let failure = match self.status {
            401 | 403 => Failure::auth_required(message),
            404 | 410 => Failure::not_found(message),
            429 | 500.. => Failure::unavailable(message),
            _ => Failure::failed(message),
        };
        let wait = self.header("retry-after").and_then(|seconds| seconds.parse().ok()).map(Duration::from_secs);
        let failure = failure.with_code(format!("http.status_{}", self.status));
        Err(wait.map_or(failure.clone(), |wait| failure.with_retry_after(wait)))
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
            Failure::failed(format!("The server's answer is not what was expected: {error}")).with_code("http.json")
        })
    }
}

fn failure(error: wire::Error) -> Failure {
    let (make, code): (fn(String) -> Failure, _) = match error.kind {
        ErrorKind::Denied => (Failure::failed, "http.denied"),
        ErrorKind::Invalid => (Failure::failed, "http.invalid"),
        ErrorKind::AuthRequired => (Failure::auth_required, "http.auth_required"),
        ErrorKind::Unreachable => (Failure::unavailable, "http.unreachable"),
        ErrorKind::TimedOut => (Failure::unavailable, "http.timed_out"),
    };
    make(error.message).with_code(code)
}
