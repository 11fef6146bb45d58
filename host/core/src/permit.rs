//! The proof that a call passed every gate.

use crate::call::CheckedCall;
use crate::grant::Grant;

/// What a tool needs to run: the checked call, and what it may use. Single-use, and made by the approval gate alone, so
/// that no source can be reached around the gates.
///
/// ```compile_fail
/// fn twice(permit: ringfence_core::Permit) { let copy = permit.clone(); }
/// ```
#[derive(Debug)]
pub struct Permit {
    call: CheckedCall,
    grant: Grant,
}

impl Permit {
    pub(crate) fn new(call: CheckedCall, grant: Grant) -> Self {
        Self { call, grant }
    }

    /// The call.
    pub fn call(&self) -> &CheckedCall {
        &self.call
    }

    /// What the call may use.
    pub fn grant(&self) -> &Grant {
        &self.grant
    }
}
