//! What a manifest says of an OAuth 2.0 credential.

use std::collections::BTreeSet;
use std::fmt;

use ringfence_core::grant::Scheme;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use url::Host;

use crate::target::{Target, TargetError};

/// A credential that is an access token, which the host obtains at a token endpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OAuth2 {
    /// The token endpoint (RFC 6749, 3.2).
    pub token_url: TokenUrl,
    /// What the host obtains tokens with.
    pub grant: GrantType,
    /// What the token is to be good for (RFC 6749, 3.3). Absent: what the server gives unasked.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub scopes: BTreeSet<Scope>,
    /// Whom the token is for, where the server wants to be told: its parameter `audience`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audience: Option<String>,
    /// How the client proves who it is.
    #[serde(default)]
    pub client_auth: ClientAuth,
}

/// What the host obtains tokens with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GrantType {
    /// The client's own secret (RFC 6749, 4.4).
    ClientCredentials,
    /// A refresh token that somebody got by logging in (RFC 6749, 6). Where the server replaces it, the vault has the
    /// new one.
    RefreshToken,
}

/// How a client proves who it is (RFC 6749, 2.3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClientAuth {
    /// Id and secret in the header `Authorization: Basic`, which every server has to take.
    #[default]
    ClientSecretBasic,
    /// Id and secret in the body.
    ClientSecretPost,
}

/// The URL of a token endpoint: https, or http to this machine, where nobody reads along.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(extend("pattern" = "^https?://"))]
pub struct TokenUrl(Target);

/// A scope (RFC 6749, 3.3).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(extend("pattern" = "^[!#-\\[\\]-~]+$"))]
pub struct Scope(String);

/// Why a text is no part of an OAuth 2.0 credential.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum OAuth2Error {
    /// Not a URL.
    #[error("the token URL cannot be used: {0}")]
    Url(#[from] TargetError),
    /// A secret would be sent in the clear.
    #[error("the token URL has to be https: secrets are sent there (http only to an address of this machine)")]
    InTheClear,
    /// Not a scope.
    #[error("`{}` is no scope: one has visible ASCII characters but `\"` and `\\`, and no space", .0.escape_debug())]
    Scope(String),
}

impl TokenUrl {
    pub(crate) fn target(&self) -> &Target {
        &self.0
    }
}

impl Scope {
    /// The scope as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for TokenUrl {
    type Error = OAuth2Error;

    fn try_from(text: String) -> Result<Self, OAuth2Error> {
        let target = Target::parse(&text)?;
        let is_here = match target.seen().host() {
            Host::Ipv4(address) => address.is_loopback(),
            Host::Ipv6(address) => address.is_loopback(),
            // Where a name leads, somebody else decides.
            Host::Domain(_) => false,
        };
        match target.seen().scheme() == Scheme::Https || is_here {
            true => Ok(Self(target)),
            false => Err(OAuth2Error::InTheClear),
        }
    }
}

impl From<TokenUrl> for String {
    fn from(url: TokenUrl) -> Self {
        url.to_string()
    }
}

impl fmt::Display for TokenUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.url().as_str())
    }
}

impl TryFrom<String> for Scope {
    type Error = OAuth2Error;

    fn try_from(text: String) -> Result<Self, OAuth2Error> {
        let good = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"\\".contains(&byte));
        if good { Ok(Self(text)) } else { Err(OAuth2Error::Scope(text)) }
    }
}

impl From<Scope> for String {
    fn from(scope: Scope) -> Self {
        scope.0
    }
}

impl fmt::Display for GrantType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ClientCredentials => "client_credentials",
            Self::RefreshToken => "refresh_token",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<OAuth2, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    #[test]
    fn is_read_with_its_defaults_and_written_without_them() {
        let text = r#"{"token_url":"https://a.test/token","grant":"client_credentials"}"#;
        let read = parse(text).unwrap();
        assert_eq!((read.client_auth, read.scopes.len()), (ClientAuth::ClientSecretBasic, 0));
        let full = r#"{"token_url":"https://a.test/token","grant":"refresh_token","scopes":["a","b:c"],"audience":"x","client_auth":"client_secret_post"}"#;
        assert_eq!(serde_json::to_string(&parse(full).unwrap()).unwrap(), full);
    }

    #[test]
    fn secrets_go_nowhere_in_the_clear() {
        let with = |url: &str| TokenUrl::try_from(url.to_owned());
        for good in ["https://a.test/token?x=1", "http://127.0.0.1:8080/token", "http://[::1]/token"] {
            assert_eq!(with(good).unwrap().to_string(), good);
        }
        for bad in ["http://a.test/token", "http://localhost/token", "http://10.0.0.1/token"] {
            assert_eq!(with(bad).unwrap_err(), OAuth2Error::InTheClear, "{bad}");
        }
        assert!(matches!(with("ftp://a.test/"), Err(OAuth2Error::Url(_))));
        assert!(matches!(with("https://u:p@a.test/"), Err(OAuth2Error::Url(_))));
    }

    #[test]
    fn what_means_nothing_is_refused() {
        for (text, part) in [
            (r#"{"token_url":"https://a.test/","grant":"password"}"#, "password"),
            (r#"{"token_url":"https://a.test/","grant":"refresh_token","scopes":["a b"]}"#, "no scope"),
            (r#"{"token_url":"https://a.test/","grant":"refresh_token","scopes":[""]}"#, "no scope"),
            (r#"{"token_url":"https://a.test/","grant":"refresh_token","scope":"a"}"#, "unknown field"),
            (r#"{"token_url":"https://a.test/","grant":"refresh_token","client_auth":"none"}"#, "none"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
