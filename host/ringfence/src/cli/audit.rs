//! `ringfence audit`: reads or verifies the record of all calls.

use std::collections::HashMap;

use clap::Args;
use serde_json::json;

use super::session::{Session, other_build};
use super::show;
use crate::request::{AuditEntry, Reply, Request};

/// How many events a call has at most, but for the secrets that it gave out.
const EVENTS_A_CALL: usize = 3;

/// Read the record of all calls, newest first, or verify that it is whole.
#[derive(Args)]
pub(super) struct Audit {
    /// Check every event's place and seal instead of listing the last ones.
    #[arg(long)]
    verify: bool,
    /// How many calls to list, newest first; events with --events or --json.
    #[arg(long, default_value_t = 20)]
    last: usize,
    /// List every event of a call (it began, it was permitted, it ended), not only how it ended.
    #[arg(long)]
    events: bool,
}

impl Audit {
    pub(super) async fn run(self, session: &Session) -> anyhow::Result<()> {
        if self.verify {
            let Reply::AuditWhole { events } = session.ask(Request::AuditVerify).await? else {
                return Err(other_build());
            };
            return session.answer(&json!({"whole": true, "events": events}), |_| {
                format!("The audit log is whole: {}.", show::count(events, "event"))
            });
        }
        let each = if self.events || session.json { 1 } else { EVENTS_A_CALL };
        let limit = self.last.saturating_mul(each);
        let Reply::Audit(events) = session.ask(Request::AuditRecent { limit }).await? else {
            return Err(other_build());
        };
        session.answer(&events, |events| if self.events { all(events) } else { calls(events, self.last) })
    }
}

/// One row a call, with its last event, and what each of its events says of it.
fn calls(events: &[AuditEntry], most: usize) -> String {
    let mut rows: Vec<AuditEntry> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for event in events {
        let place = event.call.as_deref().map(|call| *places.entry(call).or_insert(rows.len()));
        match place.and_then(|place| rows.get_mut(place)) {
            // The first event says most of who calls what.
            Some(row) => {
                row.tool = event.tool.clone().or(row.tool.take());
                row.user = event.user.clone().or(row.user.take());
                row.parent = event.parent.clone().or(row.parent.take());
            }
            None => rows.push(event.clone()),
        }
    }
    let rows =
        rows.into_iter().take(most).map(|AuditEntry { time, event, call, tool, user, outcome, parent, .. }| {
            let [call, tool, user, parent] = [call, tool, user, parent].map(Option::unwrap_or_default);
            [show::time(time), tool, user, outcome.unwrap_or(event), call, parent]
        });
    show::table(["TIME", "TOOL", "USER", "HOW IT ENDED", "CALL", "PARENT"], rows)
}

fn all(events: &[AuditEntry]) -> String {
    let rows = events.iter().cloned().map(|entry| {
        let AuditEntry { sequence, time, event, call, tool, user, outcome, origin, parent } = entry;
        let said = [call, tool, user, outcome, origin, parent].map(Option::unwrap_or_default);
        let [call, tool, user, outcome, origin, parent] = said;
        [sequence.to_string(), show::time(time), event, call, tool, user, outcome, origin, parent]
    });
    show::table(["#", "TIME", "EVENT", "CALL", "TOOL", "USER", "OUTCOME", "ORIGIN", "PARENT"], rows)
}
