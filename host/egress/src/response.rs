//! What came back: headers without those that are not for a guest, and a body that arrives as it is read.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use futures::stream::{self, BoxStream};
use futures::{Stream, StreamExt as _, TryStreamExt as _};
use http::header::{CONNECTION, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderName, StatusCode};

use crate::budget::{Clock, Counter};
use crate::client::Arriving;
use crate::error::EgressError;
use crate::scan::Scanner;
use crate::target::Target;

/// Headers that say how the connection works (RFC 9110, 7.6.1).
const OF_CONNECTION: [&str; 9] = [
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authentication-info",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Words in the names of headers that carry keys. A cookie would be a credential in the guest's hands.
const OF_KEYS: [&str; 9] =
    ["auth", "authentication", "authorization", "cookie", "cookie2", "credential", "password", "secret", "token"];

/// A response. Dropping it or its body closes the connection, unless all of it has arrived.
#[derive(Debug)]
pub struct Response {
    /// The status.
    pub status: StatusCode,
    /// The headers, without cookies, keys and those of the connection.
    pub headers: HeaderMap,
    /// How many bytes the body will have, where the server says so and sends them as they are.
    pub length: Option<u64>,
    /// What answered, after all redirects. The guest did not send it, so it is for the operator.
    pub target: Target,
    /// The body.
    pub body: Body,
}

/// A body that arrives as it is read, within the limits of its request. It ends with the first error.
pub struct Body {
    chunks: BoxStream<'static, Result<Bytes, EgressError>>,
    trailers: Trailers,
}

/// The trailers of a body, once its end has arrived. They are treated like headers.
pub(crate) type Trailers = Arc<Mutex<Option<HeaderMap>>>;

impl Body {
    /// Reads `stream` while `clock` runs.
    pub(crate) fn timed(
        stream: BoxStream<'static, Result<Bytes, EgressError>>,
        clock: Clock,
        trailers: Trailers,
    ) -> Self {
        let read = |(mut stream, clock): (BoxStream<'static, Result<Bytes, EgressError>>, Clock)| async move {
            let chunk = clock.within(stream.try_next()).await??;
            Ok(chunk.map(|chunk| (chunk, (stream, clock))))
        };
        Self { chunks: stream::try_unfold((stream, clock), read).boxed(), trailers }
    }

    /// The next piece; `None` at the end.
    ///
    /// # Errors
    /// When the connection breaks or a limit is reached.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, EgressError> {
        self.chunks.try_next().await
    }

    /// What came after the last piece, where something did. The client takes no more than 16 KiB of it.
    pub fn trailers(&mut self) -> Option<HeaderMap> {
        self.trailers.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// All of it.
    ///
    /// # Errors
    /// As [`Body::chunk`].
    pub async fn collect(self) -> Result<Bytes, EgressError> {
        let append = |mut all: BytesMut, chunk: Bytes| async move {
            all.extend_from_slice(&chunk);
            Ok(all)
        };
        self.chunks.try_fold(BytesMut::new(), append).await.map(BytesMut::freeze)
    }
}

impl Stream for Body {
    type Item = Result<Bytes, EgressError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.chunks.poll_next_unpin(context)
    }
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Body(…)")
    }
}

/// The data of `body`, and where its trailers will be, clean of what is not for a guest.
pub(crate) fn arriving(
    body: Arriving,
    scanner: Scanner,
) -> (impl Stream<Item = Result<Bytes, hyper::Error>> + Send, Trailers) {
    let trailers = Trailers::default();
    let place = trailers.clone();
    let data = body.try_filter_map(move |frame| {
        let data = frame.into_data().map_err(|frame| {
            let mut last = frame.into_trailers().unwrap_or_default();
            clean(&mut last);
            scanner.headers(&mut last);
            *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(last);
        });
        std::future::ready(Ok(data.ok()))
    });
    (data, trailers)
}

/// `body` as far as `counter` allows.
pub(crate) fn counted(
    body: impl Stream<Item = Result<Bytes, EgressError>> + Send + 'static,
    mut counter: Counter,
) -> BoxStream<'static, Result<Bytes, EgressError>> {
    body.map(move |chunk| {
        let chunk = chunk?;
        counter.add(chunk.len())?;
        Ok(chunk)
    })
    .boxed()
}

/// Takes away what is not for a guest.
pub(crate) fn clean(headers: &mut HeaderMap) {
    let named: Vec<String> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|name| name.trim().to_ascii_lowercase())
        .collect();
    let dropped: Vec<HeaderName> = headers
        .keys()
        .filter(|name| !is_for_guest(name) || named.iter().any(|of_connection| of_connection == name.as_str()))
        .cloned()
        .collect();
    for name in dropped {
        headers.remove(name);
    }
}

fn is_for_guest(name: &HeaderName) -> bool {
    // The challenge says what is missing and holds no key.
    if name == WWW_AUTHENTICATE {
        return true;
    }
    let text = name.as_str();
    // Whole words: `x-ratelimit-remaining-tokens` is a number.
    let is_key = text.split(['-', '_']).any(|word| OF_KEYS.contains(&word));
    let api_key = text.replace(['-', '_'], "").contains("apikey");
    !(OF_CONNECTION.contains(&text) || is_key || api_key)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn guests_see_no_cookies_keys_or_hops() {
        let dropped = [
            "set-cookie",
            "set-cookie2",
            "connection",
            "x-hop",
            "keep-alive",
            "transfer-encoding",
            "upgrade",
            "x-api-key",
            "x-apikey",
            "x-auth-token",
            "x_csrf_token",
            "authentication-info",
            "proxy-authenticate",
            "x-vault-secret",
        ];
        let kept = [
            "content-type",
            "etag",
            "link",
            "location",
            "www-authenticate",
            "x-ratelimit-remaining-tokens",
            "author",
            "retry-after",
            "x-request-id",
        ];
        let mut headers: HeaderMap = dropped
            .iter()
            .chain(&kept)
            .map(|name| (HeaderName::from_static(name), HeaderValue::from_static("X-Hop, close")))
            .collect();
        clean(&mut headers);
        let mut left: Vec<&str> = headers.keys().map(HeaderName::as_str).collect();
        left.sort_unstable();
        let mut kept = kept.to_vec();
        kept.sort_unstable();
        assert_eq!(left, kept);
    }
}
