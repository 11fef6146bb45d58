//! A request on its way out.

use bytes::Bytes;
use http::{HeaderMap, Method};
use url::Url;

/// A request as it will be sent. Its URL was parsed once; that parse is what rules see and what is sent.
#[derive(Clone, Debug)]
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
