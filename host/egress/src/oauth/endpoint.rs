//! One question to a token endpoint, and its answer.

use std::net::IpAddr;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::TryStreamExt as _;
use http::header::{ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method};
use ringfence_core::Secret;
use serde::Deserialize;
use serde_json::Value;
use url::{Host, form_urlencoded};
use zeroize::Zeroizing;

use super::{ClientAuth, OAuthClient, TokenError};
use crate::AddressGrants;
use crate::client::{Clients, Message};
use crate::error::EgressError;
use crate::outgoing::Outgoing;
use crate::resolve::Lookups;

/// The longest time for question and answer.
pub(super) const TIME: Duration = Duration::from_secs(20);

/// The longest answer, in bytes. The largest of real ones, with many claims in a JWT, have some 10 KiB.
pub(super) const MAX_ANSWER: usize = 64 << 10;

/// The longest token, in bytes. Common servers take no header section of more than 8 KiB (nginx, Apache, Tomcat) to 16 KiB
/// (Node.js), so a longer access token is of no use, and no refresh token is as long as an access token.
pub(super) const MAX_TOKEN: usize = 8 << 10;

/// The error codes of RFC 6749, 5.2. Only these are repeated.
const CODES: [&str; 6] = [
    "invalid_request",
    "invalid_client",
    "invalid_grant",
    "unauthorized_client",
    "unsupported_grant_type",
    "invalid_scope",
];

/// What a token endpoint gives.
pub(super) struct Answer {
    pub(super) access_token: Secret,
    /// How long that lives, where it says.
    pub(super) expires_in: Option<Duration>,
    /// What stands for the refresh token from now on.
    pub(super) refresh_token: Option<Secret>,
}

/// Asks for a token for `client`.
pub(super) async fn ask(
    clients: &Clients,
    lookups: &Lookups,
    client: &OAuthClient,
    addresses: &AddressGrants,
    secret: &Secret,
    refresh_token: Option<&Secret>,
) -> Result<Answer, TokenError> {
    let target = client.oauth2.token_url.target();
    let literal: Option<IpAddr> = match target.seen().host() {
        Host::Ipv4(address) => Some((*address).into()),
        Host::Ipv6(address) => Some((*address).into()),
        Host::Domain(_) => None,
    };
    literal.map_or(Ok(()), |address| addresses.check(address))?;
    let unreachable = |error| TokenError::Unreachable(Box::new(EgressError::of_client(target.seen().origin(), error)));
    let exchange = async {
        // Redirects are not followed: the secrets are for this endpoint.
        let question =
            Message::new(question(client, secret, refresh_token)).map_err(|error| unreachable(error.into()))?;
        let mut answer = clients.get(addresses).exchange(question, None, lookups).await.map_err(unreachable)?;
        let status = answer.status.as_u16();
        let mut body = Zeroizing::new(Vec::new());
        while let Some(frame) = answer.body.try_next().await.map_err(|error| unreachable(error.into()))? {
            let Ok(chunk) = frame.into_data() else { continue };
            if body.len() + chunk.len() > MAX_ANSWER {
                return Err(TokenError::TooLong);
            }
            body.extend_from_slice(&chunk);
        }
        Ok((status, body))
    };
    let (status, body) = tokio::time::timeout(TIME, exchange).await.map_err(|_| TokenError::Slow)??;
    if status == 200 { token(&body)?.of_size(client) } else { Err(TokenError::Refused { status, code: code(&body) }) }
}

fn question(client: &OAuthClient, secret: &Secret, refresh_token: Option<&Secret>) -> Outgoing {
    let (id, secret) = (client.client_id.as_str(), secret.expose().trim());
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
    let mut form = form_urlencoded::Serializer::new(String::new());
    match refresh_token {
        Some(token) => {
            form.append_pair("grant_type", "refresh_token").append_pair("refresh_token", token.expose().trim());
        }
        None => {
            form.append_pair("grant_type", "client_credentials");
        }
    }
    let scopes: Vec<&str> = client.oauth2.scopes.iter().map(super::Scope::as_str).collect();
    if !scopes.is_empty() {
        form.append_pair("scope", &scopes.join(" "));
    }
    if let Some(audience) = &client.oauth2.audience {
        form.append_pair("audience", audience);
    }
    match client.oauth2.client_auth {
        ClientAuth::ClientSecretBasic => {
            headers.insert(AUTHORIZATION, basic(id, secret));
        }
        ClientAuth::ClientSecretPost => {
            form.append_pair("client_id", id).append_pair("client_secret", secret);
        }
    }
    let url = client.oauth2.token_url.target().url().clone();
    Outgoing { method: Method::POST, url, headers, body: form.finish().into() }
}

/// Id and secret, each form-encoded first (RFC 6749, 2.3.1).
fn basic(id: &str, secret: &str) -> HeaderValue {
    let encoded = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    let pair = Zeroizing::new(format!("{}:{}", encoded(id), encoded(secret)));
    // Base64 is always a header value.
    let value = HeaderValue::from_str(&format!("Basic {}", STANDARD.encode(pair.as_bytes())));
    let mut value = value.unwrap_or(HeaderValue::from_static("Basic"));
    value.set_sensitive(true);
    value
}

/// A token, as RFC 6749, 5.1 has it. Other members are not looked at.
#[derive(Deserialize)]
struct TokenAnswer {
    access_token: String,
    token_type: String,
    expires_in: Option<Value>,
    refresh_token: Option<String>,
}

fn token(body: &[u8]) -> Result<Answer, TokenError> {
    let answer: TokenAnswer =
        serde_json::from_slice(body).map_err(|_| TokenError::NoToken("it is not RFC 6749's JSON"))?;
    let answer = Answer {
        access_token: Secret::new(answer.access_token),
        expires_in: lifetime(answer.expires_in.as_ref())?,
        refresh_token: answer.refresh_token.filter(|token| !token.is_empty()).map(Secret::new),
    }
    .of_type(&answer.token_type)?;
    // RFC 6749, appendix A.12.
    match answer.access_token.expose().bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
        true => Ok(answer),
        false => Err(TokenError::NoToken("the token has characters that no token has")),
    }
}

impl Answer {
    /// What is placed is placed as it is, so it has to be enough to hold it (RFC 6750).
    fn of_type(self, token_type: &str) -> Result<Self, TokenError> {
        match token_type.eq_ignore_ascii_case("bearer") {
            true => Ok(self),
            false => Err(TokenError::NoToken("its type is not `Bearer`")),
        }
    }

    /// All that a token can be spelt like is kept in memory while it lives.
    fn of_size(self, client: &OAuthClient) -> Result<Self, TokenError> {
        let lengths = [
            ("an access token", self.access_token.expose().len()),
            ("a refresh token", self.refresh_token.as_ref().map_or(0, |token| token.expose().len())),
        ];
        match lengths.into_iter().find(|(_, length)| *length > MAX_TOKEN) {
            None => Ok(self),
            Some((what, length)) => {
                let host = client.oauth2.token_url.target().seen().host().to_string();
                Err(TokenError::Oversized { host, what, length })
            }
        }
    }
}

/// Seconds. Some servers write the number as a text.
fn lifetime(value: Option<&Value>) -> Result<Option<Duration>, TokenError> {
    let seconds = match value {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(text)) => text.parse().ok(),
        Some(value) => value.as_u64().or_else(|| value.as_f64().filter(|f| *f >= 0.0).map(|f| f as u64)),
    };
    let seconds = seconds.ok_or(TokenError::NoToken("`expires_in` is no number of seconds"))?;
    Ok(Some(Duration::from_secs(seconds)))
}

fn code(body: &[u8]) -> Option<&'static str> {
    #[derive(Deserialize)]
    struct ErrorAnswer {
        error: String,
    }
    let answer: ErrorAnswer = serde_json::from_slice(body).ok()?;
    CODES.into_iter().find(|code| *code == answer.error)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::oauth::{GrantType, OAuth2};

    fn client(auth: ClientAuth) -> OAuthClient {
        let oauth2 = OAuth2 {
            token_url: "https://a.test/token".to_owned().try_into().unwrap(),
            grant: GrantType::ClientCredentials,
            scopes: ["b:c", "a"].map(|scope| scope.to_owned().try_into().unwrap()).into(),
            audience: Some("https://api.test/".into()),
            client_auth: auth,
        };
        let secret = "client_secret".parse().unwrap();
        OAuthClient { oauth2, client_id: "my client".into(), secret, refresh_token: None }
    }

    fn sent(auth: ClientAuth, refresh_token: Option<&str>) -> (Option<String>, String) {
        let refresh_token = refresh_token.map(|token| Secret::new(token.into()));
        let request = question(&client(auth), &Secret::new("s3cret+v&lue\n".into()), refresh_token.as_ref());
        let header = request.headers.get(AUTHORIZATION).map(|value| value.to_str().unwrap().to_owned());
        (header, String::from_utf8(request.body.to_vec()).unwrap())
    }

    #[test]
    fn every_setting_is_sent() {
        let (header, body) = sent(ClientAuth::ClientSecretBasic, None);
        // `my+client:s3cret%2Bv%26lue`, as RFC 6749, 2.3.1 wants it.
        assert_eq!(header.unwrap(), "Basic bXkrY2xpZW50OnMzY3JldCUyQnYlMjZsdWU=");
        assert_eq!(body, "grant_type=client_credentials&scope=a+b%3Ac&audience=https%3A%2F%2Fapi.test%2F");
        let (header, body) = sent(ClientAuth::ClientSecretPost, Some("refresh/token"));
        assert_eq!(header, None);
        assert!(body.starts_with("grant_type=refresh_token&refresh_token=refresh%2Ftoken&scope="), "{body}");
        assert!(body.ends_with("&client_id=my+client&client_secret=s3cret%2Bv%26lue"), "{body}");
    }

    #[test]
    fn lifetimes_are_numbers_or_texts_of_numbers() {
        for (text, seconds) in [("3600", Some(3600)), ("\"3599\"", Some(3599)), ("1e3", Some(1000)), ("null", None)] {
            let body = format!(r#"{{"access_token":"t","token_type":"BEARER","expires_in":{text},"more":1}}"#);
            assert_eq!(token(body.as_bytes()).unwrap().expires_in, seconds.map(Duration::from_secs), "{text}");
        }
    }

    #[test]
    fn what_is_no_token_is_refused() {
        for body in [
            "",
            "access_token=t&token_type=bearer",
            r#"{"access_token":"t"}"#,
            r#"{"token_type":"bearer"}"#,
            r#"{"access_token":"t","token_type":"mac"}"#,
            r#"{"access_token":"a\nb","token_type":"bearer"}"#,
            r#"{"access_token":"t","token_type":"bearer","expires_in":-1}"#,
            r#"{"access_token":"t","token_type":"bearer","expires_in":"soon"}"#,
        ] {
            assert!(matches!(token(body.as_bytes()), Err(TokenError::NoToken(_))), "{body}");
        }
    }

    #[test]
    fn only_known_codes_are_repeated() {
        assert_eq!(code(br#"{"error":"invalid_grant","error_description":"s3cret"}"#), Some("invalid_grant"));
        assert_eq!(code(br#"{"error":"s3cret+value"}"#), None);
        assert_eq!(code(b"s3cret"), None);
    }

    proptest! {
        #[test]
        fn no_answer_is_a_panic(body in proptest::collection::vec(any::<u8>(), 0..200), lifetime in any::<f64>()) {
            let _ = token(&body);
            let _ = code(&body);
            let _ = token(format!(r#"{{"access_token":"t","token_type":"bearer","expires_in":{lifetime}}}"#).as_bytes());
        }
    }
}
