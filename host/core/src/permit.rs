//! The proof that a call passed every gate.

use std::time::{Duration, Instant};

use crate::call::CheckedCall;
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
    /// When the call ends at the latest; `None` where no clock counts so far.
    ends: Option<Instant>,
}

impl Permit {
    pub(crate) fn new(call: CheckedCall, grant: Grant) -> Self {
        let deadline = Duration::from_millis(grant.limits.get(LimitKind::Deadline));
        let own = Instant::now().checked_add(deadline);
        let ends = own.into_iter().chain(call.context.ends).min();
        Self { call, grant, ends }
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
        self.ends.map_or(Duration::MAX, |ends| ends.saturating_duration_since(Instant::now()))
    }

    /// The way from this call to other tools.
    pub fn onward(&self) -> Option<Onward> {
        Onward::of(self)
    }

    pub(crate) fn ends(&self) -> Option<Instant> {
        self.ends
    }
}
