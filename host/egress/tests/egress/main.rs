//! The door to the network against real servers on this machine. Nothing here reaches another one.

#![allow(unreachable_pub, missing_docs, reason = "nothing here is anybody's API")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod addresses;
#[path = "../../../../tests/support/authority.rs"]
mod authority;
mod cancel;
mod cases;
mod connections;
mod credentials;
mod errors;
mod hosts;
mod limits;
mod model;
mod oauth;
mod proxies;
mod redirects;
mod support;
mod tls;
mod uploads;
