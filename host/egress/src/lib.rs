//! The only door to the network: rules, addresses, redirects, credentials, leak scan.

mod credential;
mod decode;
mod outgoing;
mod scan;

pub use credential::{CredentialError, MIN_CREDENTIAL, Placement, PlacementError, is_forbidden_header, withhold};
pub use decode::{DecodeError, Decoded, decode};
pub use outgoing::Outgoing;
pub use scan::{Leak, Scanner, ScannerError};
