//! What is said about an issue.

use ringfence_sdk::prelude::*;

use crate::issue::login;
use crate::repository::Repository;
use crate::{api, page};

/// The arguments of [`list_comments`](fn@list_comments).
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListComments {
    /// The repository, as `owner/name`.
    pub repository: Repository,
    /// The number of the issue or pull request.
    #[schemars(range(min = 1))]
    pub number: u64,
    /// Which page, from 1.
    #[serde(default = "page::first")]
    #[schemars(range(min = 1))]
    pub page: u32,
    /// How many at once: 30 unless given, at most 100.
    #[serde(default = "page::usual_size")]
    #[schemars(range(min = 1, max = 100))]
    pub per_page: u8,
}

/// The arguments of [`add_comment`](fn@add_comment).
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddComment {
    /// The repository, as `owner/name`.
    pub repository: Repository,
    /// The number of the issue or pull request.
    #[schemars(range(min = 1))]
    pub number: u64,
    /// What to say, in Markdown.
    #[schemars(length(min = 1, max = 65_536))]
    pub body: String,
}

/// A comment, in GitHub's own words.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Comment {
    /// The page for browsers.
    pub html_url: String,
    /// Who says it; null where the user is gone.
    #[serde(default, deserialize_with = "login")]
    pub user: Option<String>,
    /// When.
    pub created_at: Option<String>,
    /// What, in Markdown.
    pub body: Option<String>,
}

/// A page of comments.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Comments {
    /// The comments, the oldest first.
    pub comments: Vec<Comment>,
    /// The next page; null where this is the last.
    pub next_page: Option<u32>,
}

/// What GitHub is told of a new comment.
#[derive(Serialize)]
struct NewComment<'a> {
    body: &'a str,
}

/// Lists the comments on an issue or a pull request, the oldest first.
#[tool(
    title = "List comments",
    read_only,
    idempotent,
    open_world,
    categories("github"),
    short_doc = "Lists the comments on an issue.",
    output = Comments,
    example(description = "The first ones", input = { "repository": "octocat/hello-world", "number": 1347 }),
)]
pub fn list_comments(args: ListComments) -> Result<Output, Failure> {
    let request = api::get(&path(&args.repository, args.number));
    let (comments, next_page) = page::get(request, args.page, args.per_page)?;
    let comments = Comments { comments, next_page };
    Output::text(comments.text()).with_structured(&comments)
}

/// Comments on an issue or a pull request. Everybody who follows it is told.
#[tool(
    title = "Comment on an issue",
    open_world,
    categories("github"),
    short_doc = "Comments on an issue.",
    rate_limit(per_minute = 20, per_hour = 150),
    output = Comment,
    example(
        description = "A thank-you",
        input = { "repository": "octocat/hello-world", "number": 1347, "body": "Thank you for the report." },
    ),
)]
pub fn add_comment(args: AddComment) -> Result<Output, Failure> {
    let request = api::post(&path(&args.repository, args.number)).json(&NewComment { body: &args.body })?;
    let comment: Comment = api::made(request)?;
    Output::text(format!("Commented: {}", comment.html_url)).with_structured(&comment)
}

fn path(repository: &Repository, number: u64) -> String {
    repository.path(&format!("/issues/{number}/comments"))
}

impl Comments {
    fn text(&self) -> String {
        if self.comments.is_empty() {
            return "There are no comments on this page.".to_owned();
        }
        let texts: Vec<_> = self.comments.iter().map(Comment::text).collect();
        format!("{}{}", texts.join("\n\n"), page::footer(self.next_page))
    }
}

impl Comment {
    fn text(&self) -> String {
        let by = self.user.as_deref().unwrap_or("nobody");
        let at = self.created_at.as_deref().unwrap_or("an unknown time");
        format!("{by} at {at}:\n{}", self.body.as_deref().unwrap_or_default())
    }
}
