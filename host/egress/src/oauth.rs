//! Access tokens that the host obtains and renews for tools (RFC 6749), so that a tool sees neither them nor what they
//! are obtained with.
//!
//! [`Tokens`] holds one [`TokenSource`] for each client. It asks the token endpoint when somebody needs a token and
//! none is at hand, once for all who wait. Every token is made known to the leak scan and the scrubber before it is
//! placed, for as long as it lives.

mod endpoint;
mod error;
mod refresh_token;
mod settings;
mod source;

use std::sync::{Arc, Mutex, PoisonError, Weak};

use ringfence_vault::{SecretName, Vault};
use tokio_util::task::TaskTracker;

pub use self::error::TokenError;
use self::refresh_token::RefreshToken;
pub use self::settings::{ClientAuth, GrantType, OAuth2, OAuth2Error, Scope, TokenUrl};
pub(crate) use self::source::Asker;
pub use self::source::TokenSource;
use crate::AddressGrants;

/// A client of an authorization server: what the manifest asks for and what the operator puts behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OAuthClient {
    /// What is asked for, and where.
    pub oauth2: OAuth2,
    /// The client's id (RFC 6749, 2.2). It is no secret.
    pub client_id: String,
    /// The secret with which the client proves who it is.
    pub secret: SecretName,
    /// The secret that holds the refresh token, for [`GrantType::RefreshToken`].
    pub refresh_token: Option<SecretName>,
}

/// The sources of tokens that are in use. Two tools with the same client share its token.
pub struct Tokens {
    vault: Arc<Vault>,
    sources: Mutex<Vec<Known>>,
    /// The questions that are under way. They end by themselves.
    questions: TaskTracker,
}

/// A source that somebody may be using.
struct Known {
    source: Weak<TokenSource>,
    /// Whether whoever asks from now on gets it.
    current: bool,
}

impl Tokens {
    /// Tokens that are obtained with secrets of `vault`.
    pub fn new(vault: Arc<Vault>) -> Self {
        Self { vault, sources: Mutex::default(), questions: TaskTracker::new() }
    }

    /// The source of the tokens of `client`, whose token endpoint is reached at public addresses and those in
    /// `addresses`.
    pub fn of(&self, client: OAuthClient, addresses: AddressGrants) -> Arc<TokenSource> {
        let mut sources = self.sources.lock().unwrap_or_else(PoisonError::into_inner);
        sources.retain(|known| known.source.strong_count() > 0);
        let living = || sources.iter().filter_map(|known| Some((known.source.upgrade()?, known.current)));
        let is_current = |(source, current): &(Arc<TokenSource>, bool)| *current && source.is_of(&client, &addresses);
        if let Some((found, _)) = living().find(is_current) {
            return found;
        }
        // Whoever uses a refresh token that was replaced meanwhile loses all tokens (RFC 9700, 4.14.2): one at a time, also
        // beside who got their source before the last change of secrets.
        let refresh = client.refresh_token.as_ref().map(|name| {
            let shared = living().find_map(|(source, _)| source.refresh_token().filter(|one| one.name() == name));
            shared.unwrap_or_else(|| Arc::new(RefreshToken::new(name.clone(), self.vault.clone())))
        });
        let source = Arc::new(TokenSource::new(client, addresses, self.vault.clone(), refresh, self.questions.clone()));
        sources.push(Known { source: Arc::downgrade(&source), current: true });
        source
    }

    /// Waits until no token endpoint is being asked any more, which is soon: a refresh token that one replaces has to
    /// reach the vault before this process ends.
    pub async fn settled(&self) {
        self.questions.close();
        self.questions.wait().await;
    }

    /// Forgets all tokens: the operator changed secrets, so they may be another account's. Who holds a source may use
    /// it up.
    pub fn forget(&self) {
        let mut sources = self.sources.lock().unwrap_or_else(PoisonError::into_inner);
        sources.iter_mut().for_each(|known| known.current = false);
    }
}
