//! The record of every call: append-only events, written before the step that they speak of is taken.

use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use serde::Serialize;
use thiserror::Error;

use crate::call::{CallId, ToolCall};
use crate::caller::Caller;
use crate::error::CallError;
use crate::output::{ToolOutput, Usage};
use crate::permit::Permit;

/// Where audit events go.
///
/// An event that cannot be written stops the call: what cannot be recorded does not run.
#[async_trait]
pub trait AuditLog: Send + Sync {
    /// Writes one event behind all that were written before it, and says at which place it stands.
    ///
    /// # Errors
    /// When the event could not be written. It then has no place.
    fn append(&self, event: &AuditEvent<'_>) -> Result<u64, AuditError>;

    /// Returns when everything up to `place` is as safe as the log's durability setting promises.
    ///
    /// # Errors
    /// When that can no longer be reached.
    async fn settle(&self, place: u64) -> Result<(), AuditError>;

    /// A digest of the arguments of a call that nobody can compute who does not have the log's key.
    fn digest(&self, arguments: &str) -> String;
}

/// Why an event could not be recorded.
#[derive(Debug, Error)]
#[error("the audit log cannot be written: {0}")]
pub struct AuditError(#[from] pub std::io::Error);

/// One event of one call.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case", tag = "event")]
pub enum AuditEvent<'a> {
    /// A door handed the call in.
    Opened {
        /// The call.
        call: &'a CallId,
        /// The call that made it, where a tool did.
        #[serde(skip_serializing_if = "Option::is_none")]
        parent: Option<&'a CallId>,
        /// Who calls.
        caller: &'a Caller,
        /// The name that was asked for.
        tool: &'a str,
        /// Keyed digest of the arguments.
        arguments: &'a str,
    },
    /// Every gate let it pass; the tool runs next.
    Permitted {
        /// The call.
        call: &'a CallId,
        /// The tool's source.
        source: &'a str,
        /// The tool's name in that source.
        tool: &'a str,
        /// `builtin`, `native`, `signed`, `unsigned` or `embedded`.
        origin: &'a str,
        /// SHA-256 of the code, where it is not compiled in.
        #[serde(skip_serializing_if = "Option::is_none")]
        digest: Option<&'a str>,
    },
    /// It gives out the value of a secret next.
    Revealed {
        /// The call.
        call: &'a CallId,
        /// The name of the secret.
        secret: &'a str,
    },
    /// It ended, one way or the other.
    Closed {
        /// The call.
        call: &'a CallId,
        /// `ok` or the code of the error.
        outcome: &'a str,
        /// Microseconds since it was opened.
        duration_us: u64,
        /// What it used.
        usage: Usage,
    },
    /// Whoever waited for it went away.
    Abandoned {
        /// The call.
        call: &'a CallId,
        /// Microseconds since it was opened.
        duration_us: u64,
    },
}

/// The record of one call. Dropping it without [`close`](AuditTrail::close) records that the call was abandoned.
pub struct AuditTrail {
    log: Arc<dyn AuditLog>,
    call: CallId,
    opened: Instant,
    closed: bool,
}

impl AuditTrail {
    /// Records that `call` was handed in. `caller` is who makes it, as it may be written down.
    ///
    /// # Errors
    /// [`CallError::Unavailable`] when it cannot be recorded.
    pub async fn open(log: &Arc<dyn AuditLog>, call: &ToolCall, caller: &Caller) -> Result<Self, CallError> {
        let mut trail = Self { log: log.clone(), call: call.id.clone(), opened: Instant::now(), closed: true };
        let arguments = log.digest(call.arguments.text());
        let event = AuditEvent::Opened {
            call: &call.id,
            parent: call.context.parent.as_ref(),
            caller,
            tool: &call.tool,
            arguments: &arguments,
        };
        let refused = |error: AuditError| unavailable(&call.tool, &error, "it did not run");
        let place = log.append(&event).map_err(refused)?;
        trail.closed = false; // from here on, whoever drops it abandons a call that is on record
        log.settle(place).await.map_err(refused)?;
        Ok(trail)
    }

    /// Records that the tool runs next.
    ///
    /// # Errors
    /// [`CallError::Unavailable`] when it cannot be recorded; the tool must not run then.
    pub async fn permitted(&self, permit: &Permit) -> Result<(), CallError> {
        let tool = permit.call().tool();
        let event = AuditEvent::Permitted {
            call: &self.call,
            source: tool.id().source.as_str(),
            tool: tool.id().name.as_str(),
            origin: tool.origin().label(),
            digest: tool.origin().digest(),
        };
        self.record(&event).await.map_err(|error| unavailable(tool.wire_name(), &error, "it did not run"))
    }

    /// Records that the value of `secret` is given out next.
    ///
    /// # Errors
    /// [`CallError::Unavailable`] when it cannot be recorded; the value must not leave then.
    pub async fn revealed(&self, tool: &str, secret: &str) -> Result<(), CallError> {
        let written = self.record(&AuditEvent::Revealed { call: &self.call, secret }).await;
        written.map_err(|error| unavailable(tool, &error, "the secret was not given out"))
    }

    /// Records how the call ended, and hands the result on.
    ///
    /// # Errors
    /// That of the call; or [`CallError::Unavailable`] when its end cannot be recorded, which says that the tool ran.
    pub async fn close(mut self, result: Result<ToolOutput, CallError>) -> Result<ToolOutput, CallError> {
        self.closed = true;
        let (outcome, usage) = match &result {
            Ok(output) => ("ok".into(), output.usage),
            Err(error) => (error.code(), Usage::default()),
        };
        let event = AuditEvent::Closed { call: &self.call, outcome: &outcome, duration_us: self.elapsed_us(), usage };
        match self.record(&event).await {
            Ok(()) => result,
            Err(error) => Err(unavailable("the tool", &error, &format!("the call itself ended with `{outcome}`"))),
        }
    }

    async fn record(&self, event: &AuditEvent<'_>) -> Result<(), AuditError> {
        let place = self.log.append(event)?;
        self.log.settle(place).await
    }

    fn elapsed_us(&self) -> u64 {
        u64::try_from(self.opened.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}

impl Drop for AuditTrail {
    fn drop(&mut self) {
        if self.closed {
            return;
        }
        let event = AuditEvent::Abandoned { call: &self.call, duration_us: self.elapsed_us() };
        if let Err(error) = self.log.append(&event) {
            tracing::error!(call = %self.call, %error, "an abandoned call could not be recorded");
        }
    }
}

fn unavailable(tool: &str, error: &AuditError, what_happened: &str) -> CallError {
    CallError::Unavailable { tool: tool.to_owned(), reason: format!("{error}; {what_happened}"), retry_after: None }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use futures::FutureExt as _;
    use serde_json::json;

    use super::*;
    use crate::call::{Arguments, CallContext};

    /// A log that notes the kinds of its events, and whose disk answers late or never.
    #[derive(Default)]
    struct SlowDisk {
        events: Mutex<Vec<&'static str>>,
        fails: bool,
    }

    #[async_trait]
    impl AuditLog for SlowDisk {
        fn append(&self, event: &AuditEvent<'_>) -> Result<u64, AuditError> {
            let kind = match event {
                AuditEvent::Opened { .. } => "opened",
                AuditEvent::Abandoned { .. } => "abandoned",
                _ => "other",
            };
            self.events.lock().unwrap().push(kind);
            Ok(0)
        }

        async fn settle(&self, _place: u64) -> Result<(), AuditError> {
            if self.fails {
                return Err(std::io::Error::other("the disk is gone").into());
            }
            std::future::pending().await
        }

        fn digest(&self, _arguments: &str) -> String {
            String::new()
        }
    }

    #[test]
    fn a_call_that_is_given_up_while_it_is_written_down_has_an_end_on_record() {
        for fails in [false, true] {
            let disk = Arc::new(SlowDisk { fails, ..SlowDisk::default() });
            let log: Arc<dyn AuditLog> = disk.clone();
            let call = ToolCall {
                id: CallId::next(),
                tool: "echo".into(),
                arguments: Arguments::new(json!({})),
                context: CallContext::default(),
            };
            let opened = AuditTrail::open(&log, &call, &Caller::default()).now_or_never();
            assert_eq!(opened.map(|ended| ended.is_err()), fails.then_some(true));
            assert_eq!(*disk.events.lock().unwrap(), ["opened", "abandoned"]);
        }
    }
}
