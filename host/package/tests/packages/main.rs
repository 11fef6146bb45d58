//! What packages are taken in, and what becomes of them, through the public interface.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod freshness;
mod installing;
#[cfg(feature = "sigstore")]
#[allow(unreachable_pub, reason = "the end-to-end tests use it as well")]
mod instance;
#[cfg(feature = "sigstore")]
mod sigstore;
mod stock_minisign;
mod support;
mod tampering;
#[cfg(not(feature = "sigstore"))]
mod without_sigstore;
mod wrong_files;
