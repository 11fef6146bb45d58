//! The issues of a repository: listed, read, opened.

use ringfence_sdk::prelude::*;

use crate::issue::Issue;
use crate::repository::Repository;
use crate::{api, page};

/// The arguments of [`list_issues`](fn@list_issues).
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListIssues {
    /// The repository, as `owner/name`.
    pub repository: Repository,
    /// Which: the open ones unless given.
    #[serde(default)]
    pub state: State,
    /// Only those with all of these labels.
    #[serde(default)]
    #[schemars(length(max = 20))]
    pub labels: Vec<String>,
    /// Which page, from 1.
    #[serde(default = "page::first")]
    #[schemars(range(min = 1))]
    pub page: u32,
    /// How many at once: 30 unless given, at most 100.
    #[serde(default = "page::usual_size")]
    #[schemars(range(min = 1, max = 100))]
    pub per_page: u8,
}

/// Which issues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Those that wait to be seen to.
    #[default]
    Open,
    /// Those that are done, or will not be.
    Closed,
    /// All.
    All,
}

/// A page of issues.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Issues {
    /// The issues and pull requests, the newest first.
    pub issues: Vec<Issue>,
    /// The next page; null where this is the last.
    pub next_page: Option<u32>,
}

/// The arguments of [`get_issue`](fn@get_issue).
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetIssue {
    /// The repository, as `owner/name`.
    pub repository: Repository,
    /// The number of the issue.
    #[schemars(range(min = 1))]
    pub number: u64,
}

/// The arguments of [`create_issue`](fn@create_issue).
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateIssue {
    /// The repository, as `owner/name`.
    pub repository: Repository,
    /// What the issue is called: one line.
    #[schemars(length(min = 1, max = 256))]
    pub title: String,
    /// What it says, in Markdown.
    #[serde(default)]
    #[schemars(length(max = 65_536))]
    pub body: String,
    /// Labels that the repository has.
    #[serde(default)]
    #[schemars(length(max = 100))]
    pub labels: Vec<String>,
    /// Who is to see to it, by login.
    #[serde(default)]
    #[schemars(length(max = 10))]
    pub assignees: Vec<String>,
}

/// What GitHub is told of a new issue.
#[derive(Serialize)]
struct NewIssue<'a> {
    title: &'a str,
    body: &'a str,
    labels: &'a [String],
    assignees: &'a [String],
}

/// Lists the issues and pull requests of a repository, the newest first, by state and labels.
#[tool(
    title = "List issues",
    read_only,
    idempotent,
    open_world,
    categories("github"),
    short_doc = "Lists the issues of a repository.",
    output = Issues,
    example(description = "Open bugs", input = { "repository": "octocat/hello-world", "labels": ["bug"] }),
)]
pub fn list_issues(args: ListIssues) -> Result<Output, Failure> {
    let state = match args.state {
        State::Open => "open",
        State::Closed => "closed",
        State::All => "all",
    };
    let labels = (!args.labels.is_empty()).then(|| args.labels.join(","));
    let request = api::get(&args.repository.path("/issues")).query("state", state).optional_query("labels", labels);
    let (found, next_page) = page::get::<Vec<Issue>>(request, args.page, args.per_page)?;
    let issues = Issues { issues: found.into_iter().map(Issue::without_body).collect(), next_page };
    Output::text(issues.text(&args.repository)).with_structured(&issues)
}

/// Gives an issue or a pull request with what it says.
#[tool(
    title = "Get an issue",
    read_only,
    idempotent,
    open_world,
    categories("github"),
    short_doc = "Gives an issue with its text.",
    output = Issue,
    example(description = "By its number", input = { "repository": "octocat/hello-world", "number": 1347 }),
)]
pub fn get_issue(args: GetIssue) -> Result<Output, Failure> {
    let path = args.repository.path(&format!("/issues/{}", args.number));
    let issue: Issue = api::answer(api::get(&path))?.json()?;
    Output::text(issue.text()).with_structured(&issue)
}

/// Opens an issue. Everybody who watches the repository is told, and it cannot be taken back, only closed.
#[tool(
    title = "Open an issue",
    open_world,
    categories("github"),
    short_doc = "Opens an issue.",
    rate_limit(per_minute = 20, per_hour = 150),
    output = Issue,
    example(
        description = "With a label",
        input = {
            "repository": "octocat/hello-world",
            "title": "The greeting has no comma",
            "body": "It says `Hello World`.",
            "labels": ["bug"]
        },
    ),
)]
pub fn create_issue(args: CreateIssue) -> Result<Output, Failure> {
    let CreateIssue { title, body, labels, assignees, .. } = &args;
    let new = NewIssue { title, body, labels, assignees };
    let issue: Issue = api::made(api::post(&args.repository.path("/issues")).json(&new)?)?;
    Output::text(format!("Opened #{}: {}", issue.number, issue.html_url)).with_structured(&issue)
}

impl Issues {
    fn text(&self, repository: &Repository) -> String {
        if self.issues.is_empty() {
            return format!("{repository} has no such issues on this page.");
        }
        let lines: Vec<_> = self.issues.iter().map(Issue::line).collect();
        format!("{}{}", lines.join("\n"), page::footer(self.next_page))
    }
}
