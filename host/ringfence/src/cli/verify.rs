//! `ringfence verify`: says who signed a component.

use std::path::PathBuf;

use clap::Args;

use super::files;
use super::session::{Session, other_build};
use crate::request::{PackageRequest, Reply};

/// Say who signed a component, by the trusted keys.
///
/// The signature stands beside the file.
#[derive(Args)]
pub(super) struct Verify {
    /// The component.
    file: PathBuf,
}

impl Verify {
    pub(super) async fn run(self, session: &Session) -> anyhow::Result<()> {
        files::file(&self.file)?;
        let file = std::path::absolute(&self.file)?;
        let Reply::Verified(report) = session.ask(PackageRequest::Verify { file }).await? else {
            return Err(other_build());
        };
        session.answer(&report, |report| {
            let who = report.identity.as_ref().map(ToString::to_string);
            let beside = [who, report.trusted_comment.clone()].into_iter().flatten().collect::<Vec<_>>().join("\n  ");
            format!("Signed by {} of {}.\n  {beside}", report.key_id, report.publisher)
        })
    }
}
