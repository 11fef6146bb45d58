//! The only door to the network: rules, addresses, redirects, credentials, leak scan.
//!
//! Read [`Egress::send`] first: it is the way of a request, top to bottom. [`Access::decide`] says without sending
//! whether it would go.

mod access;
mod address;
mod budget;
mod client;
mod credential;
mod decode;
mod error;
mod hosts;
mod oauth;
mod outgoing;
mod redirect;
mod request;
mod resolve;
mod response;
mod scan;
mod send;
mod target;
mod tls_fault;
mod upload;

pub use access::{Access, BoundCredential, CredentialValue, Decision, Denied, LackingCredential};
pub use address::{AddressGrants, AddressRefused, RefusedRange};
pub use budget::Budget;
pub use client::{ClientError, Settings, SettingsError};
pub use credential::{CredentialError, MIN_CREDENTIAL, Placement, PlacementError, is_forbidden_header, withhold};
pub use decode::{DecodeError, Decoded, decode};
pub use error::EgressError;
pub use hosts::{FixedHostError, FixedHosts};
pub use oauth::{
    ClientAuth, GrantType, OAuth2, OAuth2Error, OAuthClient, Scope, TokenError, TokenSource, TokenUrl, Tokens,
};
pub use outgoing::Outgoing;
pub use redirect::{MAX_REDIRECTS, RedirectError, follow};
pub use request::{Request, RequestError};
pub use resolve::{LookupPlace, ResolveError, Resolver, SystemResolver};
pub use response::{Body, Response};
pub use scan::{Leak, Scanner, ScannerError};
pub use send::Egress;
pub use target::{MAX_URL, Target, TargetError};
pub use tls_fault::TlsFault;
pub use upload::{Upload, UploadError};
