//! OCI registries (distribution specification 1.1): a small client of our own.
//!
//! The `oci-client` crate makes its own HTTP client, which follows redirects and dials what it resolves; it could not be
//! bound to egress, where every address is checked.

pub(crate) mod auth;
mod manifest;
mod pull;
mod push;
pub(crate) mod reference;
mod registry;

pub(crate) use pull::pull;
pub(crate) use push::push;
