//! The path of every call: from a door, through the gates, into the tool, through the finishers, back to the door.
//!
//! The order is the security of the whole, so it is written down once, in one function that fits on a screen. The types
//! enforce it: a [`CheckedCall`](crate::CheckedCall) comes from the schema gate only, a [`Permit`] from the approval
//! gate only, a tool takes nothing but a permit, and what it gives back cannot leave without the scrubber.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use futures::FutureExt as _;

use crate::audit::{AuditLog, AuditTrail};
use crate::call::{ProgressSink, ToolCall};
use crate::error::{CallError, ToolError};
use crate::finish::current::CurrentScrubber;
use crate::finish::progress::CleanProgress;
use crate::finish::{bound, structured};
use crate::gates::approval::ApprovalGate;
use crate::gates::policy::Policy;
use crate::gates::rate::RateGate;
use crate::gates::{depth, schema};
use crate::limit::LimitKind;
use crate::name::{MAX_TOOL_NAME, nearest};
use crate::output::{RawOutput, ToolOutput};
use crate::permit::Permit;
use crate::registry::{Registered, Registry};

/// Owns everything that a call passes. [`call`](ToolHost::call) is the only way in.
pub struct ToolHost {
    /// The tools.
    pub registry: Arc<Registry>,
    /// What the operator allows.
    pub policy: Policy,
    /// How often.
    pub rate: RateGate,
    /// Whether a person has to agree.
    pub approval: ApprovalGate,
    /// What must not be seen.
    pub scrubber: Arc<CurrentScrubber>,
    /// The record.
    pub audit: Arc<dyn AuditLog>,
}

impl ToolHost {
    /// Makes one call.
    ///
    /// # Errors
    /// Every end of a call but success; see [`CallError`].
    pub async fn call(self: &Arc<Self>, mut call: ToolCall) -> Result<ToolOutput, CallError> {
        self.tame(&mut call.tool);
        call.context.scrubber = Some(self.scrubber.clone());
        call.context.host = Some(self.clone());
        call.context.progress = call.context.progress.map(|sink| self.clean(sink));
        let caller = self.scrubber.get().caller(&call.context.caller);
        let trail = AuditTrail::open(&self.audit, &call, &caller).await?; // cannot record, cannot run
        let result = self.run(call, &trail).await.map_err(|error| self.scrubber.get().refusal(error));
        trail.close(result).await
    }

    async fn run(&self, call: ToolCall, trail: &AuditTrail) -> Result<ToolOutput, CallError> {
        let tool = self.resolve(&call.tool)?;
        depth::check(&tool, &call)?; // a circle of tools comes to an end
        let call = schema::check(tool, call, &self.scrubber)?; // ToolCall becomes CheckedCall
        let grant = self.policy.decide(&call)?;
        self.rate.take(&call)?; // a flood must not reach an approver
        let permit = self.approval.permit(call, grant)?; // the only maker of Permit
        trail.permitted(&permit).await?;
        self.execute(permit, trail).await
    }

    /// The tools that the policy lets anybody see.
    pub fn offered(&self) -> Vec<Arc<Registered>> {
        self.registry.all().into_iter().filter(|tool| self.policy.allows(tool)).collect()
    }

    fn clean(&self, sink: Arc<dyn ProgressSink>) -> Arc<dyn ProgressSink> {
        Arc::new(CleanProgress { sink, scrubber: self.scrubber.clone() })
    }

    /// Makes a name that no tool has fit for errors and audit: a caller may have put anything there.
    fn tame(&self, name: &mut String) {
        if self.registry.get(name).is_some() {
            return;
        }
        // Scrubbed first and cut then: half a secret would not be found.
        *name = self.scrubber.get().text(name).into_owned();
        if name.len() > MAX_TOOL_NAME {
            name.truncate(name.floor_char_boundary(MAX_TOOL_NAME));
            name.push('…');
        }
    }

    fn resolve(&self, name: &str) -> Result<Arc<Registered>, CallError> {
        self.registry.get(name).ok_or_else(|| {
            // Every wire name of a source that can be stopped begins with it.
            let source_name = name.split_once("__").map_or(name, |(source, _)| source);
            if let Some(reason) = self.registry.stopped(source_name) {
                return CallError::Stopped { tool: name.to_owned(), source_name: source_name.to_owned(), reason };
            }
            let offered = self.offered();
            let nearest = nearest(name, offered.iter().map(|tool| tool.wire_name()), 3);
            CallError::NotFound { name: name.to_owned(), nearest }
        })
    }

    async fn execute(&self, permit: Permit, trail: &AuditTrail) -> Result<ToolOutput, CallError> {
        let started = Instant::now();
        let tool = permit.call().tool.clone();
        let result = run_to_end(permit, &tool).await?;
        let finished = result
            .and_then(|raw| bound::check(raw, tool.limits()))
            .and_then(|raw| structured::check(raw, &tool, &self.scrubber));
        if let Ok(RawOutput { revealed: Some(revealed), .. }) = &finished {
            trail.revealed(tool.wire_name(), &revealed.name).await?; // cannot record, cannot leave
        }
        let scrubber = self.scrubber.get();
        match finished {
            Ok(raw) => Ok(structured::keep_valid(scrubber.output(raw, started.elapsed()), &tool)),
            Err(error) => Err(scrubber.error(tool.wire_name(), error)),
        }
    }
}

/// Runs the tool until it ends, its deadline passes, the caller cancels or its source is removed. Dropping its future is
/// what stops it.
async fn run_to_end(permit: Permit, tool: &Registered) -> Result<Result<RawOutput, ToolError>, CallError> {
    let cancel = permit.call().context().cancel.clone();
    let deadline = permit.deadline().clone();
    // A busy tool must not use up the turn of the clock that ends it.
    let too_late = tokio::task::unconstrained(deadline.passed());
    let execution = AssertUnwindSafe(tool.tool().execute(permit)).catch_unwind();
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(CallError::Cancelled { tool: tool.wire_name().to_owned() }),
        () = tool.withdrawn().cancelled() => Err(CallError::Unavailable {
            tool: tool.wire_name().to_owned(),
            reason: "it was stopped, because its source was removed or may no longer run".into(),
            retry_after: None,
        }),
        ended = execution => Ok(ended.unwrap_or_else(|_panic| Err(ToolError::Trapped("it panicked".into())))),
        () = too_late => Ok(Err(tool.limits().exceeded(LimitKind::Deadline, None).into())),
    }
}
