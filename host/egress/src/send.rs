//! The way of a request: decide, count, place credentials, send; again for each redirect, and once with a new token.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt as _, TryStreamExt as _};
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, RANGE};
use http::{HeaderValue, Method, StatusCode};
use ringfence_core::{Limits, Secret};

use crate::access::{Access, BoundCredential, CredentialValue, Decision};
use crate::budget::{Budget, Clock, Counter};
use crate::client::{Answer, Clients, Message, Settings, SettingsError};
use crate::credential::withhold;
use crate::decode::{ACCEPTED, decode};
use crate::error::EgressError;
use crate::oauth::Asker;
use crate::outgoing::Outgoing;
use crate::redirect::{MAX_REDIRECTS, RedirectError, follow};
use crate::request::{Request, size_of_headers};
use crate::response::{Body, Response, arriving, clean, counted};
use crate::scan::{Living, Scanner};
use crate::upload::{Fate, Upload, collect};

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
    /// [`EgressError`]. Nothing was sent when it is `Denied`, `Address`, `Credential` or `Leak`, or `Limit` before the first
    /// request; after a redirect, the requests before it were, and it is `AfterRedirect` or `RedirectDenied`.
    pub async fn send(&self, request: Request, access: &Access, budget: &Budget) -> Result<Response, EgressError> {
        let mut request = request;
        let mut clock = Clock::start();
        let mut sending = Sending { door: self, access, budget, renewals: 1, connect_timeout: None };
        for hop in 0..=MAX_REDIRECTS {
            let sent = sending.hop(&request, hop == 0, &mut clock).await;
            let (answer, limits) = if hop == 0 { sent? } else { sent.map_err(EgressError::of_redirect)? };
            match follow(&request, answer.status, &answer.headers)? {
                // Before anything is said of it: whoever was sent a credential can write it into a URL.
                Some(next) => {
                    let leak = self.scanner(access).redirect(&answer.headers, &next);
                    leak.map_err(|leak| EgressError::from(leak).of_redirect())?;
                    request = next;
                }
                None => return receive(request, answer, self.scanner(access), clock, limits, Fate::default()),
            }
        }
        Err(RedirectError::TooMany.into())
    }

    /// Sends `request`, whose body `upload` is still being made, as far as `access` lets it. A redirect is an answer like
    /// any other, and a refused token is renewed only where there is no body, since nobody has kept it.
    /// `connect_timeout` is that of whoever asks, where it has one; the shorter of it and the door's holds.
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
        access.scanner().written(&request)?;
        let limits = budget.take(&decision.rules, request.size())?;
        clock.tighten(&limits);
        // Before the body is looked through, so that a token that is obtained now is looked for.
        let carried = clock.within(self.carried(access, &decision)).await??;
        let mut sending = Sending { door: self, access, budget, renewals: 1, connect_timeout };
        let (length, fate) = (upload.length(), Fate::default());
        let body = upload.checked(request.size(), limits.clone(), &carried.scanner, clock.clone(), fate.clone());
        let mut body = body.peekable();
        let answer = if decision.credentials.iter().any(|credential| credential.placement.is_in_body()) {
            request.body = collect(body).await?;
            clock.within(sending.exchange(&request, &decision, carried)).await?
        } else if is_mostly_bare(&request.method) && Pin::new(&mut body).peek().await.is_none() {
            clock.within(sending.exchange(&request, &decision, carried)).await?
        } else {
            let mut made = make(&request, &decision, &carried)?.with_upload(body.boxed());
            length.map(|length| made.headers_mut().insert(CONTENT_LENGTH, length.into()));
            clock.within(sending.execute(&request, made)).await?
        };
        let answer = answer.map_err(|error| fate.or(error))?;
        receive(request, answer, self.scanner(access), clock, limits, fate)
    }

    /// What a request carries. A token that is not at hand is obtained.
    async fn carried(&self, access: &Access, decision: &Decision<'_>) -> Result<Carried, EgressError> {
        let mut values = Vec::with_capacity(decision.credentials.len());
        for credential in &decision.credentials {
            values.push(match &credential.value {
                CredentialValue::Fixed(secret) => secret.clone(),
                CredentialValue::Token(source) => {
                    source.token(&self.asker).await.map_err(|source| of_token(credential, source))?
                }
            });
        }
        // Last, so that it looks for what was obtained just now.
        Ok(Carried { values, scanner: self.scanner(access) })
    }

    /// The same with other tokens; `None` where there are none.
    async fn renewed(
        &self,
        access: &Access,
        decision: &Decision<'_>,
        mut values: Vec<Secret>,
    ) -> Result<Option<Carried>, EgressError> {
        let mut changed = false;
        for (credential, value) in decision.credentials.iter().zip(&mut values) {
            let CredentialValue::Token(source) = &credential.value else { continue };
            let other = source.instead_of(value, &self.asker).await.map_err(|source| of_token(credential, source))?;
            if let Some(other) = other {
                *value = other;
                changed = true;
            }
        }
        Ok(changed.then(|| Carried { values, scanner: self.scanner(access) }))
    }

    /// What looks for the secrets, and for the tokens that live now. Not the same for a request and its answer: meanwhile
    /// others may have obtained some.
    fn scanner(&self, access: &Access) -> Scanner {
        access.scanner().and(self.asker.living.scanner())
    }
}

/// What the host adds to one request.
struct Carried {
    /// The values of the credentials, in their order.
    values: Vec<Secret>,
    /// Looks for them, and for all others, in what the guest made.
    scanner: Scanner,
}

/// One request of a guest on its way, with all that it leads to.
struct Sending<'a> {
    door: &'a Egress,
    access: &'a Access,
    budget: &'a Budget,
    /// How often a refused token may still be replaced.
    renewals: u8,
    connect_timeout: Option<Duration>,
}

impl Sending<'_> {
    /// Decides over one request, counts it and sends it. What the guest has `written` itself is looked through for
    /// credentials that their form gives away.
    async fn hop(
        &mut self,
        request: &Request,
        written: bool,
        clock: &mut Clock,
    ) -> Result<(Answer, Limits), EgressError> {
        let (door, access) = (self.door, self.access);
        let decision = access.decide(&request.target, &request.method)?;
        if written {
            access.scanner().written(request)?;
        }
        let limits = self.budget.take(&decision.rules, request.size())?;
        clock.tighten(&limits);
        let answer = clock.within(async {
            let carried = door.carried(access, &decision).await?;
            self.exchange(request, &decision, carried).await
        });
        Ok((answer.await??, limits))
    }

    /// Sends a request whose body is at hand; once more with new tokens, where the server refuses those that it got.
    async fn exchange(
        &mut self,
        request: &Request,
        decision: &Decision<'_>,
        carried: Carried,
    ) -> Result<Answer, EgressError> {
        let answer = self.execute(request, make(request, decision, &carried)?).await?;
        if answer.status != StatusCode::UNAUTHORIZED || self.renewals == 0 {
            return Ok(answer);
        }
        // A server that refuses the token has done nothing with the request.
        let renewed = self.door.renewed(self.access, decision, carried.values).await?;
        let Some(renewed) = renewed else { return Ok(answer) };
        self.renewals -= 1;
        self.budget.take(&decision.rules, request.size())?;
        drop(answer);
        self.execute(request, make(request, decision, &renewed)?).await
    }

    async fn execute(&self, request: &Request, made: Message) -> Result<Answer, EgressError> {
        let (clients, lookups) = (&self.door.asker.clients, self.access.lookups());
        let answer = clients.get(self.access.addresses()).exchange(made, self.connect_timeout, lookups).await;
        answer.map_err(|error| EgressError::of_client(request.target.seen().origin(), error))
    }
}

/// Whether servers expect no body with it, so that an empty one is better none.
fn is_mostly_bare(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

/// The request with its credentials, as the client takes it.
fn make(request: &Request, decision: &Decision<'_>, carried: &Carried) -> Result<Message, EgressError> {
    let mut outgoing = request.to_outgoing();
    // Before a credential is in it: what is found now, a guest or a redirect has put there.
    carried.scanner.outgoing(&outgoing)?;
    prepare(&mut outgoing, decision, carried)?;
    Message::new(outgoing).map_err(|error| EgressError::of_client(request.target.seen().origin(), error.into()))
}

fn of_token(credential: &BoundCredential, source: Arc<crate::TokenError>) -> EgressError {
    EgressError::Token { name: credential.name.clone(), source }
}

/// Places the credentials, and asks only for what can be decoded and so looked through.
fn prepare(outgoing: &mut Outgoing, decision: &Decision<'_>, carried: &Carried) -> Result<(), EgressError> {
    for (credential, value) in decision.credentials.iter().zip(&carried.values) {
        credential.placement.place(&credential.name, value, outgoing)?;
    }
    if carried.scanner.knows_values() {
        // Whatever the request carries: any server may have a file in which one of them stands.
        withhold(outgoing);
    } else {
        // A part of an encoded body cannot be decoded.
        let accepted = if outgoing.headers.contains_key(RANGE) { "identity" } else { ACCEPTED };
        outgoing.headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(accepted));
    }
    Ok(())
}

/// What the guest gets of an answer: decoded, counted before and after that, and with marks in the place of secrets.
fn receive(
    request: Request,
    answer: Answer,
    scanner: Scanner,
    clock: Clock,
    limits: Limits,
    fate: Fate,
) -> Result<Response, EgressError> {
    let Answer { status, mut headers, length, body } = answer;
    let mut counter = Counter::new(limits);
    counter.add(size_of_headers(&headers))?;
    let length = length.filter(|_| !headers.contains_key(CONTENT_ENCODING));
    let origin = request.target.seen().origin();
    let (arriving, trailers) = arriving(body, scanner.clone());
    let arriving = arriving.map_err(move |error| fate.or(EgressError::of_client(origin.clone(), error.into())));
    let mut body = counted(arriving, counter.clone());
    // The headers of a response to HEAD are about a body that is not there.
    if request.method != Method::HEAD {
        let decoded = decode(&mut headers, body).map_err(EgressError::of_decoding)?;
        body = counted(decoded.map_err(EgressError::of_decoding), counter);
    }
    clean(&mut headers);
    scanner.headers(&mut headers);
    let body = Body::timed(scanner.stream(body).boxed(), clock, trailers);
    Ok(Response { status, headers, length, target: request.target, body })
}
