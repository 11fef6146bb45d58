//! `ringfence remove`: removes an installed package.

use clap::Args;
use serde_json::json;

use super::session::Session;
use crate::request::{RemoveReport, Reply, Request};

/// Remove an installed package, with what its tools kept between calls. Its newest version is remembered, so that no older one can come back unnoticed.
#[derive(Args)]
pub(super) struct Remove {
    /// The source name that `ringfence list` shows.
    source: String,
}

impl Remove {
    pub(super) async fn run(self, session: &Session) -> anyhow::Result<()> {
        let Reply::Removed(left) = session.ask(Request::Remove { source: self.source.clone() }).await? else {
            anyhow::bail!("the host misunderstood")
        };
        let answer = json!({"removed": self.source, "grant": left.grant, "policy": left.policy});
        session.answer(&answer, |_| text(&self.source, &left))
    }
}

fn text(source: &str, left: &RemoveReport) -> String {
    let mut lines = vec![format!("Removed {source}, with what its tools kept.")];
    lines.extend(left.grant.as_ref().map(|file| {
        let file = file.display();
        format!("Its grant stays in {file}, for the same signer's package of this name; delete the file to end it.")
    }));
    if !left.policy.is_empty() {
        let entries = left.policy.join("`, `");
        lines.push(format!(
            "[policy] in the configuration still names it (`{entries}`), and will hold when it is back."
        ));
    }
    lines.join("\n")
}
