//! Credentials in the URL. Encoded so that they stay the one value that they are: `/`, `?`, `&`, `#` and `%` in them
//! mean nothing.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::{Credential, CredentialError};
use crate::Outgoing;

/// All but the unreserved characters of RFC 3986, 2.3.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

pub(super) fn place_in_query(
    credential: &Credential<'_>,
    parameter: &str,
    request: &mut Outgoing,
) -> Result<(), CredentialError> {
    if request.url.query_pairs().any(|(key, _)| key == parameter) {
        return Err(credential.already_set(format!("the query parameter `{parameter}`")));
    }
    let pair = format!("{}={}", encoded(parameter), encoded(credential.value));
    let query = match request.url.query() {
        None | Some("") => pair,
        Some(query) => format!("{query}&{pair}"),
    };
    request.url.set_query(Some(&query));
    Ok(())
}

pub(super) fn place_in_path(
    credential: &Credential<'_>,
    placeholder: &str,
    request: &mut Outgoing,
) -> Result<(), CredentialError> {
    // Parsing the URL has encoded the braces. They may stand as they are in one that is not http.
    let path = request.url.path().replace(&format!("{{{placeholder}}}"), &in_path(placeholder));
    let found = path.matches(&in_path(placeholder)).count();
    if found != 1 {
        let placeholder = placeholder.to_owned();
        return Err(CredentialError::Placeholder { name: credential.name.to_owned(), placeholder, found });
    }
    request.url.set_path(&path.replace(&in_path(placeholder), &encoded(credential.value)));
    Ok(())
}

/// Whether `name` stays what it is in a URL.
pub(super) fn is_placeholder(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

fn in_path(placeholder: &str) -> String {
    format!("%7B{placeholder}%7D")
}

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}
