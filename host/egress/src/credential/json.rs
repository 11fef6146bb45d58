//! Credentials in a JSON body. The member is added to the text of the body: everything else stays byte for byte, large
//! numbers and the order of members included.

use std::collections::HashMap;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Credential, CredentialError, PlacementError};
use crate::Outgoing;

pub(super) fn place(credential: &Credential<'_>, pointer: &str, request: &mut Outgoing) -> Result<(), CredentialError> {
    let name = || credential.name.to_owned();
    if !says_json(request) {
        return Err(CredentialError::ContentType { name: name() });
    }
    let no_parent = || CredentialError::NoParent { name: name(), pointer: pointer.to_owned() };
    let tokens = tokens(pointer).map_err(|source| credential.misplaced(source))?;
    let (member, way) = tokens.split_last().ok_or_else(no_parent)?;
    let body: &RawValue =
        serde_json::from_slice(&request.body).map_err(|source| CredentialError::NotJson { name: name(), source })?;
    let parent = way.iter().try_fold(body, |value, token| child(value, token)).ok_or_else(no_parent)?;
    let members = members(parent).ok_or_else(no_parent)?;
    if members.contains_key(member) {
        return Err(credential.already_set(format!("the JSON member `{pointer}`")));
    }
    let comma = if members.is_empty() { "" } else { "," };
    let member = format!("{}:{}{comma}", Value::from(member.as_str()), Value::from(credential.value));
    // Behind the brace that opens the parent, which is a part of the body.
    let at = parent.get().as_ptr() as usize - request.body.as_ptr() as usize + 1;
    let (before, after) = request.body.split_at(at);
    request.body = Bytes::from([before, member.as_bytes(), after].concat());
    Ok(())
}

/// The reference tokens of a pointer to a member, unescaped.
pub(super) fn tokens(pointer: &str) -> Result<Vec<String>, PlacementError> {
    let wrong = || PlacementError::Pointer(pointer.to_owned());
    let tokens = pointer.strip_prefix('/').ok_or_else(wrong)?;
    tokens.split('/').map(|token| unescaped(token).ok_or_else(wrong)).collect()
}

/// `~0` is `~`, `~1` is `/`; any other `~` is an error.
fn unescaped(token: &str) -> Option<String> {
    let mut parts = token.split('~');
    let first = parts.next()?.to_owned();
    parts.try_fold(first, |text, part| match part.split_at_checked(1)? {
        ("0", rest) => Some(text + "~" + rest),
        ("1", rest) => Some(text + "/" + rest),
        _ => None,
    })
}

/// Whether the body is announced as JSON: `application/json` or something that ends in `+json` (RFC 6839), once.
fn says_json(request: &Outgoing) -> bool {
    let mut types = request.headers.get_all(CONTENT_TYPE).iter();
    let (Some(only), None) = (types.next(), types.next()) else { return false };
    let essence = only.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence == "application/json" || (essence.contains('/') && essence.ends_with("+json"))
}

fn child<'a>(value: &'a RawValue, token: &str) -> Option<&'a RawValue> {
    match members(value) {
        Some(members) => members.get(token).copied(),
        None => {
            let items: Vec<&RawValue> = serde_json::from_str(value.get()).ok()?;
            let is_index = token == "0" || !token.starts_with(['0', '+']);
            token.parse().ok().filter(|_| is_index).and_then(|index: usize| items.get(index).copied())
        }
    }
}

fn members(value: &RawValue) -> Option<HashMap<String, &RawValue>> {
    serde_json::from_str(value.get()).ok()
}
