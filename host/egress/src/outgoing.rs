//! A request on its way out.

use std::fmt;

use bytes::Bytes;
use http::{HeaderMap, Method};
use url::Url;

/// A request as it will be sent. Its URL was parsed once; that parse is what rules see and what is sent.
#[derive(Clone)]
pub struct Outgoing {
    /// The method.
    pub method: Method,
    /// Where to.
    pub url: Url,
    /// The headers, without those that belong to the connection.
    pub headers: HeaderMap,
    /// The body; empty where there is none.
    pub body: Bytes,
}

/// Without what a credential may stand in: the URL beyond its origin, the headers' values, the body.
impl fmt::Debug for Outgoing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outgoing")
            .field("method", &self.method)
            .field("origin", &self.url.origin().ascii_serialization())
            .field("body", &self.body.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_no_place_where_a_credential_may_be() {
        let mut headers = HeaderMap::new();
        headers.insert("x-key", "hunter2".parse().unwrap());
        let url = "https://x.example/hunter2?key=hunter2".parse().unwrap();
        let outgoing = Outgoing { method: Method::POST, url, headers, body: Bytes::from_static(b"hunter2") };
        let shown = format!("{outgoing:?}");
        assert!(shown.contains("https://x.example") && !shown.contains("hunter2"), "{shown}");
    }
}
