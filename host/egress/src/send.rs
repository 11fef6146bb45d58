//! The way of a request: decide, count, place credentials, send; again for each redirect.

use futures::{StreamExt as _, TryStreamExt as _};
use ringfence_core::Limits;

use crate::access::{Access, Decision};
use crate::budget::{Budget, Clock, Counter};
use crate::client::{Clients, Settings, SettingsError};
use crate::credential::withhold;
use crate::error::EgressError;
use crate::outgoing::Outgoing;
use crate::redirect::{MAX_REDIRECTS, RedirectError, follow};
use crate::request::{Request, size_of_headers};
use crate::response::{Body, Response, clean};

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
            let limits = budget.take(decision.place, decision.rule, request.size())?;
            clock.tighten(&limits);
            let answer = clock.within(self.exchange(&request, &decision, access)).await??;
            match follow(&request, answer.status(), answer.headers())? {
                Some(next) => request = next,
                None => return receive(request, answer, clock, limits),
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
        for credential in &decision.credentials {
            credential.placement.place(&credential.name, &credential.secret, &mut outgoing)?;
        }
        if !decision.credentials.is_empty() {
            withhold(&mut outgoing);
        }
        let client = self.clients.get(&access.addresses).map_err(EgressError::Client)?;
        let answer = client.execute(to_client(outgoing)).await;
        answer.map_err(|error| EgressError::of_client(request.target.seen().origin(), error))
    }
}

fn to_client(outgoing: Outgoing) -> reqwest::Request {
    let mut request = reqwest::Request::new(outgoing.method, outgoing.url);
    *request.headers_mut() = outgoing.headers;
    *request.body_mut() = (!outgoing.body.is_empty()).then(|| outgoing.body.into());
    request
}

/// What the guest gets of an answer.
fn receive(request: Request, answer: reqwest::Response, clock: Clock, limits: Limits) -> Result<Response, EgressError> {
    let (status, mut headers) = (answer.status(), answer.headers().clone());
    let mut counter = Counter::new(limits);
    counter.add(size_of_headers(&headers))?;
    clean(&mut headers);
    let origin = request.target.seen().origin();
    let arriving = answer.bytes_stream().map_err(move |error| EgressError::of_client(origin.clone(), error));
    let body = Body::bounded(arriving.boxed(), clock, counter);
    Ok(Response { status, headers, target: request.target, body })
}
