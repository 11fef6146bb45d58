//! How a registry is logged in to: Basic, or a bearer token from whom the registry names.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::HeaderMap;
use http::header::WWW_AUTHENTICATE;
use ringfence_core::Secret;
use ringfence_core::grant::{HttpRule, Methods, RuleSet};
use ringfence_egress::{BoundCredential, CredentialValue, Placement, Target};
use serde::Deserialize;

use crate::client::{Ask, Client};
use crate::error::DistributionError;
use crate::oci::reference::Reference;

/// The largest answer with a token in it, in bytes.
const MAX_TOKEN: u64 = 256 << 10;

/// What proves to a registry who we are.
#[derive(Clone, Debug)]
pub enum Login {
    /// A name and a password.
    Password {
        /// The name.
        username: String,
        /// The password.
        password: Secret,
    },
    /// A token that is exchanged for others (`identitytoken` in docker's configuration).
    IdentityToken(Secret),
}

impl Login {
    /// The login in an `auth` of docker's configuration: name and password with a colon between, in base64.
    pub fn of_docker(auth: &str) -> Option<Self> {
        let pair = String::from_utf8(STANDARD.decode(auth.trim()).ok()?).ok()?;
        let (username, password) = pair.split_once(':')?;
        Some(Self::Password { username: username.to_owned(), password: Secret::new(password.to_owned()) })
    }

    /// Whom it is for, for people.
    pub(crate) fn who(&self) -> &str {
        match self {
            Self::Password { username, .. } => username,
            Self::IdentityToken(_) => "the logged-in user",
        }
    }
}

/// What is to be done in a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Pull,
    Push,
}

impl Action {
    /// As scopes of tokens call it.
    fn scope(self) -> &'static str {
        match self {
            Self::Pull => "pull",
            Self::Push => "pull,push",
        }
    }

    /// As people call it.
    pub(crate) fn verb(self) -> &'static str {
        match self {
            Self::Pull => "read",
            Self::Push => "write to",
        }
    }
}

/// How a registry wants to be convinced (RFC 9110, 11.6.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Challenge {
    Basic,
    Bearer { realm: String, service: Option<String> },
}

impl Challenge {
    /// The best of the challenges in `headers`: a token is worth less to a thief than a password.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
        let values = headers.get_all(WWW_AUTHENTICATE).iter().filter_map(|value| value.to_str().ok());
        values.filter_map(Self::parse).max_by_key(|challenge| matches!(challenge, Self::Bearer { .. }))
    }

    fn parse(text: &str) -> Option<Self> {
        let (scheme, rest) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
        if scheme.eq_ignore_ascii_case("basic") {
            return Some(Self::Basic);
        }
        let parameters = parameters(rest);
        let get =
            |name: &str| parameters.iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, v)| v.clone());
        let bearer = scheme.eq_ignore_ascii_case("bearer");
        let realm = get("realm").filter(|_| bearer)?;
        Some(Self::Bearer { realm, service: get("service") })
    }
}

/// `name="value", name=value`: quoted values may have commas in them.
fn parameters(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((name, tail)) = rest.split_once('=') {
        let (value, after) = match tail.trim_start().strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => tail.split_at(tail.find(',').unwrap_or(tail.len())),
        };
        found.push((name.trim().to_owned(), value.trim().to_owned()));
        rest = after.trim_start().trim_start_matches(',');
    }
    found
}

/// The credential that answers `challenge` of the registry at `base`, for `action`.
pub(crate) async fn answer(
    client: &Client,
    challenge: &Challenge,
    login: Option<&Login>,
    base: &Target,
    reference: &Reference,
    action: Action,
) -> Result<BoundCredential, DistributionError> {
    let failed =
        |problem: &str| DistributionError::Login { registry: reference.registry.clone(), problem: problem.to_owned() };
    match (challenge, login) {
        (Challenge::Basic, Some(Login::Password { username, password })) => {
            bound("password of the registry", password, Placement::Basic { username: username.clone() }, base)
                .ok_or_else(|| failed("its address has no rule"))
        }
        (Challenge::Basic, Some(Login::IdentityToken(_))) => {
            Err(failed("it wants a password, and docker's configuration has a token: log in again with `docker login`"))
        }
        (Challenge::Basic, None) => Err(forbidden(reference, None, action)),
        (Challenge::Bearer { realm, service }, _) => {
            let realm = Target::parse(realm).map_err(|error| failed(&format!("where its tokens are: {error}")))?;
            // A password must not go in the clear, but to the very host that is asked in the clear anyway.
            let in_the_clear_anyway = base.url().scheme() != "https" && realm.seen().host() == base.seen().host();
            if realm.url().scheme() != "https" && !in_the_clear_anyway {
                return Err(failed("its tokens are at an http:// address, where everybody could read the password"));
            }
            let token = token(client, &realm, service.as_deref(), login, reference, action).await?;
            bound("token of the registry", &token, Placement::Bearer, base)
                .ok_or_else(|| failed("its address has no rule"))
        }
    }
}

/// The error of whom the registry does not let.
pub(crate) fn forbidden(reference: &Reference, login: Option<&Login>, action: Action) -> DistributionError {
    DistributionError::Forbidden {
        registry: reference.registry.clone(),
        who: login.map_or_else(|| "somebody who is not logged in".into(), |login| format!("`{}`", login.who())),
        action: action.verb(),
        repository: reference.repository.clone(),
    }
}

#[derive(Deserialize)]
struct TokenAnswer {
    token: Option<String>,
    access_token: Option<String>,
}

async fn token(
    client: &Client,
    realm: &Target,
    service: Option<&str>,
    login: Option<&Login>,
    reference: &Reference,
    action: Action,
) -> Result<Secret, DistributionError> {
    let what = format!("the token of {}", reference.registry);
    let scope = format!("repository:{}:{}", reference.repository, action.scope());
    let mut url = realm.url().clone();
    let mut fields: Vec<(&str, &str)> = service.map(|service| ("service", service)).into_iter().collect();
    fields.push(("scope", &scope));
    let mut credential = None;
    let mut body = Bytes::new();
    match login {
        Some(Login::IdentityToken(token)) => {
            fields.extend([
                ("grant_type", "refresh_token"),
                ("client_id", "ringfence"),
                ("refresh_token", token.expose()),
            ]);
            let form = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
            body = Bytes::from(form);
        }
        login => {
            url.query_pairs_mut().extend_pairs(fields);
            if let Some(Login::Password { username, password }) = login {
                let place = Placement::Basic { username: username.clone() };
                credential = bound("password of the registry", password, place, realm);
            }
        }
    }
    let form = ("content-type", "application/x-www-form-urlencoded");
    let asked = Ask {
        method: if body.is_empty() { "GET" } else { "POST" },
        headers: if body.is_empty() { &[] } else { &[form] },
        body,
        ..Ask::get(url.as_str(), &what, MAX_TOKEN)
    };
    let answer = client.ask(&asked, credential.as_ref()).await?;
    if [401, 403].contains(&answer.status.as_u16()) {
        return Err(forbidden(reference, login, action));
    }
    let answer: Option<TokenAnswer> = serde_json::from_slice(&answer.success(&what)?).ok();
    let token = answer.and_then(|answer| answer.token.or(answer.access_token)).filter(|token| !token.is_empty());
    token.map(Secret::new).ok_or_else(|| DistributionError::Login {
        registry: reference.registry.clone(),
        problem: "its token server answers without a token".into(),
    })
}

/// `secret`, for requests to the origin of `target` and to no other.
fn bound(name: &str, secret: &Secret, placement: Placement, target: &Target) -> Option<BoundCredential> {
    let url = format!("{}/**", target.seen().origin()).parse().ok()?;
    let rules = RuleSet::new(vec![HttpRule::new(url, Methods::All)]);
    Some(BoundCredential {
        name: name.to_owned(),
        value: CredentialValue::Fixed(secret.clone()),
        placement,
        bound_to: vec![rules],
    })
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use proptest::prelude::*;

    use super::*;

    fn challenge(values: &[&str]) -> Option<Challenge> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(WWW_AUTHENTICATE, HeaderValue::from_str(value).unwrap());
        }
        Challenge::of(&headers)
    }

    #[test]
    fn challenges_of_real_registries_are_understood() {
        let bearer = |realm: &str, service: Option<&str>| {
            Some(Challenge::Bearer { realm: realm.into(), service: service.map(str::to_owned) })
        };
        let docker = r#"Bearer realm="https://auth.docker.io/token",service="registry.docker.io",scope="repository:a:pull,push""#;
        assert_eq!(challenge(&[docker]), bearer("https://auth.docker.io/token", Some("registry.docker.io")));
        assert_eq!(challenge(&[r#"bearer Realm = "https://a/t" , error="x""#]), bearer("https://a/t", None));
        assert_eq!(challenge(&[r#"Basic realm="Registry Realm""#]), Some(Challenge::Basic));
        assert_eq!(challenge(&["Basic"]), Some(Challenge::Basic));
        assert_eq!(challenge(&["Basic", r#"Bearer realm="https://a/t""#]), bearer("https://a/t", None));
        assert_eq!(challenge(&["Negotiate", "Bearer", "Digest realm=\"x\""]), None);
    }

    #[test]
    fn logins_of_docker_are_name_and_password() {
        let Some(Login::Password { username, password }) = Login::of_docker("dGVzdDpwYXNzOndvcmQ=\n") else { panic!() };
        assert_eq!((username.as_str(), password.expose()), ("test", "pass:word"));
        assert!(Login::of_docker("dGVzdA==").is_none() && Login::of_docker("!").is_none());
    }

    #[test]
    fn a_credential_is_for_one_origin() {
        let target = Target::parse("http://127.0.0.1:5000/v2/").unwrap();
        let bound = bound("x", &Secret::new("y".into()), Placement::Bearer, &target).unwrap();
        let decides = |url: &str| bound.bound_to[0].decide(Target::parse(url).unwrap().seen(), "PUT").is_ok();
        assert!(decides("http://127.0.0.1:5000/v2/a/blobs/uploads/"));
        assert!(!decides("http://127.0.0.1:5001/v2/") && !decides("https://127.0.0.1:5000/v2/"));
    }

    proptest! {
        #[test]
        fn no_challenge_ends_the_host(text in "\\PC{0,60}", tail in "[a-z=\", ]{0,40}") {
            let _ = (Challenge::parse(&text), Challenge::parse(&format!("Bearer {tail}")));
        }
    }
}
