//! Searches all of GitHub.

use ringfence_sdk::prelude::*;

use crate::issue::Issue;
use crate::repositories::RepositoryFacts;
use crate::{api, page};

/// The arguments of [`search_repositories`](fn@search_repositories).
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchRepositories {
    /// Words, and GitHub's qualifiers such as `language:rust`, `stars:>100`, `org:rust-lang`, `topic:wasm`.
    #[schemars(length(min = 1, max = 1000))]
    pub query: String,
    /// What decides which come first: what fits best unless given.
    pub sort: Option<RepositoryOrder>,
    /// Which page, from 1. GitHub gives the first 1,000 hits only.
    #[serde(default = "page::first")]
    #[schemars(range(min = 1, max = 1000))]
    pub page: u32,
    /// How many at once: 30 unless given, at most 100.
    #[serde(default = "page::usual_size")]
    #[schemars(range(min = 1, max = 100))]
    pub per_page: u8,
}

/// What decides which repositories come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RepositoryOrder {
    /// The most stars.
    Stars,
    /// The most forks.
    Forks,
    /// The last change.
    Updated,
}

/// The arguments of [`search_issues`](fn@search_issues).
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchIssues {
    /// Words, and GitHub's qualifiers such as `repo:owner/name`, `is:issue`, `is:open`, `author:octocat`, `label:bug`.
    #[schemars(length(min = 1, max = 1000))]
    pub query: String,
    /// What decides which come first: what fits best unless given.
    pub sort: Option<IssueOrder>,
    /// Which page, from 1. GitHub gives the first 1,000 hits only.
    #[serde(default = "page::first")]
    #[schemars(range(min = 1, max = 1000))]
    pub page: u32,
    /// How many at once: 30 unless given, at most 100.
    #[serde(default = "page::usual_size")]
    #[schemars(range(min = 1, max = 100))]
    pub per_page: u8,
}

/// What decides which issues come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IssueOrder {
    /// The newest.
    Created,
    /// The last change.
    Updated,
    /// The most comments.
    Comments,
}

/// A page of repositories.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FoundRepositories {
    /// How many there are in all.
    pub total_count: u64,
    /// Whether GitHub gave up before it had looked at all of them.
    pub incomplete_results: bool,
    /// Those on this page.
    pub repositories: Vec<RepositoryFacts>,
    /// The next page; null where this is the last.
    pub next_page: Option<u32>,
}

/// A page of issues.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FoundIssues {
    /// How many there are in all.
    pub total_count: u64,
    /// Whether GitHub gave up before it had looked at all of them.
    pub incomplete_results: bool,
    /// The issues and pull requests on this page.
    pub issues: Vec<Issue>,
    /// The next page; null where this is the last.
    pub next_page: Option<u32>,
}

#[derive(Deserialize)]
struct Hits<T> {
    total_count: u64,
    #[serde(default)]
    incomplete_results: bool,
    items: Vec<T>,
}

/// Searches all repositories of GitHub that the token may see.
#[tool(
    title = "Search repositories",
    read_only,
    idempotent,
    open_world,
    categories("github", "search"),
    short_doc = "Searches repositories.",
    output = FoundRepositories,
    example(
        description = "The best known",
        input = { "query": "webassembly runtime language:rust", "sort": "stars", "per_page": 5 },
    ),
)]
pub fn search_repositories(args: SearchRepositories) -> Result<Output, Failure> {
    let sort = args.sort.map(|order| match order {
        RepositoryOrder::Stars => "stars",
        RepositoryOrder::Forks => "forks",
        RepositoryOrder::Updated => "updated",
    });
    let request = api::get("/search/repositories").query("q", &args.query).optional_query("sort", sort);
    let (hits, next_page) = page::get::<Hits<RepositoryFacts>>(request, args.page, args.per_page)?;
    let Hits { total_count, incomplete_results, items: repositories } = hits;
    let text = text(total_count, repositories.iter().map(RepositoryFacts::line), next_page);
    let found = FoundRepositories { total_count, incomplete_results, repositories, next_page };
    Output::text(text).with_structured(&found)
}

/// Searches all issues and pull requests of GitHub that the token may see.
#[tool(
    title = "Search issues",
    read_only,
    idempotent,
    open_world,
    categories("github", "search"),
    short_doc = "Searches issues and pull requests.",
    output = FoundIssues,
    example(
        description = "Open bugs of one repository",
        input = { "query": "repo:octocat/hello-world is:issue is:open label:bug", "sort": "updated" },
    ),
)]
pub fn search_issues(args: SearchIssues) -> Result<Output, Failure> {
    let sort = args.sort.map(|order| match order {
        IssueOrder::Created => "created",
        IssueOrder::Updated => "updated",
        IssueOrder::Comments => "comments",
    });
    let request = api::get("/search/issues").query("q", &args.query).optional_query("sort", sort);
    let (hits, next_page) = page::get::<Hits<Issue>>(request, args.page, args.per_page)?;
    let Hits { total_count, incomplete_results, items } = hits;
    let issues: Vec<Issue> = items.into_iter().map(Issue::without_body).collect();
    let lines = issues.iter().map(|issue| format!("{} {}", issue.line(), issue.html_url));
    let text = text(total_count, lines, next_page);
    let found = FoundIssues { total_count, incomplete_results, issues, next_page };
    Output::text(text).with_structured(&found)
}

fn text(total: u64, lines: impl Iterator<Item = String>, next: Option<u32>) -> String {
    let lines: String = lines.map(|line| format!("\n{line}")).collect();
    match lines.is_empty() {
        true => format!("{total} hits, none of them on this page."),
        false => format!("{total} hits.{lines}{}", page::footer(next)),
    }
}
