//! Why a request was not sent, or its response not delivered.

use std::error::Error as StdError;
use std::fmt::Write as _;
use std::sync::Arc;

use ringfence_core::limit::LimitExceeded;
use thiserror::Error;

use crate::access::Denied;
use crate::address::AddressRefused;
use crate::client::ClientError;
use crate::credential::CredentialError;
use crate::decode::DecodeError;
use crate::oauth::TokenError;
use crate::redirect::RedirectError;
use crate::request::RequestError;
use crate::resolve::ResolveError;
use crate::scan::Leak;
use crate::tls_fault::TlsFault;
use crate::upload::UploadError;

/// Why a request was not sent, or its response not delivered. `Display` is the guest's text: it holds no address that
/// the guest did not send, no secret, and nothing of the operator's rules.
#[derive(Debug, Error)]
pub enum EgressError {
    /// There can be no such request.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// There is nothing that it could reach.
    #[error("nothing was granted to this tool, or its grant has ended")]
    Nothing,
    /// No rule lets it pass.
    #[error("this tool may not reach {}", .0.refusal)]
    Denied(Denied),
    /// No rule lets pass where the server redirects to.
    #[error("the server redirects to {}, which this tool may not reach: {}", .0.refusal.target.origin(), .0.refusal.reason())]
    RedirectDenied(Denied),
    /// Where a server redirects to was not asked, or did not answer: the requests before were sent.
    #[error("after a redirect: {0}")]
    AfterRedirect(#[source] Box<Self>),
    /// The URL names an address that nothing connects to.
    #[error("the URL names an address that this tool may not reach")]
    Address(#[from] AddressRefused),
    /// The name could not be resolved, or one of its addresses is refused.
    #[error("{}", without_address(.0))]
    Resolve(ResolveError),
    /// The credential that belongs into it has no value.
    #[error("the request needs the credential `{name}`, for which this host has no value")]
    Lacking {
        /// What the package calls it.
        name: String,
        /// What the operator can do about it.
        remedy: String,
    },
    /// A token that belongs into it could not be obtained.
    #[error("the access token `{name}`, which the request needs, could not be obtained")]
    Token {
        /// What the operator calls it.
        name: String,
        /// Why not.
        #[source]
        source: Arc<TokenError>,
    },
    /// A credential could not be placed.
    #[error(transparent)]
    Credential(#[from] CredentialError),
    /// The guest, or a redirect, sends a secret where the host did not place one.
    #[error(transparent)]
    Leak(#[from] Leak),
    /// The body of the request was not sent to its end.
    #[error(transparent)]
    Upload(UploadError),
    /// The response is encoded so that nobody can look through it.
    #[error(transparent)]
    Decode(DecodeError),
    /// The server redirects where nobody follows.
    #[error(transparent)]
    Redirect(#[from] RedirectError),
    /// A limit was reached.
    #[error("{0}")]
    Limit(#[from] LimitExceeded),
    /// A connection that cannot be trusted.
    #[error("{origin} could not be connected to")]
    Tls {
        /// Scheme, host and port.
        origin: String,
        /// Why not.
        #[source]
        source: TlsFault,
    },
    /// No connection.
    #[error("{origin} could not be connected to")]
    Connect {
        /// Scheme, host and port.
        origin: String,
        /// What went wrong.
        #[source]
        source: ClientError,
    },
    /// The connection broke, or what came over it was not HTTP.
    #[error("{origin} did not answer properly")]
    Transport {
        /// Scheme, host and port.
        origin: String,
        /// What went wrong.
        #[source]
        source: ClientError,
    },
}

fn without_address(error: &ResolveError) -> String {
    match error {
        ResolveError::Refused { name, .. } => {
            format!("the name `{name}` leads to an address that this tool may not reach")
        }
        other => other.to_string(),
    }
}

impl EgressError {
    /// What the HTTP client says of a request to `origin`.
    pub(crate) fn of_client(origin: String, error: ClientError) -> Self {
        let ClientError::Connect(cause) = &error else {
            return match error {
                ClientError::Slow(_) => Self::Connect { origin, source: error },
                _ => Self::Transport { origin, source: error },
            };
        };
        if let Some(own) = cause_of(&**cause, |cause| cause.downcast_ref().map(ResolveError::again)) {
            return Self::Resolve(own);
        }
        match cause_of(&**cause, TlsFault::of) {
            Some(fault) => Self::Tls { origin, source: fault },
            None => Self::Connect { origin, source: error },
        }
    }

    /// What decoding says: our own error, where the body broke off before.
    pub(crate) fn of_decoding(error: DecodeError) -> Self {
        match error {
            DecodeError::Transport(cause) => match cause.downcast::<Self>() {
                Ok(own) => *own,
                Err(cause) => Self::Decode(DecodeError::Transport(cause)),
            },
            other => Self::Decode(other),
        }
    }

    /// The same, of a redirect: then the URL is the server's and not the guest's, and a request was sent before.
    pub(crate) fn of_redirect(self) -> Self {
        match self {
            Self::Denied(denied) => Self::RedirectDenied(denied),
            // What a call may use is used up, wherever that shows.
            Self::Limit(exceeded) => Self::Limit(exceeded),
            other => Self::AfterRedirect(Box::new(other)),
        }
    }

    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Request(_) => "http.request",
            Self::Nothing => "http.nothing_granted",
            Self::Denied(_) => "http.denied",
            Self::RedirectDenied(_) => "http.redirect_denied",
            Self::AfterRedirect(cause) => cause.code(),
            Self::Address(_) | Self::Resolve(ResolveError::Refused { .. }) => "http.address",
            Self::Resolve(_) => "http.resolve",
            Self::Lacking { .. } => "http.credential_lacking",
            Self::Token { .. } => "http.token",
            Self::Credential(error) => error.code(),
            Self::Leak(_) => "http.leak",
            Self::Upload(_) => "http.upload",
            Self::Decode(error) => error.code(),
            Self::Redirect(_) => "http.redirect",
            Self::Limit(_) => "http.limit",
            Self::Tls { .. } => "http.tls",
            Self::Connect { .. } => "http.connect",
            Self::Transport { .. } => "http.transport",
        }
    }

    /// What the guest reads.
    pub fn for_guest(&self) -> String {
        self.to_string()
    }

    /// What the operator reads: the whole reason, and what to do about it.
    pub fn for_operator(&self, tool: &str) -> String {
        match self {
            Self::Denied(denied) => denied.refusal.for_operator(tool),
            Self::RedirectDenied(denied) => format!("after a redirect, {}", denied.refusal.for_operator(tool)),
            Self::AfterRedirect(cause) => format!("after a redirect: {}", cause.for_operator(tool)),
            Self::Address(refused) => format!("`{tool}` may not reach an address of this kind: {refused}"),
            Self::Resolve(ResolveError::Refused { name, refused }) => {
                format!("`{tool}` may not reach `{name}`: {refused}")
            }
            Self::Lacking { name, remedy } => format!("`{tool}` lacks the credential `{name}`: {remedy}"),
            Self::Limit(exceeded) => format!("{exceeded}: {}", exceeded.remedy(tool, "the configuration")),
            Self::Resolve(error) => chain(error),
            Self::Nothing => format!("`{tool}`: {self}; `ringfence grants` shows what it asks for and has"),
            Self::Request(_) | Self::Redirect(_) | Self::Leak(_) | Self::Upload(_) => self.to_string(),
            Self::Credential(_)
            | Self::Token { .. }
            | Self::Decode(_)
            | Self::Tls { .. }
            | Self::Connect { .. }
            | Self::Transport { .. } => chain(self),
        }
    }
}

/// A secret and a limit are what they are in a request that is sent as a whole.
impl From<UploadError> for EgressError {
    fn from(error: UploadError) -> Self {
        match error {
            UploadError::Leak(leak) => Self::Leak(leak),
            UploadError::Limit(exceeded) => Self::Limit(exceeded),
            other => Self::Upload(other),
        }
    }
}

/// An error and all that caused it.
fn chain(error: &dyn StdError) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        // Writing to a string succeeds.
        let _ = write!(text, ": {error}");
        cause = error.source();
    }
    text
}

/// What `of` makes of the first of `error` and its causes that it knows.
fn cause_of<T>(error: &(dyn StdError + 'static), of: impl Fn(&(dyn StdError + 'static)) -> Option<T>) -> Option<T> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(known) = of(error) {
            return Some(known);
        }
        cause = error.source();
    }
    None
}
