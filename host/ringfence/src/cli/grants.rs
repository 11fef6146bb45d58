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
    let asked = match rows.is_empty() {
        true => "No installed package asks for anything.".to_owned(),
        false => show::table(["SOURCE", "GRANTED", "ASKS FOR"], rows),
    };
    let unusable: String = entries.iter().filter_map(unusable).collect();
    let kept: String = entries.iter().filter(|entry| !entry.ceiling.is_empty()).map(kept).collect();
    let missing = entries
        .iter()
        .filter(|entry| entry.unusable.is_none())
        .find(|entry| entry.asked.iter().any(|asked| !asked.granted));
    let next = missing.map(|entry| format!("\n\nNext: `ringfence grant {} --all`, or only some of it.", entry.source));
    format!("{asked}{unusable}{kept}{}", next.unwrap_or_default())
}

/// What the grant of a source leaves of limits and rate.
fn kept(entry: &GrantEntry) -> String {
    format!("\n\n`{}` gets at most {} ({})", entry.source, entry.ceiling.join(", "), entry.file.display())
}

/// Why nothing is granted to a source although there is a file.
fn unusable(entry: &GrantEntry) -> Option<String> {
    entry.unusable.as_ref().map(|why| format!("\n\n`{}` is granted nothing and stopped: {why}", entry.source))
}

fn rows(entry: &GrantEntry) -> impl Iterator<Item = [String; 3]> {
    let until = entry.expires.as_ref().map(|end| format!(" until {end}")).unwrap_or_default();
    entry.asked.iter().map(move |asked| {
        let granted = if asked.granted { format!("yes{until}") } else { "no".into() };
        [entry.source.clone(), granted, asked.what.clone()]
    })
}
