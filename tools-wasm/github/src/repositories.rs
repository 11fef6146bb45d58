//! What a repository is.

use ringfence_sdk::prelude::*;

use crate::api;
use crate::repository::Repository;

/// The arguments of [`get_repository`](fn@get_repository).
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetRepository {
    /// The repository, as `owner/name`.
    pub repository: Repository,
}

/// A repository, in GitHub's own words. What is not known is null.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct RepositoryFacts {
    /// `owner/name`.
    pub full_name: String,
    /// The page for browsers.
    pub html_url: Option<String>,
    /// What it says of itself.
    pub description: Option<String>,
    /// The language of most of it.
    pub language: Option<String>,
    /// How many people starred it.
    pub stargazers_count: Option<u64>,
    /// How many forks there are.
    pub forks_count: Option<u64>,
    /// How many issues and pull requests are open.
    pub open_issues_count: Option<u64>,
    /// The branch that is meant unless another is named.
    pub default_branch: Option<String>,
    /// Its license.
    pub license: Option<License>,
    /// Its keywords.
    #[serde(default)]
    pub topics: Vec<String>,
    /// Whether not everybody can see it.
    #[serde(default)]
    pub private: bool,
    /// Whether it is a fork.
    #[serde(default)]
    pub fork: bool,
    /// Whether it can no longer be changed.
    #[serde(default)]
    pub archived: bool,
    /// When somebody last pushed to it.
    pub pushed_at: Option<String>,
}

/// A license.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct License {
    /// Its short name in the SPDX list; `NOASSERTION` for one that is not in it.
    pub spdx_id: Option<String>,
}

/// Tells what a repository is: description, language, license, default branch, counts of stars, forks and open issues.
#[tool(
    title = "Get a repository",
    read_only,
    idempotent,
    open_world,
    categories("github"),
    short_doc = "Tells what a repository is.",
    output = RepositoryFacts,
    example(description = "The Rust compiler", input = { "repository": "rust-lang/rust" }),
)]
pub fn get_repository(args: GetRepository) -> Result<Output, Failure> {
    let facts: RepositoryFacts = api::answer(api::get(&args.repository.path("")))?.json()?;
    Output::text(facts.text()).with_structured(&facts)
}

impl RepositoryFacts {
    fn text(&self) -> String {
        let line = |name: &str, value: Option<&String>| value.map(|value| format!("\n{name}: {value}"));
        let license = self.license.as_ref().and_then(|license| license.spdx_id.as_ref());
        let more = [
            line("Page", self.html_url.as_ref()),
            line("Default branch", self.default_branch.as_ref()),
            line("License", license),
            line("Topics", Some(&self.topics.join(", ")).filter(|topics| !topics.is_empty())),
            self.open_issues_count.map(|open| format!("\nOpen issues and pull requests: {open}")),
            line("Last push", self.pushed_at.as_ref()),
        ];
        format!("{}{}", self.line(), more.into_iter().flatten().collect::<String>())
    }

    /// All that matters for choosing one among many, on one line.
    pub(crate) fn line(&self) -> String {
        let marks: Vec<String> = [
            self.language.clone(),
            self.stargazers_count.map(|stars| format!("{stars} stars")),
            self.fork.then(|| "fork".to_owned()),
            self.archived.then(|| "archived".to_owned()),
            self.private.then(|| "private".to_owned()),
        ]
        .into_iter()
        .flatten()
        .collect();
        let marks = if marks.is_empty() { String::new() } else { format!(" ({})", marks.join(", ")) };
        let description = self.description.as_deref().unwrap_or("no description");
        format!("{}{marks}: {}", self.full_name, on_one_line(description))
    }
}

/// A text of strangers that is to stand on one line.
pub(crate) fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
