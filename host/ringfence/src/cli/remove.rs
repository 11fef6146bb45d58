//! `ringfence remove`: removes an installed package.

use clap::Args;
use serde_json::json;

use super::session::{Session, other_build};
use crate::request::{LeftBehind, PackageRequest, Reply};

/// Remove an installed package, with what its tools kept between calls.
///
/// Its newest version is remembered, so that no older one can come back unnoticed.
#[derive(Args)]
pub(super) struct Remove {
    /// The source name that `ringfence list` shows.
    source: String,
}

impl Remove {
    pub(super) async fn run(self, session: &Session) -> anyhow::Result<()> {
        let Reply::Removed(left) = session.ask(PackageRequest::Remove { source: self.source.clone() }).await? else {
            return Err(other_build());
        };
        let answer = json!({"removed": self.source, "grant": left.grant, "policy": left.policy});
        session.answer(&answer, |_| {
            let removed = format!("Removed {}, with what its tools kept.", self.source);
            [removed].into_iter().chain(remains(&left)).collect::<Vec<_>>().join("\n")
        })
    }
}

/// What still speaks of a package that was removed or stopped, in sentences.
pub(super) fn remains(left: &LeftBehind) -> Vec<String> {
    let grant = left.grant.as_ref().map(|file| {
        let file = file.display();
        format!("Its grant stays in {file}, for the same signer's package of this name; delete the file to end it.")
    });
    let policy = (!left.policy.is_empty()).then(|| {
        let entries = left.policy.join("`, `");
        format!("[policy] in the configuration still names it (`{entries}`), and will hold when it is back.")
    });
    grant.into_iter().chain(policy).collect()
}
