//! Why there is no token.

use ringfence_core::finish::scrub::ScrubberError;
use ringfence_vault::{SecretName, VaultError};
use thiserror::Error;

use crate::MIN_CREDENTIAL;
use crate::address::AddressRefused;
use crate::error::EgressError;
use crate::scan::ScannerError;

/// Why there is no token. It never repeats what the token endpoint says: a secret that it was sent may be in that.
#[derive(Debug, Error)]
pub enum TokenError {
    /// A secret of the client cannot be read.
    #[error("the client's secrets cannot be read")]
    Vault(#[from] VaultError),
    /// There is no such secret.
    #[error("there is no secret `{0}`, with which it is obtained: store it with `ringfence secret set {0}`")]
    NoSecret(SecretName),
    /// The URL of the token endpoint names an address that nothing connects to.
    #[error("its token endpoint must not be reached")]
    Address(#[from] AddressRefused),
    /// The token endpoint cannot be reached.
    #[error("its token endpoint cannot be reached: {}", .0.for_operator("the host"))]
    Unreachable(Box<EgressError>),
    /// It does not answer in time.
    #[error("its token endpoint did not answer within {} s", super::endpoint::TIME.as_secs())]
    Slow,
    /// It answers with more than any token.
    #[error("the answer of its token endpoint is longer than {} bytes", super::endpoint::MAX_ANSWER)]
    TooLong,
    /// It refuses.
    #[error("its token endpoint refused with status {status}{}: {}", of_code(.code), remedy(.code))]
    Refused {
        /// The status.
        status: u16,
        /// The error code, where it is one of RFC 6749, 5.2.
        code: Option<&'static str>,
    },
    /// Its answer is no token.
    #[error("its token endpoint answered with something else than a token: {0}")]
    NoToken(&'static str),
    /// What it gives could not be told from other text.
    #[error(
        "its token endpoint gave a token of fewer than {MIN_CREDENTIAL} bytes, which could not be found where it comes \
         back"
    )]
    TooShort,
    /// What it gives is longer than any that a server takes.
    #[error(
        "its token endpoint `{host}` gave {what} of {length} bytes, and servers take none of more than {}: ask for fewer \
         scopes, or whoever runs it for tokens with fewer claims",
        super::endpoint::MAX_TOKEN
    )]
    Oversized {
        /// The host of the token endpoint.
        host: String,
        /// Which token.
        what: &'static str,
        /// How long it is.
        length: usize,
    },
    /// Results could not be searched for it.
    #[error("the token cannot be kept out of results")]
    Scrubber(#[from] ScrubberError),
    /// What guests send and receive could not be searched for it.
    #[error("the token cannot be kept out of responses")]
    Scanner(#[from] ScannerError),
    /// The host stopped asking.
    #[error("obtaining it was broken off")]
    BrokenOff,
}

impl TokenError {
    /// Whether the operator has to do something about it; else it may be better later.
    pub fn is_lasting(&self) -> bool {
        match self {
            Self::NoSecret(_) | Self::Address(_) | Self::Oversized { .. } => true,
            Self::Refused { status, .. } => (400..500).contains(status) && *status != 429,
            _ => false,
        }
    }
}

fn of_code(code: &Option<&str>) -> String {
    code.map(|code| format!(" ({code})")).unwrap_or_default()
}

fn remedy(code: &Option<&str>) -> &'static str {
    match code {
        Some("invalid_client") => {
            "the client id or its secret is wrong; `ringfence secret rotate NAME` replaces a secret"
        }
        Some("invalid_grant") => {
            "the refresh token is used up or revoked; log in anew and store it with `ringfence secret rotate NAME`"
        }
        Some("invalid_scope") => "it does not give these scopes to this client",
        Some("unauthorized_client" | "unsupported_grant_type") => "it does not give tokens to this client in this way",
        _ => "ask whoever runs it",
    }
}
