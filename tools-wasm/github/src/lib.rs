//! GitHub, by its [REST API](https://docs.github.com/rest). The host places the token; no tool ever holds it.

mod api;
pub mod comments;
pub mod contents;
pub mod issue;
pub mod issues;
pub mod page;
mod rate;
pub mod repositories;
pub mod repository;
pub mod search;

use ringfence_sdk::export_tools;

export_tools!(
    search::search_repositories,
    search::search_issues,
    repositories::get_repository,
    contents::get_contents,
    issues::list_issues,
    issues::get_issue,
    issues::create_issue,
    comments::list_comments,
    comments::add_comment,
);

#[cfg(test)]
mod tests;
