//! The only door to the network: rules, addresses, redirects, credentials, leak scan.

mod outgoing;

pub use outgoing::Outgoing;
