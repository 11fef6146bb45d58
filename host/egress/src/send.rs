//! The way of a request: decide, count, place credentials, send; again for each redirect.

use futures::{StreamExt as _, TryStreamExt as _};
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, RANGE};
use http::{HeaderValue, Method};
use ringfence_core::Limits;

use crate::access::{Access, Decision};
use crate::budget::{Budget, Clock, Counter};
use crate::client::{Clients, Settings, SettingsError};
use crate::credential::withhold;
use crate::decode::{ACCEPTED, decode};
use crate::error::EgressError;
use crate::outgoing::Outgoing;
use crate::redirect::{MAX_REDIRECTS, RedirectError, follow};
use crate::request::{Request, size_of_headers};
use crate::response::{Body, Response, clean, counted};

/// The door to the network. One for the whole host: it keeps connections.
pub struct Egress {
    clients: Clients,
}

impl Egress {
    /// A door with these settings.
    ///
    /// # Errors
    /// When the additional certificate authorities cannot be used.
    pub fn new(settings: Settings) -> Result<Self, SettingsError> {
        Ok(Self { clients: Clients::new(settings)? })
    }

    /// Sends `request` as far as `access` lets it, and follows redirects as far as it lets them. Dropping the future
    /// closes the connection.
    ///
    /// # Errors
    /// [`EgressError`]. Nothing was sent when it is `Denied`, `Address` or `Credential`, or `Limit` before the first
    /// request; after a redirect, the requests before it were.
    pub async fn send(&self, request: Request, access: &Access, budget: &Budget) -> Result<Response, EgressError> {
        let mut request = request;
        let mut clock = Clock::start();
        for hop in 0..=MAX_REDIRECTS {
            let decision = access.decide(&request.target, &request.method);
            let decision = if hop == 0 { decision? } else { decision.map_err(EgressError::of_redirect)? };
            let limits = budget.take(&decision.rules, request.size())?;
            clock.tighten(&limits);
            let answer = clock.within(self.exchange(&request, &decision, access)).await??;
            match follow(&request, answer.status(), answer.headers())? {
                Some(next) => request = next,
                None => return receive(request, answer, access, clock, limits),
            }
        }
        Err(RedirectError::TooMany.into())
    }

    async fn exchange(
        &self,
        request: &Request,
        decision: &Decision<'_>,
        access: &Access,
    ) -> Result<reqwest::Response, EgressError> {
        let mut outgoing = request.to_outgoing();
        // Before a credential is in it: what is found now, a guest or a redirect has put there.
        access.scanner().outgoing(&outgoing)?;
        prepare(&mut outgoing, decision)?;
        let client = self.clients.get(access.addresses()).map_err(EgressError::Client)?;
        let answer = client.execute(to_client(outgoing)).await;
        answer.map_err(|error| EgressError::of_client(request.target.seen().origin(), error))
    }
}

/// Places the credentials, and asks only for what can be decoded and so looked through.
fn prepare(outgoing: &mut Outgoing, decision: &Decision<'_>) -> Result<(), EgressError> {
    for credential in &decision.credentials {
        credential.placement.place(&credential.name, &credential.secret, outgoing)?;
    }
    if decision.credentials.is_empty() {
        // A part of an encoded body cannot be decoded.
        let accepted = if outgoing.headers.contains_key(RANGE) { "identity" } else { ACCEPTED };
        outgoing.headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(accepted));
    } else {
        withhold(outgoing);
    }
    Ok(())
}

fn to_client(outgoing: Outgoing) -> reqwest::Request {
    let mut request = reqwest::Request::new(outgoing.method, outgoing.url);
    *request.headers_mut() = outgoing.headers;
    *request.body_mut() = (!outgoing.body.is_empty()).then(|| outgoing.body.into());
    request
}

/// What the guest gets of an answer: decoded, counted before and after that, and with marks in the place of secrets.
fn receive(
    request: Request,
    answer: reqwest::Response,
    access: &Access,
    clock: Clock,
    limits: Limits,
) -> Result<Response, EgressError> {
    let (status, mut headers) = (answer.status(), answer.headers().clone());
    let mut counter = Counter::new(limits);
    counter.add(size_of_headers(&headers))?;
    let length = answer.content_length().filter(|_| !headers.contains_key(CONTENT_ENCODING));
    let origin = request.target.seen().origin();
    let arriving = answer.bytes_stream().map_err(move |error| EgressError::of_client(origin.clone(), error));
    let mut body = counted(arriving, counter.clone());
    // The headers of a response to HEAD are about a body that is not there.
    if request.method != Method::HEAD {
        let decoded = decode(&mut headers, body).map_err(EgressError::of_decoding)?;
        body = counted(decoded.map_err(EgressError::of_decoding), counter);
    }
    clean(&mut headers);
    access.scanner().headers(&mut headers);
    let body = Body::timed(access.scanner().stream(body).boxed(), clock);
    Ok(Response { status, headers, length, target: request.target, body })
}
