//! `ringfence list`: lists the installed packages.

use clap::Args;

use super::session::Session;
use super::show;
use crate::request::{PackageEntry, Reply, Request};

/// List the installed packages.
#[derive(Args)]
pub(super) struct List {}

impl List {
    pub(super) async fn run(self, session: &Session) -> anyhow::Result<()> {
        let Reply::Packages(packages) = session.ask(Request::List).await? else {
            anyhow::bail!("the host misunderstood")
        };
        session.answer(&packages, |packages| text(packages))
    }
}

fn text(packages: &[PackageEntry]) -> String {
    if packages.is_empty() {
        return "Nothing is installed. Next: `ringfence install LOCATION`.".into();
    }
    let rows = packages.iter().map(|package| {
        let signer = package.key_id.clone().unwrap_or_else(|| "UNSIGNED".into());
        let state = package.stopped.as_ref().map_or_else(|| "ready".into(), |why| format!("stopped: {why}"));
        let tools = package.tools.join(" ");
        let digest = show::short(&package.digest);
        let location = package.location.clone().unwrap_or_else(|| "not known".into());
        [package.source.clone(), package.version.clone(), signer, digest, state, tools, location]
    });
    show::table(["SOURCE", "VERSION", "SIGNED BY", "DIGEST", "STATE", "TOOLS", "FROM"], rows)
}
