//! The way of a request: decide, count, place credentials, send; again for each redirect.

use std::pin::Pin;
use std::time::Duration;

use futures::{StreamExt as _, TryStreamExt as _};
use http::header::{ACCEPT_ENCODING, CONTENT_LENGTH, RANGE};
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
use crate::response::{Body, Response, arriving, clean, counted};
use crate::upload::{Fate, Upload, collect};

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
            let made = make(&request, &decision, access)?;
            let answer = clock.within(self.exchange(&request, made, access, None)).await??;
            match follow(&request, answer.status(), answer.headers())? {
                Some(next) => request = next,
                None => return receive(request, answer, access, clock, limits, Fate::default()),
            }
        }
        Err(RedirectError::TooMany.into())
    }

    /// Sends `request`, whose body `upload` is still being made, as far as `access` lets it. It is sent once: a redirect is
    /// an answer like any other, since nobody has kept the body. `connect_timeout` is that of whoever asks, where it has
    /// one; the shorter of it and the door's holds.
    ///
    /// # Errors
    /// As [`Egress::send`], and [`EgressError::Upload`].
    pub async fn send_once(
        &self,
        mut request: Request,
        upload: Upload,
        connect_timeout: Option<Duration>,
        access: &Access,
        budget: &Budget,
    ) -> Result<Response, EgressError> {
        let mut clock = Clock::start();
        let decision = access.decide(&request.target, &request.method)?;
        let limits = budget.take(&decision.rules, request.size())?;
        clock.tighten(&limits);
        let (length, fate) = (upload.length(), Fate::default());
        let body = upload.checked(request.size(), limits.clone(), access.scanner(), clock.clone(), fate.clone());
        let mut body = body.peekable();
        let made = if decision.credentials.iter().any(|credential| credential.placement.is_in_body()) {
            request.body = collect(body).await?;
            make(&request, &decision, access)?
        } else if is_mostly_bare(&request.method) && Pin::new(&mut body).peek().await.is_none() {
            make(&request, &decision, access)?
        } else {
            let mut made = make(&request, &decision, access)?;
            *made.body_mut() = Some(reqwest::Body::wrap_stream(body));
            length.map(|length| made.headers_mut().insert(CONTENT_LENGTH, length.into()));
            made
        };
        let answer = clock.within(self.exchange(&request, made, access, connect_timeout)).await?;
        let answer = answer.map_err(|error| fate.or(error))?;
        receive(request, answer, access, clock, limits, fate)
    }

    async fn exchange(
        &self,
        request: &Request,
        made: reqwest::Request,
        access: &Access,
        connect_timeout: Option<Duration>,
    ) -> Result<reqwest::Response, EgressError> {
        let client = self.clients.get(access.addresses(), connect_timeout).map_err(EgressError::Client)?;
        let answer = client.execute(made).await;
        answer.map_err(|error| EgressError::of_client(request.target.seen().origin(), error))
    }
}

/// Whether servers expect no body with it, so that an empty one is better none.
fn is_mostly_bare(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

/// The request with its credentials, as the client takes it.
fn make(request: &Request, decision: &Decision<'_>, access: &Access) -> Result<reqwest::Request, EgressError> {
    let mut outgoing = request.to_outgoing();
    // Before a credential is in it: what is found now, a guest or a redirect has put there.
    access.scanner().outgoing(&outgoing)?;
    prepare(&mut outgoing, decision)?;
    Ok(to_client(outgoing))
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
    fate: Fate,
) -> Result<Response, EgressError> {
    let (status, mut headers) = (answer.status(), answer.headers().clone());
    let mut counter = Counter::new(limits);
    counter.add(size_of_headers(&headers))?;
    let origin = request.target.seen().origin();
    let (arriving, trailers) = arriving(answer, access.scanner());
    let arriving = arriving.map_err(move |error| fate.or(EgressError::of_client(origin.clone(), error)));
    let mut body = counted(arriving, counter.clone());
    // The headers of a response to HEAD are about a body that is not there.
    if request.method != Method::HEAD {
        let decoded = decode(&mut headers, body).map_err(EgressError::of_decoding)?;
        body = counted(decoded.map_err(EgressError::of_decoding), counter);
    }
    clean(&mut headers);
    access.scanner().headers(&mut headers);
    let body = Body::timed(access.scanner().stream(body).boxed(), clock, trailers);
    Ok(Response { status, headers, target: request.target, body })
}
