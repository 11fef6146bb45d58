//! `ringfence audit`: reads or verifies the record of all calls.

use clap::Args;
use serde_json::{Value, json};

use super::session::Session;
use super::show;
use crate::request::{Reply, Request};

/// Read the record of all calls, or verify that it is whole.
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
                anyhow::bail!("the host misunderstood")
            };
            return session.answer(&json!({"whole": true, "events": events}), |_| {
                format!("The audit log is whole: {events} events.")
            });
        }
        let Reply::Audit(events) = session.ask(Request::AuditRecent { limit: self.last }).await? else {
            anyhow::bail!("the host misunderstood")
        };
        session.answer(&events, |events| text(events))
    }
}

fn text(events: &[Value]) -> String {
    let rows = events.iter().map(|event| {
        let field = |name: &str| event[name].as_str().unwrap_or_default().to_owned();
        [
            event["sequence"].to_string(),
            field("event"),
            field("call"),
            field("tool"),
            field("outcome"),
            field("origin"),
            field("parent"),
        ]
    });
    show::table(["#", "EVENT", "CALL", "TOOL", "OUTCOME", "ORIGIN", "CALLED BY"], rows)
}
