//! `ringfence explain`: says whether a tool's request would be sent, and why.

use clap::Args;

use super::session::Session;
use crate::request::{ErrorKind, Explanation, Reply, Request, RequestError};

/// Say whether a tool's request would be sent, and which line of which file decides. Nothing is sent. Exit code 3 when
/// it would be refused.
#[derive(Args)]
pub(super) struct Explain {
    /// The tool, or its package.
    tool: String,
    /// The request, such as \"GET https://api.example.org/v1/now\".
    request: String,
}

impl Explain {
    pub(super) async fn run(self, session: &Session) -> anyhow::Result<()> {
        let asked = Request::Explain { tool: self.tool, request: self.request.clone() };
        let Reply::Explained(explanation) = session.ask(asked).await? else { anyhow::bail!("the host misunderstood") };
        if explanation.allowed {
            return session.answer(&explanation, |explanation| text(explanation, &self.request));
        }
        let message = text(&explanation, &self.request);
        Err(RequestError { kind: ErrorKind::Refused, code: "explain.refused".into(), message }.into())
    }
}

fn text(explanation: &Explanation, request: &str) -> String {
    let verdict = if explanation.allowed { "would be sent" } else { "would be refused" };
    let reasons: String = explanation.reasons.iter().map(|reason| format!("\n  {reason}")).collect();
    format!("{request} {verdict}:{reasons}")
}
