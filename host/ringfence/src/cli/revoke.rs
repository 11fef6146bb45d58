//! `ringfence revoke`: takes back all that a package was granted.

use clap::Args;
use serde_json::json;

use super::session::Session;
use crate::request::PackageRequest;

/// Take back all that a package was granted, at once.
///
/// It stays installed, and limits and rate in its grant still hold.
#[derive(Args)]
pub(super) struct Revoke {
    /// The package, as `ringfence list` shows it.
    source: String,
}

impl Revoke {
    pub(super) async fn run(self, session: &Session) -> anyhow::Result<()> {
        session.ask(PackageRequest::GrantRevoke { source: self.source.clone() }).await?;
        session.answer(&json!({"revoked": self.source}), |_| format!("`{}` is granted nothing any more.", self.source))
    }
}
