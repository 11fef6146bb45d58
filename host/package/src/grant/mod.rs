//! What a package asks for, what the operator grants it, and what is left of the two.
//!
//! Asking gives nothing, and granting gives nothing that was not asked for: [`Effective`] is where the two meet.

mod capabilities;
mod effective;
mod file_pattern;
mod name_pattern;
mod unused;

pub(crate) use capabilities::is_name;
pub use capabilities::{
    Capabilities, Credential, Granted, GrantedCredential, GrantedOAuth2, GrantedRate, RequestPattern, SecretUse,
    WorkspaceUse,
};
pub use effective::{Effective, GrantError};
pub use file_pattern::{FilePattern, FilePatternError};
pub use name_pattern::{NamePattern, NamePatternError};
pub use unused::unused;
