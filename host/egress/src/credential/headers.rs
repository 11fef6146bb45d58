//! Headers: those that credentials go into, those that a guest never sets, and those that are held back.

use http::header::{
    ACCEPT_ENCODING, AUTHORIZATION, CONNECTION, CONTENT_LENGTH, COOKIE, HOST, IF_RANGE, PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION, RANGE, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use http::{HeaderName, HeaderValue};

use super::{Credential, CredentialError};
use crate::Outgoing;
use crate::decode::ACCEPTED;

/// What says how a message travels over one connection (RFC 9110, 7.6.1, and HTTP/2's upgrade), and what the host
/// derives from the URL and the body: two opinions on it are request smuggling.
const OF_CONNECTION: [HeaderName; 11] = [
    CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    PROXY_AUTHENTICATE,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
    HeaderName::from_static("http2-settings"),
    HOST,
    CONTENT_LENGTH,
];

/// What says who is asking.
const OF_IDENTITY: [HeaderName; 4] = [AUTHORIZATION, PROXY_AUTHORIZATION, COOKIE, HeaderName::from_static("cookie2")];

/// Whether a guest may never set this header itself: credentials are the operator's, and so are the connection and the
/// decision about a request.
pub fn is_forbidden_header(name: &HeaderName) -> bool {
    is_of_connection(name) || OF_IDENTITY.contains(name) || OF_DECISION.contains(&name.as_str())
}

fn is_of_connection(name: &HeaderName) -> bool {
    OF_CONNECTION.contains(name)
}

/// Whether the host sets this header itself, so that a credential in it would be lost.
pub(super) fn is_of_host(name: &HeaderName) -> bool {
    is_of_connection(name) || OF_ANSWER.contains(name)
}

/// What says that a request is another one than the rules have let pass: another method, another URL.
const OF_DECISION: [&str; 5] =
    ["x-http-method-override", "x-http-method", "x-method-override", "x-original-url", "x-rewrite-url"];

/// What decides how an answer arrives, so that it is the host's where it looks for secrets in one.
const OF_ANSWER: [HeaderName; 3] = [RANGE, IF_RANGE, ACCEPT_ENCODING];

/// Takes from a request what would let its answer pass the scan: a range could bring a secret in two halves, and a content
/// encoding that cannot be decoded cannot be looked through.
pub fn withhold(request: &mut Outgoing) {
    for name in OF_ANSWER {
        request.headers.remove(name);
    }
    request.headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(ACCEPTED));
}

/// Sets `header` to `value`, in which the credential is.
pub(super) fn place(
    credential: &Credential<'_>,
    header: &HeaderName,
    value: &str,
    request: &mut Outgoing,
) -> Result<(), CredentialError> {
    if request.headers.contains_key(header) {
        return Err(credential.already_set(format!("the header `{header}`")));
    }
    let mut value = HeaderValue::from_bytes(value.as_bytes())
        .map_err(|_| CredentialError::ControlCharacter { name: credential.name.to_owned() })?;
    value.set_sensitive(true);
    request.headers.insert(header, value);
    Ok(())
}
