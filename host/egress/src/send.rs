//! The way of a request: decide, count, place credentials, send; again for each redirect, and once with a new token.

use std::sync::Arc;

use futures::{StreamExt as _, TryStreamExt as _};
use http::header::{ACCEPT_ENCODING, RANGE};
use http::{HeaderValue, Method, StatusCode};
use ringfence_core::{Limits, Secret};

use crate::access::{Access, BoundCredential, CredentialValue, Decision};
use crate::budget::{Budget, Clock, Counter};
use crate::client::{Clients, Settings, SettingsError};
use crate::credential::withhold;
use crate::decode::{ACCEPTED, decode};
use crate::error::EgressError;
use crate::oauth::Asker;
use crate::outgoing::Outgoing;
use crate::redirect::{MAX_REDIRECTS, RedirectError, follow};
use crate::request::{Request, size_of_headers};
use crate::response::{Body, Response, clean, counted};
use crate::scan::{Living, Scanner};

/// The door to the network. One for the whole host: it keeps connections.
pub struct Egress {
    asker: Asker,
}

impl Egress {
    /// A door with these settings.
    ///
    /// # Errors
    /// When the additional certificate authorities cannot be used.
    pub fn new(settings: Settings) -> Result<Self, SettingsError> {
        let living = Arc::new(Living::new(settings.scrubber.clone()));
        Ok(Self { asker: Asker { clients: Arc::new(Clients::new(settings)?), living } })
    }

    /// Sends `request` as far as `access` lets it, and follows redirects as far as it lets them. Where a server refuses
    /// a token (401), it is sent once more with a new one. Dropping the future closes the connection.
    ///
    /// # Errors
    /// [`EgressError`]. Nothing was sent when it is `Denied`, `Address` or `Credential`, or `Limit` before the first
    /// request; after a redirect, the requests before it were.
    pub async fn send(&self, request: Request, access: &Access, budget: &Budget) -> Result<Response, EgressError> {
        let mut request = request;
        let mut clock = Clock::start();
        let mut renewals = 1;
        for hop in 0..=MAX_REDIRECTS {
            let decision = access.decide(&request.target, &request.method);
            let decision = if hop == 0 { decision? } else { decision.map_err(EgressError::of_redirect)? };
            if hop == 0 {
                access.scanner().written(&request.to_outgoing())?;
            }
            let limits = budget.take(&decision.rules, request.size())?;
            clock.tighten(&limits);
            let answer = clock.within(self.exchange(&request, &decision, access, budget, &mut renewals)).await??;
            match follow(&request, answer.status(), answer.headers())? {
                Some(next) => request = next,
                None => return receive(request, answer, &self.scanner(access), clock, limits),
            }
        }
        Err(RedirectError::TooMany.into())
    }

    async fn exchange(
        &self,
        request: &Request,
        decision: &Decision<'_>,
        access: &Access,
        budget: &Budget,
        renewals: &mut u8,
    ) -> Result<reqwest::Response, EgressError> {
        let values = self.values(decision).await?;
        let answer = self.attempt(request, decision, &values, access).await?;
        if answer.status() != StatusCode::UNAUTHORIZED || *renewals == 0 {
            return Ok(answer);
        }
        // The body is at hand, and a server that refuses the token has done nothing with the request.
        let Some(renewed) = self.renewed(decision, values).await? else { return Ok(answer) };
        *renewals -= 1;
        budget.take(&decision.rules, request.size())?;
        drop(answer);
        self.attempt(request, decision, &renewed, access).await
    }

    async fn attempt(
        &self,
        request: &Request,
        decision: &Decision<'_>,
        values: &[Secret],
        access: &Access,
    ) -> Result<reqwest::Response, EgressError> {
        let mut outgoing = request.to_outgoing();
        // Before a credential is in it: what is found now, a guest or a redirect has put there.
        self.scanner(access).outgoing(&outgoing)?;
        prepare(&mut outgoing, decision, values)?;
        let client = self.asker.clients.get(access.addresses()).map_err(EgressError::Client)?;
        let answer = client.execute(to_client(outgoing)).await;
        answer.map_err(|error| EgressError::of_client(request.target.seen().origin(), error))
    }

    /// The values of the credentials, in their order. A token that is not at hand is obtained.
    async fn values(&self, decision: &Decision<'_>) -> Result<Vec<Secret>, EgressError> {
        let mut values = Vec::with_capacity(decision.credentials.len());
        for credential in &decision.credentials {
            values.push(match &credential.value {
                CredentialValue::Fixed(secret) => secret.clone(),
                CredentialValue::Token(source) => {
                    source.token(&self.asker).await.map_err(|source| of_token(credential, source))?
                }
            });
        }
        Ok(values)
    }

    /// The same with other tokens; `None` where there are none.
    async fn renewed(
        &self,
        decision: &Decision<'_>,
        mut values: Vec<Secret>,
    ) -> Result<Option<Vec<Secret>>, EgressError> {
        let mut changed = false;
        for (credential, value) in decision.credentials.iter().zip(&mut values) {
            let CredentialValue::Token(source) = &credential.value else { continue };
            let other = source.instead_of(value, &self.asker).await.map_err(|source| of_token(credential, source))?;
            if let Some(other) = other {
                *value = other;
                changed = true;
            }
        }
        Ok(changed.then_some(values))
    }

    /// What looks for the secrets, and for the tokens that live now.
    fn scanner(&self, access: &Access) -> Scanner {
        access.scanner().clone().and(self.asker.living.scanner())
    }
}

fn of_token(credential: &BoundCredential, source: Arc<crate::TokenError>) -> EgressError {
    EgressError::Token { name: credential.name.clone(), source }
}

/// Places the credentials, and asks only for what can be decoded and so looked through.
fn prepare(outgoing: &mut Outgoing, decision: &Decision<'_>, values: &[Secret]) -> Result<(), EgressError> {
    for (credential, value) in decision.credentials.iter().zip(values) {
        credential.placement.place(&credential.name, value, outgoing)?;
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
    scanner: &Scanner,
    clock: Clock,
    limits: Limits,
) -> Result<Response, EgressError> {
    let (status, mut headers) = (answer.status(), answer.headers().clone());
    let mut counter = Counter::new(limits);
    counter.add(size_of_headers(&headers))?;
    let origin = request.target.seen().origin();
    let arriving = answer.bytes_stream().map_err(move |error| EgressError::of_client(origin.clone(), error));
    let mut body = counted(arriving, counter.clone());
    // The headers of a response to HEAD are about a body that is not there.
    if request.method != Method::HEAD {
        let decoded = decode(&mut headers, body).map_err(EgressError::of_decoding)?;
        body = counted(decoded.map_err(EgressError::of_decoding), counter);
    }
    clean(&mut headers);
    scanner.headers(&mut headers);
    let body = Body::timed(scanner.stream(body).boxed(), clock);
    Ok(Response { status, headers, target: request.target, body })
}
