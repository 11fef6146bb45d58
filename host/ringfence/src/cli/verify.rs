//! `ringfence verify`: says who signed a component.

use std::path::PathBuf;

use clap::Args;

use super::exit;
use super::session::Session;
use crate::request::{Reply, Request};

/// Say who signed a component, by the trusted keys. The signature stands beside the file.
#[derive(Args)]
pub(super) struct Verify {
    /// The component.
    file: PathBuf,
}

impl Verify {
    pub(super) async fn run(self, session: &Session) -> anyhow::Result<()> {
        exit::there(&self.file)?;
        let file = std::path::absolute(&self.file)?;
        let Reply::Verified(report) = session.ask(Request::Verify { file }).await? else {
            anyhow::bail!("the host misunderstood")
        };
        session.answer(&report, |report| {
            format!("Signed by {} of {}.\n  {}", report.key_id, report.publisher, report.trusted_comment)
        })
    }
}
