//! `ringfence remove`: removes an installed package.

use clap::Args;
use serde_json::json;

use super::session::Session;
use crate::request::Request;

/// Remove an installed package, with what its tools kept between calls. Its newest version is remembered, so that no older one can come back unnoticed.
#[derive(Args)]
pub(super) struct Remove {
    /// The source name that `ringfence list` shows.
    source: String,
}

impl Remove {
    pub(super) async fn run(self, session: &Session) -> anyhow::Result<()> {
        session.ask(Request::Remove { source: self.source.clone() }).await?;
        session
            .answer(&json!({"removed": self.source}), |_| format!("Removed {}, with what its tools kept.", self.source))
    }
}
