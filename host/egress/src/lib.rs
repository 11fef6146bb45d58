//! The only door to the network: rules, addresses, redirects, credentials, leak scan.

mod access;
mod address;
mod budget;
mod client;
mod error;
mod outgoing;
mod redirect;
mod request;
mod resolve;
mod response;
mod send;
mod target;

pub use access::{Access, BoundCredential, Decision};
pub use address::{AddressGrants, AddressRefused, RefusedRange};
pub use budget::Budget;
pub use client::{Settings, SettingsError};
pub use error::EgressError;
pub use outgoing::Outgoing;
pub use redirect::{MAX_REDIRECTS, RedirectError, follow};
pub use request::{Request, RequestError};
pub use resolve::{ResolveError, Resolver, SystemResolver};
pub use response::{Body, Response};
pub use send::Egress;
pub use target::{MAX_URL, Target, TargetError};
