//! Requests to where packages are: through egress, bounded, and watched.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, StatusCode};
use ringfence_core::limit::{LimitKind, LimitSet, Limits};
use ringfence_egress::{
    Access, AddressGrants, Body, BoundCredential, Budget, Egress, EgressError, MAX_REDIRECTS, Request, Response, Target,
};
use ringfence_package::component;

use crate::error::{DistributionError, OVER_TLS};

/// The longest time for a request, in milliseconds, its redirects and its body included: 64 MiB at a megabit a second, and
/// for what is small, the patience of whoever waits for it.
const LONG_MS: u64 = 600_000;
const SHORT_MS: u64 = 60_000;

/// What is larger takes long, in bytes.
const SMALL: u64 = 8 << 20;

/// Room beside a body, for URL and headers, in bytes.
const HEADERS: u64 = 128 << 10;

/// How much is read of an error's page, in bytes.
const MAX_ERROR_PAGE: usize = 64 << 10;

/// Told how far a download is: what, how many bytes have come, and how many there are, where the server says so.
pub type Watcher = Box<dyn Fn(&str, u64, Option<u64>) + Send + Sync>;

/// How far the operator lets requests go.
#[derive(Clone, Debug, Default)]
pub struct Allowance {
    /// Addresses that are otherwise refused.
    pub addresses: AddressGrants,
    /// Hosts, with their ports where those are not the usual ones, that may be asked over plain HTTP.
    pub plain_http: BTreeSet<String>,
}

impl Allowance {
    /// Opens `ranges`, such as `127.0.0.1/32`, or single addresses, and plain HTTP for the hosts `plain_http`.
    ///
    /// # Errors
    /// [`DistributionError::Range`].
    pub fn new<'a>(
        ranges: impl IntoIterator<Item = &'a String>,
        plain_http: impl IntoIterator<Item = String>,
    ) -> Result<Self, DistributionError> {
        let range = |text: &String| {
            let single = text.parse::<std::net::IpAddr>().map(Into::into);
            single.or_else(|_| text.parse()).map_err(|_| DistributionError::Range(text.clone()))
        };
        let addresses = ranges.into_iter().map(range).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { addresses: AddressGrants::new(addresses), plain_http: plain_http.into_iter().collect() })
    }

    /// Whether `target` may be asked, where no digest of the answer is known beforehand.
    pub(crate) fn check_plain(&self, target: &Target) -> Result<(), DistributionError> {
        let url = target.url();
        let host = url.host_str().unwrap_or_default();
        let host = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
        if url.scheme() == "https" || self.plain_http.contains(&host) {
            return Ok(());
        }
        Err(DistributionError::PlainHost(host))
    }
}

/// Asks servers in the operator's name.
pub(crate) struct Client {
    pub(crate) door: Arc<Egress>,
    pub(crate) allowance: Allowance,
    pub(crate) watcher: Watcher,
}

/// A question to a server.
pub(crate) struct Ask<'a> {
    pub(crate) method: &'static str,
    pub(crate) url: &'a str,
    pub(crate) headers: &'a [(&'static str, &'a str)],
    pub(crate) body: Bytes,
    /// The most bytes of the answer's body.
    pub(crate) most: u64,
    /// What is asked for, for people.
    pub(crate) what: &'a str,
}

impl<'a> Ask<'a> {
    pub(crate) fn get(url: &'a str, what: &'a str, most: u64) -> Self {
        Self { method: "GET", url, headers: &[], body: Bytes::new(), most, what }
    }
}

/// What a server answered.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    /// Who answered, after all redirects.
    pub(crate) target: Target,
    pub(crate) body: Bytes,
}

impl Client {
    /// Asks, with `credential` where it is bound to.
    pub(crate) async fn ask(
        &self,
        ask: &Ask<'_>,
        credential: Option<&BoundCredential>,
    ) -> Result<Answer, DistributionError> {
        let headers = ask.headers.iter().map(|(name, value)| (*name, value.as_bytes()));
        let request = Request::new(ask.method, ask.url, headers, ask.body.clone())?;
        let access = Access::of_operator(self.allowance.addresses.clone(), credential.cloned().into_iter().collect())?;
        let origin = request.target().seen().origin();
        let sent = self.door.send(request, &access, &Budget::new(limits(ask))).await;
        let response = sent.map_err(|error| DistributionError::of_egress(&origin, error))?;
        let (status, headers, target) = (response.status, response.headers.clone(), response.target.clone());
        let body = match status.is_success() {
            _ if ask.method == "HEAD" => Bytes::new(),
            true => self.body(response, ask).await?,
            false => error_page(response.body).await,
        };
        Ok(Answer { status, headers, target, body })
    }

    async fn body(&self, response: Response, ask: &Ask<'_>) -> Result<Bytes, DistributionError> {
        let too_large = || DistributionError::TooLarge { what: ask.what.to_owned(), most: ask.most };
        let total = response.length;
        if total.is_some_and(|total| total > ask.most) {
            return Err(too_large());
        }
        let (mut arriving, mut body) = (response.body, BytesMut::new());
        loop {
            let chunk = arriving.chunk().await.map_err(|error| match error {
                EgressError::Limit(limit) if limit.limit == LimitKind::HttpResponseBytes.code() => too_large(),
                error => DistributionError::Truncated { what: ask.what.to_owned(), source: Box::new(error) },
            })?;
            let Some(chunk) = chunk else { return Ok(body.freeze()) };
            body.extend_from_slice(&chunk);
            if body.len() as u64 > ask.most {
                return Err(too_large());
            }
            (self.watcher)(ask.what, body.len() as u64, total);
        }
    }
}

impl Answer {
    /// The body of an answer that has to be a success.
    pub(crate) fn success(self, what: &str) -> Result<Bytes, DistributionError> {
        match self.status {
            status if status.is_success() => Ok(self.body),
            StatusCode::NOT_FOUND | StatusCode::GONE => Err(DistributionError::NotFound { what: what.to_owned() }),
            _ => Err(self.failure(what)),
        }
    }

    /// The error that a status is.
    pub(crate) fn failure(&self, what: &str) -> DistributionError {
        let said = self.said();
        let remedy = match self.status.as_u16() {
            // What a server that speaks TLS answers to somebody who does not, in no registry's words.
            400 if said.is_empty() && self.target.url().scheme() == "http" => OVER_TLS,
            401 | 403 => "it may need a login; a file can be fetched with another program and installed from there",
            429 => "it is asked too often: wait a while, then try again",
            500.. => "the fault is the server's: try again later",
            _ => "check the location",
        };
        DistributionError::Status { what: what.to_owned(), status: self.status, said, remedy }
    }

    /// What a registry says of its error (distribution specification, error codes), in one line.
    fn said(&self) -> String {
        let document: Option<serde_json::Value> = serde_json::from_slice(&self.body).ok();
        let message = document.as_ref().and_then(|document| document["errors"][0]["message"].as_str());
        message.map_or_else(String::new, |text| {
            format!(": {}", text.chars().filter(|c| !c.is_control()).take(200).collect::<String>())
        })
    }
}

/// The beginning of what a server says of an error; some have long pages for it.
async fn error_page(mut arriving: Body) -> Bytes {
    let mut page = BytesMut::new();
    while page.len() < MAX_ERROR_PAGE
        && let Ok(Some(chunk)) = arriving.chunk().await
    {
        page.extend_from_slice(&chunk);
    }
    page.freeze()
}

fn limits(ask: &Ask<'_>) -> Limits {
    let small = ask.most.max(ask.body.len() as u64) <= SMALL;
    let set = [
        (LimitKind::HttpRequests, MAX_REDIRECTS as u64 + 1),
        (LimitKind::HttpRequestBytes, component::MAX_BYTES as u64 + HEADERS),
        (LimitKind::HttpResponseBytes, ask.most + HEADERS),
        (LimitKind::HttpTime, if small { SHORT_MS } else { LONG_MS }),
    ];
    let set = set.into_iter().fold(LimitSet::default(), |set, (kind, value)| set.with(kind, value));
    Limits::effective(&LimitSet::default(), &set)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_http_is_for_hosts_that_were_named() {
        let allowance = Allowance::new([], ["r.example:5000".to_owned()]).unwrap();
        let allowed = |url: &str| allowance.check_plain(&Target::parse(url).unwrap()).is_ok();
        assert!(allowed("https://any.example/") && allowed("http://r.example:5000/v2/"));
        assert!(!allowed("http://r.example/") && !allowed("http://any.example:5000/"));
    }

    #[test]
    fn ranges_are_addresses_or_networks() {
        assert!(Allowance::new(&["10.0.0.0/8".into(), "::1".into()], []).is_ok());
        assert!(matches!(Allowance::new(&["localhost".into()], []), Err(DistributionError::Range(_))));
    }
}
