//! `ringfence grants`: shows what the installed packages ask for and what of it is granted.

use clap::Args;

use super::session::{Session, other_build};
use super::show;
use crate::request::{Asked, GrantEntry, HeldBack, NeededSecret, PackageRequest, Reply};

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
        // Whoever granted a part did not mean the whole.
        Some(HeldBack::Suspended | HeldBack::Part(_)) => None,
    };
    // Whatever else is missing, more of a grant that has ended gives nothing.
    let ended = |asked: &&Asked| matches!(asked.held_back, Some(HeldBack::Ended(_)));
    entry.asked.iter().find(ended).into_iter().chain(&entry.asked).find_map(lacking)
}

/// What gives a source a secret that it lacks, the one of which `error` speaks before others, or, where it has all that it
/// needs, another value of one.
pub(super) fn secret_remedy(entry: &GrantEntry, error: &str) -> Option<String> {
    let mut needing = entry.asked.iter().filter(|asked| !asked.secrets.is_empty() && asked.option.is_some());
    let source = &entry.source;
    let lacking: Vec<&Asked> = needing.clone().filter(|asked| !asked.granted).collect();
    let is_meant = |asked: &&&Asked| asked.secrets.iter().any(|secret| error.contains(&format!("`{}`", secret.name)));
    match lacking.iter().find(is_meant).or(lacking.first()).copied() {
        Some(Asked { held_back: Some(HeldBack::NoSecret(name)), .. }) => {
            Some(format!("`ringfence secret set {name}` stores what is missing"))
        }
        Some(asked) if asked.held_back.is_none() => Some(steps(source, &[asked])?.join(", then ")),
        Some(_) => next(entry),
        None => {
            let rotate = |NeededSecret { name, .. }: &NeededSecret| format!("`ringfence secret rotate {name}`");
            let commands: Vec<String> = needing.next()?.secrets.iter().map(rotate).collect();
            Some(format!("if the service does not take what it is sent, {} gives another value", commands.join(" or ")))
        }
    }
}

/// The commands that grant what is asked for and not named in the grant; `None` where nothing is that the package needs.
pub(super) fn command(source: &str, asked: &[Asked]) -> Option<String> {
    let lacking: Vec<&Asked> = asked.iter().filter(|asked| !asked.granted && asked.held_back.is_none()).collect();
    Some(format!("{}, or only some of it.", steps(source, &lacking)?.join(", then ")))
}

/// The commands that store the secrets behind all that is `lacking` and then grant it; `None` where nothing has to be.
fn steps(source: &str, lacking: &[&Asked]) -> Option<Vec<String>> {
    let needed = lacking.iter().filter(|asked| asked.option.is_some());
    let mut options: Vec<&str> = Vec::new();
    for option in needed.clone().filter_map(|asked| asked.option.as_deref()) {
        if !options.contains(&option) {
            options.push(option);
        }
    }
    let options = (!options.is_empty()).then(|| options.join(" "))?;
    let missing = needed.flat_map(|asked| &asked.secrets).filter(|secret| !secret.stored);
    let mut steps: Vec<String> = missing.map(|secret| format!("`ringfence secret set {}`", secret.name)).collect();
    steps.dedup();
    steps.push(format!("`ringfence grant {source} {options}`"));
    Some(steps)
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
