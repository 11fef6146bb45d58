//! Where one client's tokens come from: the one at hand, or a new one.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use futures::future::{self, BoxFuture, Shared};
use ringfence_core::Secret;
use ringfence_core::finish::current::TokenOwner;
use ringfence_vault::{SecretName, Vault};
use tokio_util::task::TaskTracker;

use super::refresh_token::RefreshToken;
use super::{OAuthClient, TokenError, endpoint};
use crate::client::Clients;
use crate::resolve::Lookups;
use crate::scan::Living;
use crate::{AddressGrants, MIN_CREDENTIAL};

/// A token is renewed so long before it ends, for the way of the request; but a short one serves most of its life.
const MARGIN: Duration = Duration::from_secs(30);

/// How long a token is used of which the server does not say how long it lives.
const UNTOLD: Duration = Duration::from_secs(300);

/// How long a token is looked for of which the server does not say how long it lives, and at most.
const LONGEST: Duration = Duration::from_secs(30 * 24 * 3600);

/// A token is looked for so long after its end: clocks differ.
const AFTERWARDS: Duration = Duration::from_secs(300);

/// A token that was obtained because another one was refused, and is refused as well, is not replaced for so long: the
/// server refuses the client.
const PAUSE: Duration = Duration::from_secs(60);

/// The shortest time from one question to the next, but where a token was refused. Until it is over, a token is used though
/// it has ended, and a question that failed has failed: each token makes the host prepare its searches anew, so a server
/// whose tokens end at once could keep it busy with that.
const INTERVAL: Duration = Duration::from_secs(1);

/// The tokens of one client.
pub struct TokenSource {
    client: OAuthClient,
    owner: Arc<TokenOwner>,
    addresses: AddressGrants,
    vault: Arc<Vault>,
    refresh_token: Option<Arc<RefreshToken>>,
    questions: TaskTracker,
    lookups: Lookups,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    held: Option<Held>,
    /// A question that is under way; all who need a token wait for it.
    flight: Option<Flight>,
    /// When the last question failed, and why.
    failed: Option<(Instant, Arc<TokenError>)>,
}

struct Held {
    token: Secret,
    obtained: Instant,
    use_until: Instant,
    /// Whether the one before was refused.
    after_refusal: bool,
}

type Flight = Shared<BoxFuture<'static, Result<Secret, Arc<TokenError>>>>;

/// What a question is asked through: connections, and those who have to know the answer before it is used.
#[derive(Clone)]
pub(crate) struct Asker {
    pub(crate) clients: Arc<Clients>,
    pub(crate) living: Arc<Living>,
}

impl TokenSource {
    pub(super) fn new(
        client: OAuthClient,
        addresses: AddressGrants,
        vault: Arc<Vault>,
        refresh_token: Option<Arc<RefreshToken>>,
        questions: TaskTracker,
    ) -> Self {
        let (owner, lookups, state) = (Arc::default(), Lookups::default(), Mutex::default());
        Self { client, owner, addresses, vault, refresh_token, questions, lookups, state }
    }

    pub(super) fn is_of(&self, client: &OAuthClient, addresses: &AddressGrants) -> bool {
        self.client == *client && self.addresses == *addresses
    }

    pub(super) fn refresh_token(&self) -> Option<Arc<RefreshToken>> {
        self.refresh_token.clone()
    }

    /// A token that is good for now.
    pub(crate) async fn token(self: &Arc<Self>, asker: &Asker) -> Result<Secret, Arc<TokenError>> {
        let flight = {
            let mut state = self.state();
            match &state.held {
                Some(held) if held.is_usable() => return Ok(held.token.clone()),
                _ => self.flight(&mut state, asker, false),
            }
        };
        flight.await
    }

    /// A token other than `refused`; `None` where the server would refuse that too.
    pub(crate) async fn instead_of(
        self: &Arc<Self>,
        refused: &Secret,
        asker: &Asker,
    ) -> Result<Option<Secret>, Arc<TokenError>> {
        let flight = {
            let mut state = self.state();
            match state.held.take() {
                // Somebody else was quicker.
                Some(held) if held.token.expose() != refused.expose() && held.is_usable() => {
                    return Ok(Some(state.held.insert(held).token.clone()));
                }
                Some(held) if held.after_refusal && held.obtained.elapsed() < PAUSE => {
                    state.held = Some(held);
                    return Ok(None);
                }
                _ => self.flight(&mut state, asker, true),
            }
        };
        flight.await.map(Some)
    }

    /// The question under way, or a new one. It goes on when nobody waits for it any more: a refresh token that the
    /// server replaced must reach the vault.
    fn flight(self: &Arc<Self>, state: &mut State, asker: &Asker, after_refusal: bool) -> Flight {
        if let Some(flight) = state.flight.as_ref().filter(|flight| flight.peek().is_none()) {
            return flight.clone();
        }
        if let Some((_, error)) = state.failed.as_ref().filter(|(when, _)| when.elapsed() < INTERVAL) {
            return future::ready(Err(error.clone())).boxed().shared();
        }
        let (source, asker) = (self.clone(), asker.clone());
        let asking = self.questions.spawn(async move {
            let obtained = source.obtain(&asker, after_refusal).await;
            source.land(obtained)
        });
        let flight =
            asking.map(|ended| ended.unwrap_or_else(|_| Err(Arc::new(TokenError::BrokenOff)))).boxed().shared();
        state.flight.insert(flight).clone()
    }

    fn land(&self, obtained: Result<Held, TokenError>) -> Result<Secret, Arc<TokenError>> {
        let mut state = self.state();
        state.flight = None;
        let obtained = obtained.map_err(Arc::new);
        state.failed = obtained.as_ref().err().map(|error| (Instant::now(), error.clone()));
        Ok(state.held.insert(obtained?).token.clone())
    }

    async fn obtain(&self, asker: &Asker, after_refusal: bool) -> Result<Held, TokenError> {
        let mut turn = match &self.refresh_token {
            Some(token) => Some(token.turn().await),
            None => None,
        };
        let refresh_token = match &mut turn {
            Some(turn) => Some(turn.value().await?),
            None => None,
        };
        let secret = read(&self.vault, &self.client.secret).await?;
        let obtained = Instant::now();
        let (clients, refresh) = (&asker.clients, refresh_token.as_ref());
        let asking = endpoint::ask(clients, &self.lookups, &self.client, &self.addresses, &secret, refresh);
        let answer = asking.await?;
        if let (Some(turn), Some(old), Some(new)) = (&mut turn, refresh_token, answer.refresh_token)
            && new.expose() != old.expose()
        {
            // Stored whatever comes of the rest: the old one is worth nothing any more.
            turn.replace(old, new.clone()).await;
            let name = turn.name().to_string();
            announce(asker, new, move |living, new| living.learn_replacement(&name, new)).await?;
        }
        let (use_until, until) = ends(obtained, answer.expires_in);
        let (name, owner) = (format!("{}/access_token", self.client.secret), self.owner.clone());
        let learn = move |living: &Living, token: &Secret| living.learn_token(&owner, &name, token, until);
        announce(asker, answer.access_token.clone(), learn).await?;
        Ok(Held { token: answer.access_token, obtained, use_until, after_refusal })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn is_usable(&self) -> bool {
        Instant::now() < self.use_until || self.obtained.elapsed() < INTERVAL
    }
}

impl fmt::Debug for TokenSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenSource").field("client", &self.client).finish_non_exhaustive()
    }
}

/// Sees to it that `secret` is found wherever it turns up from now on. That takes some milliseconds.
async fn announce(
    asker: &Asker,
    secret: Secret,
    learn: impl FnOnce(&Living, &Secret) -> Result<(), TokenError> + Send + 'static,
) -> Result<(), TokenError> {
    if secret.expose().trim().len() < MIN_CREDENTIAL {
        return Err(TokenError::TooShort);
    }
    let living = asker.living.clone();
    let learnt = tokio::task::spawn_blocking(move || learn(&living, &secret)).await;
    learnt.unwrap_or(Err(TokenError::BrokenOff))
}

/// Until when a token is used, and until when it is looked for.
fn ends(obtained: Instant, lifetime: Option<Duration>) -> (Instant, Instant) {
    let Some(lifetime) = lifetime else { return (obtained + UNTOLD, obtained + LONGEST) };
    let lifetime = lifetime.min(LONGEST);
    let use_until = obtained + lifetime - MARGIN.min(lifetime / 4);
    (use_until, obtained + lifetime + AFTERWARDS)
}

/// A secret of the vault, which may wait for a keyring.
pub(super) async fn read(vault: &Arc<Vault>, name: &SecretName) -> Result<Secret, TokenError> {
    let (vault, wanted) = (vault.clone(), name.clone());
    let read = tokio::task::spawn_blocking(move || vault.get(&wanted)).await;
    let secret = read.map_err(|_| TokenError::BrokenOff)??;
    secret.ok_or_else(|| TokenError::NoSecret(name.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_renewed_before_it_ends_and_looked_for_after() {
        let now = Instant::now();
        let seconds = Duration::from_secs;
        for (lifetime, used) in [(3600, 3570), (120, 90), (20, 15), (0, 0)] {
            let (use_until, until) = ends(now, Some(seconds(lifetime)));
            assert_eq!((use_until - now, until - now), (seconds(used), seconds(lifetime) + AFTERWARDS), "{lifetime}");
        }
        assert_eq!(ends(now, None).0 - now, UNTOLD);
        let (use_until, until) = ends(now, Some(Duration::MAX));
        assert!(use_until < until && until <= now + LONGEST + AFTERWARDS);
    }
}
