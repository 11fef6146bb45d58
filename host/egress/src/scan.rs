//! Keeps secrets out of what crosses the border in the wrong place: out of responses, where a server may send a
//! credential back, and out of requests, where only the host puts one.
//!
//! What is looked for are the values that this host knows, in the spellings that [`spellings`] lists, and credentials
//! of other people that their form gives away. A value that a server reverses, encrypts, splits over several headers or
//! encodes twice is not found.
//!
//! In a response both are replaced. A request that holds one is not sent: with a mark in it, it would mean something
//! else than whoever made it wrote, and nobody would be told.

mod forms;
mod heads;
mod living;
mod long_forms;
mod lookout;
mod redaction;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use aho_corasick::BuildError;
use bytes::Bytes;
use futures::{FutureExt as _, Stream, StreamExt, stream};
use http::header::LOCATION;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use ringfence_core::Secret;
use ringfence_core::finish::scrub::{FormsInStream, known_form, spellings};
use thiserror::Error;
use url::Url;

use self::forms::Forms;
pub(crate) use self::living::Living;
pub(crate) use self::lookout::Lookout;
use self::redaction::Redaction;
use crate::{MIN_CREDENTIAL, Outgoing, Request};

/// How long a stream may be silent before the beginning of a word is let go that could become a credential.
pub(crate) const IDLE: Duration = Duration::from_millis(25);

/// Replaces known values by `[REDACTED:name]`, and credentials that their form gives away by `[REDACTED:kind#number]`.
/// Immutable and cheap to clone, so one serves all calls at once.
#[derive(Clone)]
pub struct Scanner {
    secrets: Known,
    /// What the host obtained, while it has obtained something.
    tokens: Option<Known>,
    skipped: Vec<String>,
}

/// What is looked for of some secrets.
#[derive(Clone)]
struct Known {
    forms: Arc<Forms>,
    /// Those that can be in the name of a header, in lower case: libraries write names so, whatever they were.
    in_names: Arc<Forms>,
}

/// What has been seen of one stream, for each thing that is looked for.
struct Passage {
    secrets: Redaction,
    tokens: Option<Redaction>,
    others: FormsInStream,
}

/// Why there is no scanner for these secrets.
#[derive(Debug, Error)]
pub enum ScannerError {
    /// There are too many secrets, or they are too long.
    #[error("the secrets are too many or too long to search for: remove those that are not used")]
    TooMany(#[source] BuildError),
}

/// A request that holds a credential where the host did not put one.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Leak {
    /// A known value.
    #[error(
        "the request was not sent: its {place} holds the value of the secret `{secret}`; leave it out, the host places \
         credentials itself where they are bound"
    )]
    Value {
        /// The name of the secret.
        secret: String,
        /// Where in the request.
        place: &'static str,
    },
    /// A credential of somebody else, which its form gives away.
    #[error("the request was not sent: its {place} holds what looks like a credential ({kind}); leave it out")]
    Form {
        /// What kind.
        kind: &'static str,
        /// Where in the request.
        place: &'static str,
    },
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
        let secrets = Known::new(forms.collect()).map_err(ScannerError::TooMany)?;
        Ok(Self { secrets, tokens: None, skipped: short.into_iter().map(|(name, _)| name.clone()).collect() })
    }

    /// This scanner, which looks for the secrets of `tokens` as well.
    #[must_use]
    pub(crate) fn and(&self, tokens: Option<Self>) -> Self {
        Self { tokens: tokens.map(|tokens| tokens.secrets), ..self.clone() }
    }

    /// Whether there is any value that is looked for.
    pub(crate) fn knows_values(&self) -> bool {
        self.known().any(|known| !known.forms.is_empty())
    }

    /// The names of the secrets that are not looked for.
    pub fn skipped(&self) -> &[String] {
        &self.skipped
    }

    /// `body` with a mark in the place of every credential, across the borders of chunks, and otherwise byte for byte.
    /// Its length may change, so a `Content-Length` no longer holds. Only bytes with which a credential may begin are
    /// held back until the next chunk; a word that may become one no longer than [`IDLE`]. After an error of `body`
    /// nothing follows, what was held back neither.
    pub fn stream<S, E>(&self, body: S) -> impl Stream<Item = Result<Bytes, E>> + use<S, E>
    where
        S: Stream<Item = Result<Bytes, E>>,
    {
        let open = (Box::pin(body), self.passage());
        stream::unfold(Some(open), async |open| {
            let (mut body, mut passage) = open?;
            loop {
                let clean = match next_or_idle(&mut body, passage.others.is_waiting()).await {
                    // Whoever sends it may wait for an answer to what is held back.
                    None => passage.others.idle(),
                    Some(Some(Ok(chunk))) => passage.feed(&chunk),
                    Some(Some(Err(error))) => return Some((Err(error), None)),
                    Some(None) => {
                        let rest = passage.finish();
                        return (!rest.is_empty()).then_some((Ok(rest), None));
                    }
                };
                if !clean.is_empty() {
                    return Some((Ok(clean), Some((body, passage))));
                }
            }
        })
    }

    /// Puts marks into the values of `headers`. A header whose name holds one is left out.
    pub fn headers(&self, headers: &mut HeaderMap) {
        let named: Vec<HeaderName> = headers.keys().filter(|name| self.in_name(name).is_some()).cloned().collect();
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

    /// Whether `request`, as it stands before a credential is placed, is free of known values.
    ///
    /// # Errors
    /// [`Leak`] where it is not.
    pub fn outgoing(&self, request: &Outgoing) -> Result<(), Leak> {
        self.values(&request.method, &request.url, &request.headers, &request.body)
    }

    /// Whether `request`, as the guest made it, is free of credentials that their form gives away. Not to be asked of
    /// where a redirect leads: a server signs its own links with such.
    ///
    /// # Errors
    /// [`Leak`] where it is not.
    pub fn written(&self, request: &Request) -> Result<(), Leak> {
        let leak = |(place, bytes): (_, &[u8])| known_form(bytes).map(|kind| Leak::Form { kind, place });
        places(&request.method, request.target.url(), &request.headers, &request.body)
            .find_map(leak)
            .map_or(Ok(()), Err)
    }

    /// Whether the `Location` in `headers`, and `next`, which it makes of a request, are free of known values. Both: the
    /// parse of a URL puts letters into lower case and drops a fragment, and a relative one is half of one.
    ///
    /// # Errors
    /// [`Leak`] where they are not.
    pub(crate) fn redirect(&self, headers: &HeaderMap, next: &Request) -> Result<(), Leak> {
        let written = headers.get_all(LOCATION).iter().find_map(|location| self.holds(location.as_bytes()));
        match written {
            Some(secret) => Err(Leak::Value { secret: secret.to_owned(), place: "URL" }),
            None => self.values(&next.method, next.target.url(), &next.headers, &next.body),
        }
    }

    /// Whether known values are in none of these.
    fn values(&self, method: &Method, url: &Url, headers: &HeaderMap, body: &[u8]) -> Result<(), Leak> {
        let named = headers.keys().find_map(|name| self.in_name(name)).map(|secret| ("headers", secret));
        let in_place = |(place, bytes): (_, &[u8])| Some((place, self.holds(bytes)?));
        match named.or_else(|| places(method, url, headers, body).find_map(in_place)) {
            Some((place, secret)) => Err(Leak::Value { secret: secret.to_owned(), place }),
            None => Ok(()),
        }
    }

    fn passage(&self) -> Passage {
        let redaction = |known: &Known| Redaction::new(known.forms.clone());
        let tokens = self.tokens.as_ref().map(redaction);
        Passage { secrets: redaction(&self.secrets), tokens, others: FormsInStream::default() }
    }

    /// All known values that are looked for.
    fn known(&self) -> impl Iterator<Item = &Known> {
        [&self.secrets].into_iter().chain(&self.tokens)
    }

    /// What looks through a body on its way out, piece by piece.
    pub(crate) fn lookout(&self) -> Lookout {
        Lookout::new(self)
    }

    /// The name of the first known value in `bytes`.
    fn holds(&self, bytes: impl AsRef<[u8]>) -> Option<&str> {
        self.known().find_map(|known| known.forms.first_in(bytes.as_ref()))
    }

    /// The name of the first known value in that of a header, whose letters are small ones.
    fn in_name(&self, name: &HeaderName) -> Option<&str> {
        self.known().find_map(|known| known.in_names.first_in(name.as_ref()))
    }

    /// `bytes` with marks; `None` where there is nothing to mark.
    fn redacted(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        if self.holds(bytes).is_none() && known_form(bytes).is_none() {
            return None;
        }
        let mut passage = self.passage();
        let mut clean = passage.feed(bytes).to_vec();
        clean.extend_from_slice(&passage.finish());
        Some(clean)
    }
}

impl Known {
    fn new(secrets: Vec<(&str, BTreeSet<String>)>) -> Result<Self, BuildError> {
        let in_name = |form: &String| HeaderName::try_from(form).ok().map(|name| name.to_string());
        let named = secrets.iter().map(|(name, forms)| (*name, forms.iter().filter_map(in_name).collect()));
        let in_names = Arc::new(Forms::new(named)?);
        Ok(Self { forms: Arc::new(Forms::new(secrets.into_iter())?), in_names })
    }
}

impl Passage {
    /// Takes the next bytes, and gives those that are certain. What a search is done with, the next one holds already, so
    /// of the bytes of a chunk, one copy is made and no more.
    fn feed(&mut self, chunk: &[u8]) -> Bytes {
        self.others.feed(|held| match &mut self.tokens {
            None => self.secrets.feed(chunk, held),
            Some(tokens) => {
                let mut clean = Vec::with_capacity(chunk.len());
                self.secrets.feed(chunk, &mut clean);
                tokens.feed(&clean, held);
            }
        })
    }

    fn finish(&mut self) -> Bytes {
        let certain = self.others.feed(|held| match &mut self.tokens {
            None => self.secrets.finish(held),
            Some(tokens) => {
                let mut clean = Vec::new();
                self.secrets.finish(&mut clean);
                tokens.feed(&clean, held);
                tokens.finish(held);
            }
        });
        [certain, self.others.finish()].concat().into()
    }
}

/// The next item; `None` where something `is_waiting` meanwhile and nothing comes for [`IDLE`].
pub(crate) async fn next_or_idle<S: Stream + Unpin>(stream: &mut S, is_waiting: bool) -> Option<Option<S::Item>> {
    match stream.next().now_or_never() {
        Some(next) => Some(next),
        None if is_waiting => tokio::time::timeout(IDLE, stream.next()).await.ok(),
        None => Some(stream.next().await),
    }
}

/// Where in a request something can be hidden.
fn places<'a>(
    method: &'a Method,
    url: &'a Url,
    headers: &'a HeaderMap,
    body: &'a [u8],
) -> impl Iterator<Item = (&'static str, &'a [u8])> {
    let headers = headers.iter().flat_map(|(name, value)| [name.as_ref(), value.as_bytes()]);
    [("method", method.as_str().as_bytes()), ("URL", url.as_str().as_bytes())]
        .into_iter()
        .chain(headers.map(|bytes| ("headers", bytes)))
        .chain([("body", body)])
}

/// Shows names only.
impl fmt::Debug for Scanner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known: Vec<_> = self.known().map(|known| &known.forms).collect();
        f.debug_struct("Scanner").field("known", &known).field("skipped", &self.skipped).finish()
    }
}
