//! Keeps secrets out of what crosses the border in the wrong place: out of responses, where a server may send a
//! credential back, and out of requests, where only the host puts one.
//!
//! What is looked for are the values that this host knows, in the spellings that [`spellings`] lists. A value that a
//! server reverses, encrypts, splits over several headers or encodes twice is not found.

mod forms;
mod lookout;
mod redaction;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use aho_corasick::BuildError;
use bytes::Bytes;
use futures::{Stream, StreamExt, stream};
use http::{HeaderMap, HeaderName, HeaderValue};
use ringfence_core::Secret;
use ringfence_core::finish::scrub::spellings;
use thiserror::Error;

use self::forms::Forms;
pub(crate) use self::lookout::Lookout;
use self::redaction::Redaction;
use crate::{MIN_CREDENTIAL, Outgoing};

/// Replaces known values by `[REDACTED:name]`. Immutable and cheap to clone, so one serves all calls at once.
#[derive(Clone)]
pub struct Scanner {
    forms: Arc<Forms>,
    skipped: Vec<String>,
}

/// Why there is no scanner for these secrets.
#[derive(Debug, Error)]
pub enum ScannerError {
    /// There are too many secrets, or they are too long.
    #[error("the secrets are too many or too long to search for: remove those that are not used")]
    TooMany(#[source] BuildError),
}

/// A request that holds a known value where the host did not put one.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "the request was not sent: its {place} holds the value of the secret `{secret}`; leave it out, the host places \
     credentials itself where they are bound"
)]
pub struct Leak {
    /// The name of the secret.
    pub secret: String,
    /// Where in the request.
    pub place: &'static str,
}

impl Scanner {
    /// A scanner for `secrets`: names and values. Those of less than [`MIN_CREDENTIAL`] bytes, white space around them
    /// not counted, would be found by chance everywhere: they are left out, and [`Scanner::skipped`] names them.
    ///
    /// # Errors
    /// All together are too large to search for.
    pub fn new(secrets: &[(String, Secret)]) -> Result<Self, ScannerError> {
        let is_short = |secret: &Secret| secret.expose().trim().len() < MIN_CREDENTIAL;
        let (short, long): (Vec<_>, Vec<_>) = secrets.iter().partition(|(_, secret)| is_short(secret));
        let forms = long.into_iter().map(|(name, secret)| (name.as_str(), spellings(secret)));
        let forms = Arc::new(Forms::new(forms).map_err(ScannerError::TooMany)?);
        Ok(Self { forms, skipped: short.into_iter().map(|(name, _)| name.clone()).collect() })
    }

    /// The names of the secrets that are not looked for.
    pub fn skipped(&self) -> &[String] {
        &self.skipped
    }

    /// `body` with a mark in the place of every known value, across the borders of chunks, and otherwise byte for byte.
    /// Its length may change, so a `Content-Length` no longer holds. Only bytes with which a known value may begin are
    /// held back until the next chunk. After an error of `body` nothing follows, what was held back neither.
    pub fn stream<S, E>(&self, body: S) -> impl Stream<Item = Result<Bytes, E>> + use<S, E>
    where
        S: Stream<Item = Result<Bytes, E>>,
    {
        let open = (Box::pin(body), Redaction::new(self.forms.clone()));
        stream::unfold(Some(open), async |open| {
            let (mut body, mut redaction) = open?;
            loop {
                let clean = match body.next().await {
                    Some(Ok(chunk)) => redaction.feed(chunk),
                    Some(Err(error)) => return Some((Err(error), None)),
                    None => {
                        let rest = redaction.finish();
                        return (!rest.is_empty()).then_some((Ok(rest), None));
                    }
                };
                if !clean.is_empty() {
                    return Some((Ok(clean), Some((body, redaction))));
                }
            }
        })
    }

    /// Puts marks into the values of `headers`. A header whose name holds a known value is left out.
    pub fn headers(&self, headers: &mut HeaderMap) {
        let named: Vec<HeaderName> = headers.keys().filter(|name| self.holds(name).is_some()).cloned().collect();
        for name in named {
            headers.remove(name);
        }
        for value in headers.values_mut() {
            if let Some(clean) = self.redacted(value.as_bytes()) {
                // The parts that stay were allowed in a header, and so are marks.
                *value = HeaderValue::from_bytes(&clean).unwrap_or(HeaderValue::from_static("[REDACTED]"));
            }
        }
    }

    /// Puts marks into `text`.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.redacted(text.as_bytes()) {
            Some(clean) => String::from_utf8_lossy(&clean).into_owned().into(),
            None => text.into(),
        }
    }

    /// Whether `request`, as the guest made it, is free of known values. To be asked before a credential is placed.
    ///
    /// # Errors
    /// [`Leak`] where it is not.
    pub fn outgoing(&self, request: &Outgoing) -> Result<(), Leak> {
        let leak = |place| move |secret: &str| Err(Leak { secret: secret.to_owned(), place });
        let headers = request.headers.iter();
        let in_headers =
            headers.flat_map(|(name, value)| [name.as_ref(), value.as_bytes()]).find_map(|bytes| self.holds(bytes));
        self.holds(request.url.as_str()).map_or(Ok(()), leak("URL"))?;
        in_headers.map_or(Ok(()), leak("headers"))?;
        self.holds(&request.body).map_or(Ok(()), leak("body"))
    }

    /// What looks through a body on its way out, piece by piece.
    pub(crate) fn lookout(&self) -> Lookout {
        Lookout::new(self.forms.clone())
    }

    /// The name of the first known value in `bytes`.
    fn holds(&self, bytes: impl AsRef<[u8]>) -> Option<&str> {
        self.forms.first_after(self.forms.start(), bytes.as_ref()).1
    }

    /// `bytes` with marks; `None` where there is nothing to mark.
    fn redacted(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        self.holds(bytes)?;
        let mut redaction = Redaction::new(self.forms.clone());
        let mut clean = redaction.feed(Bytes::copy_from_slice(bytes)).to_vec();
        clean.extend_from_slice(&redaction.finish());
        Some(clean)
    }
}

/// Shows names only.
impl fmt::Debug for Scanner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scanner").field("forms", &self.forms).field("skipped", &self.skipped).finish()
    }
}
