//! `ringfence grants`: shows what the installed packages ask for and what of it is granted.

use clap::Args;

use super::session::Session;
use super::show;
use crate::request::{GrantEntry, Reply, Request};

/// Show what the installed packages ask for and what of it is granted.
#[derive(Args)]
pub(super) struct Grants {}

impl Grants {
    pub(super) async fn run(self, session: &Session) -> anyhow::Result<()> {
        let Reply::Grants(entries) = session.ask(Request::Grants).await? else {
            anyhow::bail!("the host misunderstood")
        };
        session.answer(&entries, |entries| text(entries))
    }
}

pub(super) fn text(entries: &[GrantEntry]) -> String {
    let rows: Vec<_> = entries.iter().flat_map(rows).collect();
    if rows.is_empty() {
        return "No installed package asks for anything.".into();
    }
    let missing = entries.iter().find(|entry| entry.asked.iter().any(|asked| !asked.granted));
    let next = missing.map(|entry| format!("\n\nNext: `ringfence grant {} --all`, or only some of it.", entry.source));
    format!("{}{}", show::table(["SOURCE", "GRANTED", "ASKS FOR"], rows), next.unwrap_or_default())
}

fn rows(entry: &GrantEntry) -> impl Iterator<Item = [String; 3]> {
    let until = entry.expires.as_ref().map(|end| format!(" until {end}")).unwrap_or_default();
    entry.asked.iter().map(move |asked| {
        let granted = if asked.granted { format!("yes{until}") } else { "no".into() };
        [entry.source.clone(), granted, asked.what.clone()]
    })
}
