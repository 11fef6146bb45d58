//! `ringfence explain`: says whether a tool's request would be sent, and why.

use clap::Args;

use super::exit::Reported;
use super::session::{Session, other_build};
use crate::request::{ErrorKind, Explanation, PackageRequest, Reply, RequestError};

/// Say whether a tool's request would be sent, and which line of which file decides.
///
/// Nothing is sent. Exit code 3 when it would be refused.
#[derive(Args)]
pub(super) struct Explain {
    /// The tool, or its package.
    tool: String,
    /// The request, such as `GET https://api.example.org/v1/now`.
    request: String,
}

impl Explain {
    pub(super) async fn run(self, session: &Session) -> anyhow::Result<()> {
        let asked = PackageRequest::Explain { tool: self.tool, request: self.request.clone() };
        let Reply::Explained(explanation) = session.ask(asked).await? else { return Err(other_build()) };
        session.answer(&explanation, |explanation| text(explanation, &self.request))?;
        if explanation.allowed {
            return Ok(());
        }
        let message = text(&explanation, &self.request);
        Err(Reported(RequestError { kind: ErrorKind::Refused, code: "explain.refused".into(), message }).into())
    }
}

fn text(explanation: &Explanation, request: &str) -> String {
    let verdict = if explanation.allowed { "would be sent" } else { "would be refused" };
    let reasons: String = explanation.reasons.iter().map(|reason| format!("\n  {reason}")).collect();
    format!("{request} {verdict}:{reasons}")
}
