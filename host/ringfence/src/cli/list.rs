//! `ringfence list`: lists the installed packages.

use clap::Args;

use super::session::{Session, other_build};
use super::show;
use crate::request::{PackageEntry, PackageRequest, Reply};

/// List the installed packages.
#[derive(Args)]
pub(super) struct List {}

impl List {
    pub(super) async fn run(self, session: &Session) -> anyhow::Result<()> {
        let Reply::Packages(packages) = session.ask(PackageRequest::List).await? else { return Err(other_build()) };
        session.answer(&packages, |packages| text(packages))
    }
}

fn text(packages: &[PackageEntry]) -> String {
    if packages.is_empty() {
        return "Nothing is installed. Next: `ringfence install LOCATION`.".into();
    }
    let rows = packages.iter().map(|package| {
        let signer = package.key_id.clone().unwrap_or_else(|| "UNSIGNED".into());
        let state = if package.stopped.is_some() { "stopped" } else { "ready" }.to_owned();
        let tools = package.tools.len().to_string();
        let location = package.location.clone().unwrap_or_else(|| "not known".into());
        [package.source.clone(), package.version.clone(), signer, state, tools, location]
    });
    let table = show::table(["SOURCE", "VERSION", "SIGNED BY", "STATE", "TOOLS", "FROM"], rows);
    let why = |PackageEntry { source, stopped, .. }: &PackageEntry| {
        stopped.as_ref().map(|why| format!("\n\n`{source}` is stopped: {why}"))
    };
    format!("{table}{}", packages.iter().filter_map(why).collect::<String>())
}
