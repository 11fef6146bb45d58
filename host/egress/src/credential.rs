//! Where a credential goes in a request, and how it gets there.
//!
//! The host places it at the moment of sending, so the guest never sees it. What the guest has set itself is never
//! overwritten: a request that means something else than the operator wrote down is refused.

mod headers;
mod json;
#[cfg(test)]
mod tests;
mod url;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderName;
use http::header::AUTHORIZATION;
use ringfence_core::Secret;
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;

pub use self::headers::{is_forbidden_header, withhold};
use crate::Outgoing;

/// The shortest credential that is placed, in bytes. The echo of a shorter one could not be told from other text.
pub const MIN_CREDENTIAL: usize = 8;

/// Where a credential goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self", rename_all = "snake_case", deny_unknown_fields)]
pub enum Placement {
    /// `Authorization: Bearer …` (RFC 6750).
    Bearer,
    /// `Authorization: Basic …` (RFC 7617): the credential is the password.
    Basic {
        /// The user, without a colon.
        username: String,
    },
    /// A header of its own.
    Header {
        /// Its name.
        name: String,
        /// What stands before the credential, such as `Token `.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        prefix: String,
    },
    /// The query parameter of this name.
    Query(String),
    /// In the place of `{NAME}`, which stands once in the path of the URL.
    Path(String),
    /// The member of a JSON body that this pointer (RFC 6901) names. The object that it is added to must be there.
    Json(String),
}

/// Why there can be no such placement.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PlacementError {
    /// RFC 7617 has no way to write such a user.
    #[error("the username `{}` has a colon or a control character in it: RFC 7617 allows neither", .0.escape_debug())]
    Username(String),
    /// No such header can be.
    #[error("`{}` is not the name of a header: use letters, digits and hyphens", .0.escape_debug())]
    HeaderName(String),
    /// The header is the host's to set.
    #[error("the header `{0}` is set by the host itself: a credential goes into another one")]
    HostHeader(String),
    /// No header can have such a value.
    #[error("the prefix `{}` has a control character in it, which no header can carry", .0.escape_debug())]
    Prefix(String),
    /// A parameter has a name.
    #[error("the query parameter has no name: write `{{ query = \"NAME\" }}`")]
    Query,
    /// No such placeholder can stand in a path.
    #[error("`{}` is no placeholder: use A-Z, a-z, 0-9, _ and -, without the braces", .0.escape_debug())]
    Placeholder(String),
    /// Not a pointer to a member.
    #[error("`{}` is no JSON pointer to a member (RFC 6901): write one such as `/auth/key`", .0.escape_debug())]
    Pointer(String),
}

/// Why a credential was not placed. Names it, and never its value.
#[derive(Debug, Error)]
pub enum CredentialError {
    /// It could not be kept out of what comes back.
    #[error(
        "credential `{name}` is shorter than {MIN_CREDENTIAL} bytes, so it could not be found when a server sends it \
         back: store a longer one"
    )]
    TooShort {
        /// The credential.
        name: String,
    },
    /// No header can carry it.
    #[error(
        "credential `{name}` has a line break or another control character in it, which no header can carry: store it \
         again, without a line break"
    )]
    ControlCharacter {
        /// The credential.
        name: String,
    },
    /// A server may read the bytes of a header in one encoding and write them in another.
    #[error(
        "credential `{name}` has characters beyond ASCII in it, so it could not be found when a server reads the header in \
         another encoding and sends it back: store one without them"
    )]
    NotAscii {
        /// The credential.
        name: String,
    },
    /// The request sets it already.
    #[error("credential `{name}` was not placed: the request has {place} of its own; leave it out, the host sets it")]
    AlreadySet {
        /// The credential.
        name: String,
        /// What the request has, such as ``the header `x-api-key` ``.
        place: String,
    },
    /// The path does not say where.
    #[error("credential `{name}` was not placed: {{{placeholder}}} has to stand once in the path, not {found} times")]
    Placeholder {
        /// The credential.
        name: String,
        /// The placeholder.
        placeholder: String,
        /// How often it stands there.
        found: usize,
    },
    /// The request says that its body is something else.
    #[error("credential `{name}` goes into a JSON body: send one, with the content type `application/json`")]
    ContentType {
        /// The credential.
        name: String,
    },
    /// The body is no JSON.
    #[error("credential `{name}` goes into a JSON body, and this one is not JSON: correct it")]
    NotJson {
        /// The credential.
        name: String,
        /// Where it stops being JSON.
        #[source]
        source: serde_json::Error,
    },
    /// The body has no object to add the member to.
    #[error("credential `{name}` was not placed: the JSON body has no object that `{pointer}` could be a member of")]
    NoParent {
        /// The credential.
        name: String,
        /// Where it would go.
        pointer: String,
    },
    /// The operator wrote something that cannot be.
    #[error("credential `{name}` cannot be placed")]
    Placement {
        /// The credential.
        name: String,
        /// Why.
        #[source]
        source: PlacementError,
    },
}

impl CredentialError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::TooShort { .. } => "credential.too_short",
            Self::ControlCharacter { .. } => "credential.control_character",
            Self::NotAscii { .. } => "credential.not_ascii",
            Self::AlreadySet { .. } => "credential.already_set",
            Self::Placeholder { .. } => "credential.placeholder",
            Self::ContentType { .. } => "credential.content_type",
            Self::NotJson { .. } => "credential.not_json",
            Self::NoParent { .. } => "credential.no_parent",
            Self::Placement { .. } => "credential.placement",
        }
    }
}

impl Placement {
    /// Places the credential `name`, whose value is `secret` without the white space around it.
    ///
    /// The rules have to have seen `request` before: afterwards its URL, headers or body hold the value.
    ///
    /// # Errors
    /// [`CredentialError`]; `request` is unchanged then.
    pub fn place(&self, name: &str, secret: &Secret, request: &mut Outgoing) -> Result<(), CredentialError> {
        let credential = self.fitting(name, secret)?;
        self.check().map_err(|source| CredentialError::Placement { name: name.to_owned(), source })?;
        match self {
            Self::Bearer => {
                headers::place(&credential, &AUTHORIZATION, &format!("Bearer {}", credential.value), request)
            }
            Self::Basic { username } => {
                let pair = STANDARD.encode(format!("{username}:{}", credential.value));
                headers::place(&credential, &AUTHORIZATION, &format!("Basic {pair}"), request)
            }
            Self::Header { name: header, prefix } => {
                let header = header_name(header).map_err(|source| credential.misplaced(source))?;
                headers::place(&credential, &header, &format!("{prefix}{}", credential.value), request)
            }
            Self::Query(parameter) => url::place_in_query(&credential, parameter, request),
            Self::Path(placeholder) => url::place_in_path(&credential, placeholder, request),
            Self::Json(pointer) => json::place(&credential, pointer, request),
        }
    }

    /// Whether the credential `name` of the value `secret` could be placed so, whatever the request is.
    ///
    /// # Errors
    /// [`CredentialError`].
    pub fn fits(&self, name: &str, secret: &Secret) -> Result<(), CredentialError> {
        self.fitting(name, secret).map(drop)
    }

    fn fitting<'a>(&self, name: &'a str, secret: &'a Secret) -> Result<Credential<'a>, CredentialError> {
        let credential = Credential::new(name, secret)?;
        // Of the credential itself, which a header may hold encoded.
        if self.is_in_header() && credential.value.contains(char::is_control) {
            return Err(CredentialError::ControlCharacter { name: name.to_owned() });
        }
        if matches!(self, Self::Bearer | Self::Header { .. }) && !credential.value.is_ascii() {
            return Err(CredentialError::NotAscii { name: name.to_owned() });
        }
        Ok(credential)
    }

    fn is_in_header(&self) -> bool {
        matches!(self, Self::Bearer | Self::Basic { .. } | Self::Header { .. })
    }

    /// Whether the credential goes into the body, which then has to be there as a whole.
    pub(crate) fn is_in_body(&self) -> bool {
        matches!(self, Self::Json(_))
    }

    /// Whether there can be such a placement. One that was read from a file has been checked.
    ///
    /// # Errors
    /// [`PlacementError`].
    pub fn check(&self) -> Result<(), PlacementError> {
        match self {
            Self::Bearer => Ok(()),
            Self::Basic { username } if username.contains(|c: char| c == ':' || c.is_control()) => {
                Err(PlacementError::Username(username.clone()))
            }
            Self::Basic { .. } => Ok(()),
            Self::Header { prefix, .. } if prefix.contains(char::is_control) => {
                Err(PlacementError::Prefix(prefix.clone()))
            }
            Self::Header { name, .. } => header_name(name).map(drop),
            Self::Query(parameter) if parameter.is_empty() => Err(PlacementError::Query),
            Self::Query(_) => Ok(()),
            Self::Path(placeholder) if !url::is_placeholder(placeholder) => {
                Err(PlacementError::Placeholder(placeholder.clone()))
            }
            Self::Path(_) => Ok(()),
            Self::Json(pointer) => json::tokens(pointer).map(drop),
        }
    }
}

impl Serialize for Placement {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Placement {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let placement = Self::deserialize(deserializer)?;
        placement.check().map_err(D::Error::custom)?;
        Ok(placement)
    }
}

fn header_name(name: &str) -> Result<HeaderName, PlacementError> {
    let header = HeaderName::try_from(name).map_err(|_| PlacementError::HeaderName(name.to_owned()))?;
    match headers::is_of_host(&header) {
        true => Err(PlacementError::HostHeader(name.to_owned())),
        false => Ok(header),
    }
}

/// A credential that is long enough.
struct Credential<'a> {
    name: &'a str,
    /// Without white space around it: a line break at the end is a slip of whoever stored it.
    value: &'a str,
}

impl<'a> Credential<'a> {
    fn new(name: &'a str, secret: &'a Secret) -> Result<Self, CredentialError> {
        let value = secret.expose().trim();
        match value.len() < MIN_CREDENTIAL {
            true => Err(CredentialError::TooShort { name: name.to_owned() }),
            false => Ok(Self { name, value }),
        }
    }

    fn already_set(&self, place: String) -> CredentialError {
        CredentialError::AlreadySet { name: self.name.to_owned(), place }
    }

    fn misplaced(&self, source: PlacementError) -> CredentialError {
        CredentialError::Placement { name: self.name.to_owned(), source }
    }
}
