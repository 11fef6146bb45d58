//! `ringfence search`: finds packages among those that are installed and in the configured indexes.

use clap::Args;
use ringfence_distribution::{Entry, IndexPlace, Location, matches};
use serde::Serialize;

use super::network::Network;
use super::session::{Session, other_build};
use super::show;
use crate::config::Config;
use crate::request::{PackageEntry, PackageRequest, Reply, RequestError};

/// Find packages by words, among those that are installed and in the configured indexes.
#[derive(Args)]
#[command(
    after_help = "Indexes stand under [indexes] in the configuration: folders, or the addresses of index.json files."
)]
pub(super) struct Search {
    /// Words that all have to occur in name, description, publisher or tools.
    words: Vec<String>,
    #[command(flatten)]
    network: Network,
}

/// What was found.
#[derive(Serialize)]
struct Report {
    found: Vec<Found>,
    /// The indexes that could not be read.
    unreadable: Vec<Unreadable>,
}

#[derive(Serialize)]
struct Found {
    name: String,
    version: String,
    publisher: String,
    description: String,
    tools: Vec<String>,
    /// The index that lists it; `None` where it is installed.
    index: Option<String>,
    /// As `ringfence install` takes it.
    location: Option<String>,
}

#[derive(Serialize)]
struct Unreadable {
    index: String,
    error: RequestError,
}

impl Search {
    pub(super) async fn run(self, session: &Session) -> anyhow::Result<()> {
        let Reply::Packages(installed) = session.ask(PackageRequest::List).await? else { return Err(other_build()) };
        let mut report = Report { found: Vec::new(), unreadable: Vec::new() };
        report.found.extend(installed.into_iter().filter(|entry| is_meant(entry, &self.words)).map(Found::installed));
        let indexes = Config::load(&session.home()?.config)?.indexes;
        let distribution = self.network.distribution(session)?;
        for (name, place) in indexes {
            // Checked when the configuration was read.
            let place: IndexPlace = place.parse()?;
            match session.until_interrupted(distribution.index(&place, session.watcher())).await? {
                Ok(index) => {
                    let entries = index.search(&self.words).into_iter();
                    report.found.extend(entries.map(|entry| Found::listed(entry, &name, &place)));
                }
                Err(error) => report.unreadable.push(Unreadable { index: name, error }),
            }
        }
        session.answer(&report, text)
    }
}

fn is_meant(entry: &PackageEntry, words: &[String]) -> bool {
    let texts = [entry.source.as_str(), &entry.description, &entry.publisher].into_iter();
    matches(words, texts.chain(entry.tools.iter().map(String::as_str)))
}

impl Found {
    fn installed(entry: PackageEntry) -> Self {
        let PackageEntry { source: name, version, publisher, description, tools, location, .. } = entry;
        Self { name, version, publisher, description, tools, index: None, location }
    }

    fn listed(entry: &Entry, index: &str, place: &IndexPlace) -> Self {
        let location = Location::Listed { index: place.clone(), name: entry.name.clone(), version: None };
        Self {
            name: entry.name.to_string(),
            version: entry.version.to_string(),
            publisher: entry.publisher.clone(),
            description: entry.description.clone(),
            tools: entry.tools.clone(),
            index: Some(index.to_owned()),
            location: Some(location.to_string()),
        }
    }
}

fn text(report: &Report) -> String {
    let rows = report.found.iter().map(|found| {
        let place = found.location.clone().filter(|_| found.index.is_some()).unwrap_or_else(|| "installed".into());
        [found.name.clone(), found.version.clone(), found.publisher.clone(), place, found.description.clone()]
    });
    let mut lines = match report.found.is_empty() {
        true => vec!["Nothing matches. [indexes] in the configuration says where to look besides.".to_owned()],
        false => vec![show::table(["NAME", "VERSION", "PUBLISHER", "WHERE", "DESCRIPTION"], rows)],
    };
    let next = report.found.iter().find(|found| found.index.is_some());
    lines.extend(
        next.and_then(|found| found.location.as_ref()).map(|place| format!("Next: `ringfence install {place}`.")),
    );
    lines
        .extend(report.unreadable.iter().map(|index| format!("warning: the index `{}`: {}", index.index, index.error)));
    lines.join("\n")
}
