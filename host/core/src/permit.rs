//! The proof that a call passed every gate.

use std::time::Duration;

use tokio::time::Instant;

use crate::call::CheckedCall;
use crate::deadline::Deadline;
use crate::grant::Grant;
use crate::limit::LimitKind;
use crate::onward::Onward;

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
    deadline: Deadline,
}

impl Permit {
    pub(crate) fn new(call: CheckedCall, grant: Grant) -> Self {
        let time = Duration::from_millis(grant.limits.get(LimitKind::Deadline));
        let deadline = Deadline::new(time, call.context.ends);
        Self { call, grant, deadline }
    }

    /// The call.
    pub fn call(&self) -> &CheckedCall {
        &self.call
    }

    /// What the call may use.
    pub fn grant(&self) -> &Grant {
        &self.grant
    }

    /// How long the call may still take: until its own deadline, or until the call above it ends.
    pub fn time_left(&self) -> Duration {
        self.deadline.left()
    }

    /// Waits for `place`, without which the tool cannot begin. This takes nothing of the call's own time, so whoever waits
    /// sees to it that it ends. The call above goes on to be timed.
    pub async fn wait_for<T>(&self, place: impl Future<Output = T>) -> T {
        self.deadline.stand_for(place).await
    }

    /// The way from this call to other tools.
    pub fn onward(&self) -> Option<Onward> {
        Onward::of(self)
    }

    pub(crate) fn ends(&self) -> Option<Instant> {
        self.deadline.ends()
    }

    pub(crate) fn deadline(&self) -> &Deadline {
        &self.deadline
    }
}
