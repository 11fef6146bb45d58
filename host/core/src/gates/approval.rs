//! Does a person have to agree first?

use crate::access::Assessment;
use crate::call::CheckedCall;
use crate::error::CallError;
use crate::grant::Grant;
use crate::permit::Permit;
use crate::tool::Approval;

/// Asks whether a call may run without a person's approval. It is the only maker of [`Permit`]s.
#[derive(Debug, Default)]
pub struct ApprovalGate;

impl ApprovalGate {
    /// A permit for a call that needs nobody's approval.
    ///
    /// # Errors
    /// [`CallError::NeedsApproval`] with the ticket of any other call.
    pub fn permit(&self, call: CheckedCall, grant: Grant) -> Result<Permit, CallError> {
        let Assessment { approval, .. } = call.tool().tool().assess(call.arguments().value());
        match approval {
            Approval::Never => Ok(Permit::new(call, grant)),
            Approval::UnlessAutoApproved | Approval::Always => Err(CallError::NeedsApproval {
                tool: call.tool().wire_name().to_owned(),
                ticket: call.id().as_str().to_owned(),
            }),
        }
    }
}
