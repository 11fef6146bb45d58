//! The two forms: what a manifest asks for, and what a grant file grants.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;

use ringfence_core::LimitSet;
use ringfence_core::grant::{HttpRule, Methods, UrlPattern};
use ringfence_core::tool::RateLimit;
use ringfence_core::tool_state::StateQuota;
use ringfence_egress::{GrantType, OAuth2, Placement, Scope, TokenUrl};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::file_pattern::FilePattern;
use super::name_pattern::NamePattern;
use crate::manifest::ManifestError;
use crate::plain_text;

/// What a package asks for beside limits: `[capabilities]` in `ringfence.toml`. It gets none of it by asking.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Capabilities {
    /// The HTTP requests that its tools make.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub http: Vec<HttpRule>,
    /// The credentials that belong into these requests, under names of the package's own.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub credentials: BTreeMap<String, Credential>,
    /// The secrets that its tools use without seeing them.
    #[serde(skip_serializing_if = "SecretUse::is_empty")]
    pub secrets: SecretUse,
    /// The files of the workspace.
    #[serde(skip_serializing_if = "WorkspaceUse::is_empty")]
    pub workspace: WorkspaceUse,
    /// The names of values that its tools read from their environment.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub env: BTreeSet<String>,
    /// The other tools that its tools call, under names of the package's own; with each, for the operator, what it has to
    /// be.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<String, String>,
    /// How much its tools keep between calls, for each user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<StateQuota>,
}

impl Capabilities {
    /// Checks the names that the package gives, and its words: people will read them, and will write the names into
    /// commands.
    ///
    /// # Errors
    /// [`ManifestError::Capability`].
    pub(crate) fn check(&self) -> Result<(), ManifestError> {
        let wrong = |field, name: &str, problem| ManifestError::Capability {
            field,
            name: name.chars().take(MAX_NAME).collect(),
            problem,
        };
        if let Some(name) = self.env.iter().find(|name| !is_variable(name)) {
            return Err(wrong("env", name, "is no name of a variable: use A-Z, a-z, 0-9 and _, no digit first"));
        }
        let credentials = self.credentials.iter().map(|(name, asked)| ("credentials", name, &asked.description));
        let tools = self.tools.iter().map(|(name, wanted)| ("tools", name, wanted));
        for (field, name, words) in credentials.chain(tools) {
            if !is_name(name) {
                return Err(wrong(field, name, "is no name: use 1 to 64 of A-Z, a-z, 0-9, _, . and -"));
            }
            match plain_text::problem(words) {
                Some(problem) if !words.is_empty() => return Err(wrong(field, name, problem)),
                _ => {}
            }
        }
        Ok(())
    }
}

/// The longest name that a package gives to something, in bytes.
const MAX_NAME: usize = 64;

/// Whether `name` can be that of a credential, or of another tool, in a package.
pub(crate) fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(plain)
}

/// Whether `name` can be that of an environment variable everywhere (POSIX.1, 8.1).
fn is_variable(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    name.bytes().all(plain) && name.bytes().next().is_some_and(|first| !first.is_ascii_digit())
}

/// A credential as a manifest asks for it. The host places it; the tools never see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Credential {
    /// Where it is placed.
    pub place: Placement,
    /// The requests that it is placed into, and no others. They have to be allowed under `http` as well.
    pub requests: Vec<RequestPattern>,
    /// What is placed is no secret but an access token, which the host obtains with one. Then the place is mostly
    /// `bearer`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oauth2: Option<OAuth2>,
    /// Whether these requests are sent without it when the operator gave no secret.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
    /// What it is and where to get one, for the operator.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
}

/// What an operator grants a source: the file `grants/SOURCE.toml`. Where it says more than the package asks for, that
/// has no effect.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Granted {
    /// When all that it gives ends, in RFC 3339, such as `2027-01-31T12:00:00Z`; absent: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires: Option<String>,
    /// The HTTP requests that may be made.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub http: Vec<HttpRule>,
    /// Addresses that are otherwise refused, as ranges such as `127.0.0.0/8` (RFC 4632).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<String>,
    /// The secrets behind the credentials of the package.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub credentials: BTreeMap<String, GrantedCredential>,
    /// The secrets that may be used without being seen.
    #[serde(skip_serializing_if = "SecretUse::is_empty")]
    pub secrets: SecretUse,
    /// The files of the workspace.
    #[serde(skip_serializing_if = "WorkspaceUse::is_empty")]
    pub workspace: WorkspaceUse,
    /// The values of the environment.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// The tools behind the names by which the package calls them, each by its wire name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<String, String>,
    /// How much may be kept between calls, for each user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<StateQuota>,
    /// The most of each limit that its tools get, whatever manifest and configuration say. Holds beyond the end.
    #[serde(skip_serializing_if = "LimitSet::is_empty")]
    pub limits: LimitSet,
    /// How often its tools may be called at most, whatever the configuration says. Holds beyond the end.
    #[serde(skip_serializing_if = "GrantedRate::is_empty")]
    pub rate: GrantedRate,
}

impl Granted {
    /// Whether it speaks of the secret `name`.
    pub fn names(&self, name: &str) -> bool {
        let login = |given: &GrantedCredential| given.oauth2.as_ref().and_then(|client| client.refresh_token.clone());
        let behind = |given: &GrantedCredential| given.secret == name || login(given).as_deref() == Some(name);
        self.credentials.values().any(behind)
            || self.secrets.test.iter().chain(&self.secrets.sign).any(|pattern| pattern.matches(name))
    }
}

/// What the operator puts behind a credential that a package asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GrantedCredential {
    /// The name of the secret in the vault; for an OAuth 2.0 credential, of the client's.
    pub secret: String,
    /// The requests that it may be placed into; absent: all for which the manifest asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<Vec<RequestPattern>>,
    /// The client of the authorization server, for an OAuth 2.0 credential.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oauth2: Option<GrantedOAuth2>,
}

/// Requests by URL and method. Unlike an HTTP rule it lets nothing pass, so it has no limits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestPattern {
    /// To where, as in an HTTP rule.
    pub url: UrlPattern,
    /// How; without it GET and HEAD.
    #[serde(default)]
    pub methods: Methods,
}

/// How often the tools of a source may be called. A number that is left out narrows nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GrantedRate {
    /// Calls in any minute, per caller and tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_minute: Option<NonZeroU32>,
    /// Calls in any hour, per caller and tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_hour: Option<NonZeroU32>,
}

/// An OAuth 2.0 client, and what it may ask for. That is written down here as well: an update of the package that asks
/// another endpoint, or for more, gets no token until the operator grants it again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GrantedOAuth2 {
    /// The client's id. It is no secret.
    pub client_id: String,
    /// The name of the secret in the vault that holds the refresh token, where the package asks with one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh_token: Option<String>,
    /// The token endpoint.
    pub token_url: TokenUrl,
    /// The scopes.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub scopes: BTreeSet<Scope>,
    /// Whom the token is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audience: Option<String>,
}

impl GrantedOAuth2 {
    /// What of `asked` is granted. `None` where it is asked for elsewhere, for somebody else or in another way, or
    /// where no scope is left or asked for: without any, a server gives those that it likes.
    pub fn narrow(&self, asked: &OAuth2) -> Option<OAuth2> {
        let scopes: BTreeSet<Scope> = asked.scopes.intersection(&self.scopes).cloned().collect();
        let agrees = self.token_url == asked.token_url
            && self.audience == asked.audience
            && self.refresh_token.is_some() == (asked.grant == GrantType::RefreshToken)
            && scopes.is_empty() == self.scopes.is_empty();
        agrees.then(|| OAuth2 { scopes, ..asked.clone() })
    }
}

/// Secrets that are used without being seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SecretUse {
    /// Those whose being there may be asked about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub test: Vec<NamePattern>,
    /// Those that the host signs with.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sign: Vec<NamePattern>,
}

/// Files of the workspace, by path below its root.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WorkspaceUse {
    /// Those that are read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<FilePattern>,
    /// Those that are written. Writing does not imply reading.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub write: Vec<FilePattern>,
}

impl From<RequestPattern> for HttpRule {
    fn from(pattern: RequestPattern) -> Self {
        Self::new(pattern.url, pattern.methods)
    }
}

impl GrantedRate {
    /// Whether it narrows nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// As a limit, in which a number that was left out is larger than any other.
    pub fn limit(&self) -> Option<RateLimit> {
        let number = |said: Option<NonZeroU32>| said.map_or(u32::MAX, NonZeroU32::get);
        let limit = RateLimit { per_minute: number(self.per_minute), per_hour: number(self.per_hour) };
        (!self.is_empty()).then_some(limit)
    }
}

impl Granted {
    /// What of it only takes away: limits and rate.
    #[must_use]
    pub fn ceiling(&self) -> Self {
        Self { limits: self.limits.clone(), rate: self.rate, ..Self::default() }
    }

    /// Whether it gives anything that could be used.
    pub fn gives(&self) -> bool {
        Self { expires: None, ..self.clone() } != self.ceiling()
    }
}

impl SecretUse {
    /// Whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        self.test.is_empty() && self.sign.is_empty()
    }
}

impl WorkspaceUse {
    /// Whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        self.read.is_empty() && self.write.is_empty()
    }
}

impl Capabilities {
    /// Whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The grant that gives all that is asked for, as far as it can be given without a choice of the operator's: a
    /// credential needs a secret, an environment a value, and a call of another tool that tool.
    pub fn in_full(&self) -> Granted {
        Granted {
            http: self.http.clone(),
            secrets: self.secrets.clone(),
            workspace: self.workspace.clone(),
            state: self.state,
            ..Granted::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_gives_tokens_for_what_was_granted_and_nothing_else() {
        let granted: GrantedOAuth2 = toml::from_str(
            "client_id = \"c\"\ntoken_url = \"https://a.test/token\"\nscopes = [\"read\", \"list\"]\naudience = \"x\"\n",
        )
        .unwrap();
        let asked = |text: &str| toml::from_str::<OAuth2>(text).unwrap();
        let good = "token_url = \"https://a.test/token\"\ngrant = \"client_credentials\"\nscopes = [\"read\", \"write\"]\n\
                    audience = \"x\"\n";
        let narrowed = granted.narrow(&asked(good)).unwrap();
        assert_eq!(narrowed.scopes.iter().map(Scope::as_str).collect::<Vec<_>>(), ["read"]);
        for (old, new) in [
            ("a.test", "b.test"),
            ("client_credentials", "refresh_token"),
            ("[\"read\", \"write\"]", "[\"write\"]"),
            ("[\"read\", \"write\"]", "[]"),
            ("\"x\"", "\"y\""),
        ] {
            assert_eq!(granted.narrow(&asked(&good.replace(old, new))), None, "{new}");
        }
        let with_refresh_token = GrantedOAuth2 { refresh_token: Some("r".into()), ..granted };
        assert!(with_refresh_token.narrow(&asked(good)).is_none());
        assert!(with_refresh_token.narrow(&asked(&good.replace("client_credentials", "refresh_token"))).is_some());
    }
}
