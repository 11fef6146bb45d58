//! What packages are taken in, and what becomes of them, through the public interface.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod freshness;
mod installing;
mod stock_minisign;
mod support;
mod tampering;
mod wrong_files;
