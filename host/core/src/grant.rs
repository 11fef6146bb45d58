//! What a call may use.

use crate::limit::Limits;

/// What one call may use: what the manifest requests, narrowed by what the operator grants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grant {
    /// How much of everything.
    pub limits: Limits,
}
