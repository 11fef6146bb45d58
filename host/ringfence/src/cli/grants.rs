//! `ringfence grants`: shows what the installed packages ask for and what of it is granted.

use clap::Args;

use super::session::{Session, other_build};
use super::show;
use crate::request::{Asked, GrantEntry, HeldBack, PackageRequest, Reply};

/// Show what the installed packages ask for and what of it is granted.
#[derive(Args)]
pub(super) struct Grants {}

impl Grants {
    pub(super) async fn run(self, session: &Session) -> anyhow::Result<()> {
        let Reply::Grants(entries) = session.ask(PackageRequest::Grants).await? else { return Err(other_build()) };
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
    let notes: String = entries.iter().flat_map(GrantEntry::notes).map(|note| format!("\n\nNote: {note}.")).collect();
    let next = entries.iter().find_map(next).map(|next| format!("\n\nNext: {next}")).unwrap_or_default();
    format!("{asked}{unusable}{kept}{notes}{next}")
}

/// What would give a source what it lacks, where the notes do not say it.
fn next(entry: &GrantEntry) -> Option<String> {
    let source = &entry.source;
    if entry.unusable.is_some() {
        return None;
    }
    let lacking = |asked: &Asked| match &asked.held_back {
        _ if asked.granted => None,
        None => command(source, &entry.asked),
        Some(HeldBack::Ended(_)) => Some(format!("`ringfence grant {source} --expires TIME` sets another end.")),
        Some(HeldBack::NoSecret(name)) => Some(format!("`ringfence secret set {name}` stores what is missing.")),
        Some(HeldBack::Suspended) => None,
    };
    // Whatever else is missing, more of a grant that has ended gives nothing.
    let ended = |asked: &&Asked| matches!(asked.held_back, Some(HeldBack::Ended(_)));
    entry.asked.iter().find(ended).into_iter().chain(&entry.asked).find_map(lacking)
}

/// The command that grants what is asked for and not named in the grant; `None` where nothing is that the package needs.
pub(super) fn command(source: &str, asked: &[Asked]) -> Option<String> {
    let lacking = asked.iter().filter(|asked| !asked.granted && asked.held_back.is_none());
    let mut options: Vec<&str> = Vec::new();
    for option in lacking.filter_map(|asked| asked.option.as_deref()) {
        if !options.contains(&option) {
            options.push(option);
        }
    }
    let options = (!options.is_empty()).then(|| options.join(" "))?;
    let secret = match options.contains("=SECRET") {
        true => "; `ringfence secret set SECRET` stores a secret",
        false => "",
    };
    Some(format!("`ringfence grant {source} {options}`, or only some of it{secret}."))
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
        let granted = match &asked.held_back {
            _ if asked.granted => format!("yes{until}"),
            Some(why) => why.to_string(),
            None => "no".into(),
        };
        [entry.source.clone(), granted, asked.what.clone()]
    })
}
