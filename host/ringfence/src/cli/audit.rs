//! `ringfence audit`: reads or verifies the record of all calls.

use clap::Args;
use serde_json::json;

use super::session::{Session, other_build};
use super::show;
use crate::request::{AuditEntry, Reply, Request};

/// Read the record of all calls, newest first, or verify that it is whole.
#[derive(Args)]
pub(super) struct Audit {
    /// Check every event's place and seal instead of listing the last ones.
    #[arg(long)]
    verify: bool,
    /// How many events to list, newest first.
    #[arg(long, default_value_t = 20)]
    last: usize,
}

impl Audit {
    pub(super) async fn run(self, session: &Session) -> anyhow::Result<()> {
        if self.verify {
            let Reply::AuditWhole { events } = session.ask(Request::AuditVerify).await? else {
                return Err(other_build());
            };
            return session.answer(&json!({"whole": true, "events": events}), |_| {
                format!("The audit log is whole: {events} events.")
            });
        }
        let Reply::Audit(events) = session.ask(Request::AuditRecent { limit: self.last }).await? else {
            return Err(other_build());
        };
        session.answer(&events, |events| text(events))
    }
}

fn text(events: &[AuditEntry]) -> String {
    let rows = events.iter().cloned().map(|entry| {
        let AuditEntry { sequence, time, event, call, tool, user, outcome, origin, parent } = entry;
        let said = [call, tool, user, outcome, origin, parent].map(Option::unwrap_or_default);
        let [call, tool, user, outcome, origin, parent] = said;
        [sequence.to_string(), show::time(time), event, call, tool, user, outcome, origin, parent]
    });
    show::table(["#", "TIME", "EVENT", "CALL", "TOOL", "USER", "OUTCOME", "ORIGIN", "PARENT"], rows)
}
