//! The tools against answers like those of GitHub, and against others.

use std::cell::RefCell;
use std::rc::Rc;

use proptest::prelude::*;
use ringfence_sdk::http::Response;
use ringfence_sdk::serde_json::{Value, from_slice, from_str, json};
use ringfence_sdk::testing::{Call, Request, TestHost};
use ringfence_sdk::{Content, Effects, FailureKind};

use crate::TOOLS;

const REPOSITORY: &str = include_str!("../answers/repository.json");
const REPOSITORIES: &str = include_str!("../answers/search_repositories.json");
const ISSUE: &str = include_str!("../answers/issue.json");
const ISSUES: &str = include_str!("../answers/issues.json");
const COMMENT: &str = include_str!("../answers/comment.json");
const COMMENTS: &str = include_str!("../answers/comments.json");
const FILE: &str = include_str!("../answers/file.json");
const FOLDER: &str = include_str!("../answers/folder.json");

/// Calls `tool`, which gets `answer`. Gives what it asked for as well.
fn call_for(tool: &str, args: Value, answer: Response) -> (Call, Option<Request>) {
    let asked = Rc::new(RefCell::new(None));
    let log = asked.clone();
    let host = TestHost::new(TOOLS).with_http(move |request| {
        assert!(log.replace(Some(request.clone())).is_none(), "a second request");
        let header = |name: &str| request.headers.iter().find(|h| h.name == name).map(|h| h.value.as_slice());
        assert_eq!(header("x-github-api-version"), Some(&b"2022-11-28"[..]));
        assert_eq!(header("accept"), Some(&b"application/vnd.github+json"[..]));
        assert_eq!(header("authorization"), None);
        Ok(answer.clone())
    });
    let call = host.call(tool, args);
    (call, asked.take())
}

fn call(tool: &str, args: Value, answer: impl Into<Vec<u8>>) -> (Call, String) {
    let (call, request) = call_for(tool, args, Response::new(200, answer));
    let request = request.unwrap();
    (call, format!("{} {}", request.method, request.url))
}

fn refused(status: u16, body: &str) -> Call {
    call_for("get_repository", json!({ "repository": "a/b" }), Response::new(status, body)).0
}

#[test]
fn a_repository_in_a_few_lines() {
    let (call, asked) = call("get_repository", json!({ "repository": "octocat/hello-world" }), REPOSITORY);
    assert_eq!(asked, "GET https://api.github.com/repos/octocat/hello-world");
    assert_eq!(
        call.text(),
        "octocat/hello-world (Rust, 2870 stars): My first repository on GitHub!\n\
         Page: https://github.com/octocat/hello-world\nDefault branch: main\nLicense: MIT\nTopics: greeting, octocat\n\
         Open issues and pull requests: 1347\nLast push: 2026-11-26T06:44:33Z"
    );
    assert_eq!(call.structured::<Value>()["license"], json!({ "spdx_id": "MIT" }));
}

#[test]
fn searching_repositories() {
    let args = json!({ "query": "tetris language:assembly", "sort": "stars", "page": 2, "per_page": 2 });
    let next = "<https://api.github.com/search/repositories?page=3>; rel=\"next\"";
    let answer = Response::new(200, REPOSITORIES).with_header("link", next);
    let (call, request) = call_for("search_repositories", args, answer);
    let query = "q=tetris%20language%3Aassembly&sort=stars&page=2&per_page=2";
    assert_eq!(request.unwrap().url, format!("https://api.github.com/search/repositories?{query}"));
    assert_eq!(
        call.text(),
        "40 hits.\ndtrupenn/Tetris (Assembly, 12 stars, archived): A C implementation of Tetris\n\
         octocat/blocks (0 stars, fork, private): no description\nThere are more: ask for page 3."
    );
    assert_eq!(call.structured::<Value>()["next_page"], 3);
}

#[test]
fn searching_issues() {
    let found = format!(r#"{{"total_count": 2, "incomplete_results": true, "items": {ISSUES}}}"#);
    let (call, asked) = call("search_issues", json!({ "query": "is:open bug" }), found);
    assert_eq!(asked, "GET https://api.github.com/search/issues?q=is%3Aopen%20bug&page=1&per_page=30");
    assert!(call.text().ends_with("by nobody, 0 comments) https://github.com/octocat/hello-world/pull/1346"));
    assert_eq!(call.structured::<Value>()["incomplete_results"], true);
    let (nothing, _) =
        super::tests::call("search_issues", json!({ "query": "x" }), r#"{"total_count": 0, "items": []}"#);
    assert_eq!(nothing.text(), "0 hits, none of them on this page.");
}

#[test]
fn issues_are_listed_without_their_texts() {
    let args = json!({ "repository": "octocat/hello-world", "state": "all", "labels": ["bug", "good first"] });
    let (call, asked) = call("list_issues", args, ISSUES);
    let query = "state=all&labels=bug%2Cgood%20first&page=1&per_page=30";
    assert_eq!(asked, format!("GET https://api.github.com/repos/octocat/hello-world/issues?{query}"));
    assert_eq!(
        call.text(),
        "#1347 open issue: Found a bug [bug] (by octocat, 2 comments)\n\
         #1346 open pull request: New comma (by nobody, 0 comments)"
    );
    let structured: Value = call.structured();
    assert_eq!((&structured["issues"][1]["pull_request"], &structured["next_page"]), (&json!(true), &Value::Null));
    assert!(!call.output().structured.as_ref().unwrap().contains("a problem"));
}

#[test]
fn an_issue_has_its_text() {
    let (call, asked) = call("get_issue", json!({ "repository": "octocat/hello-world", "number": 1347 }), ISSUE);
    assert_eq!(asked, "GET https://api.github.com/repos/octocat/hello-world/issues/1347");
    assert!(call.text().ends_with("issues/1347\n\nI'm having a problem with this."), "{}", call.text());
    assert_eq!(call.structured::<Value>()["assignees"], json!(["hubot"]));
}

#[test]
fn an_issue_is_opened_with_what_was_given() {
    let args = json!({ "repository": "octocat/hello-world", "title": "Found a bug", "body": "B", "labels": ["bug"] });
    let (call, request) = call_for("create_issue", args, Response::new(201, ISSUE));
    let request = request.unwrap();
    assert_eq!(request.url, "https://api.github.com/repos/octocat/hello-world/issues");
    let sent: Value = from_slice(&request.body.unwrap()).unwrap();
    assert_eq!(sent, json!({ "title": "Found a bug", "body": "B", "labels": ["bug"], "assignees": [] }));
    assert_eq!(call.text(), "Opened #1347: https://github.com/octocat/hello-world/issues/1347");
}

#[test]
fn comments_are_listed_and_added() {
    let issue = json!({ "repository": "octocat/hello-world", "number": 1347, "page": 1, "per_page": 100 });
    let (listed, asked) = call("list_comments", issue, COMMENTS);
    let url = "https://api.github.com/repos/octocat/hello-world/issues/1347/comments";
    assert_eq!(asked, format!("GET {url}?page=1&per_page=100"));
    assert_eq!(listed.text(), "hubot at 2026-04-24T10:00:00Z:\nMe too\n\nnobody at 2026-04-25T10:00:00Z:\nAnd me");
    let args = json!({ "repository": "octocat/hello-world", "number": 1347, "body": "Thank you for the report." });
    let (added, request) = call_for("add_comment", args, Response::new(201, COMMENT));
    let request = request.unwrap();
    assert_eq!((request.method.as_str(), request.url.as_str()), ("POST", url));
    assert_eq!(request.body.as_deref(), Some(&br#"{"body":"Thank you for the report."}"#[..]));
    assert_eq!(added.text(), "Commented: https://github.com/octocat/hello-world/issues/1347#issuecomment-3");
}

#[test]
fn a_file_is_decoded() {
    let args = json!({ "repository": "octocat/hello-world", "path": "docs/README.md", "reference": "a/b c" });
    let (call, asked) = call("get_contents", args, FILE);
    let url = "https://api.github.com/repos/octocat/hello-world/contents/docs/README.md?ref=a%2Fb%20c";
    assert_eq!(asked, format!("GET {url}"));
    assert_eq!(call.text(), "# Hello\n\nGrüße, 世界! 👋 v1.0\n");
    let structured: Value = call.structured();
    assert_eq!((&structured["kind"], &structured["size"]), (&json!("file"), &json!(36)));
}

#[test]
fn a_file_that_is_no_text_stays_bytes() {
    let file = r#"{"type": "file", "encoding": "base64", "size": 3, "path": "a.png", "content": "iVD/\n"}"#;
    let (call, _) = call("get_contents", json!({ "repository": "a/b", "path": "a.png" }), file);
    assert!(matches!(&call.output().content[0], Content::Resource(_)));
    assert_eq!(call.structured::<Value>()["text"], Value::Null);
}

#[test]
fn a_folder_is_listed() {
    let (call, asked) = call("get_contents", json!({ "repository": "a/b" }), FOLDER);
    assert_eq!(asked, "GET https://api.github.com/repos/a/b/contents");
    assert_eq!(call.text(), "octokit.rb (625 bytes)\noctokit/\nvendored (submodule)");
    assert_eq!(call.structured::<Value>()["entries"][1]["type"], "dir");
}

#[test]
fn what_is_no_readable_file_is_explained() {
    let read = |body: &str| call("get_contents", json!({ "repository": "a/b", "path": "x" }), body).0.failure().clone();
    let large = r#"{"type": "file", "encoding": "none", "size": 5000000, "path": "x", "content": ""}"#;
    assert_eq!(read(large).code, "too_large");
    assert!(read(large).message.contains("5000000 bytes"), "{}", read(large));
    assert_eq!(read(&large.replace("none", "rot13")).code, "too_large");
    let module = r#"{"type": "submodule", "size": 0, "path": "x", "submodule_git_url": "git://x"}"#;
    assert_eq!((read(module).kind, read(module).code.as_ref()), (FailureKind::InvalidParams, "no_file"));
    let broken = r#"{"type": "file", "encoding": "base64", "size": 1, "path": "x", "content": "%%"}"#;
    assert_eq!(read(broken).code, "bad_base64");
}

#[test]
fn a_refusal_says_what_the_caller_can_do() {
    let problem = r#"{"message": "Because", "documentation_url": "https://docs.github.com/rest", "status": "4xx"}"#;
    for (status, kind, part) in [
        (400, FailureKind::InvalidParams, "cannot do this with these parameters: Because"),
        (401, FailureKind::AuthRequired, "does not accept the token: Because. The operator has to store a valid one"),
        (403, FailureKind::AuthRequired, "does not allow this: Because. The operator has to give it the permission"),
        (404, FailureKind::NotFound, "no such thing, or the token may not see it: Because"),
        (410, FailureKind::NotFound, "turned off: Because"),
        (422, FailureKind::InvalidParams, "cannot do this with these parameters: Because"),
        (500, FailureKind::Unavailable, "status 500: Because"),
        (418, FailureKind::Failed, "status 418: Because"),
    ] {
        let call = refused(status, problem);
        assert_eq!((call.failure().kind, &call.failure().code), (kind, &format!("http.status_{status}").into()));
        assert!(call.failure().message.contains(part), "{}", call.failure());
    }
    let mistakes = r#"{"message": "Validation Failed", "errors": [{"field": "title", "code": "missing"}, "Bad"]}"#;
    assert!(refused(422, mistakes).failure().message.ends_with("Validation Failed (`title`: missing; Bad)"));
    assert!(refused(502, "<html>").failure().message.ends_with("status 502: an HTML page"));
}

#[test]
fn what_may_have_been_made_is_not_made_again_blindly() {
    for (tool, mut args) in
        [("create_issue", json!({ "title": "T" })), ("add_comment", json!({ "number": 1, "body": "B" }))]
    {
        args["repository"] = json!("a/b");
        let failure =
            |status, body: &str| call_for(tool, args.clone(), Response::new(status, body)).0.failure().clone();
        for unclear in [failure(502, "<html>"), failure(201, "{}"), failure(200, "<html>")] {
            assert!(unclear.message.ends_with("; GitHub may have done it all the same, so look before you try again."));
        }
        assert!(!failure(404, "{}").message.contains("all the same"));
    }
}

#[test]
fn a_limit_of_githubs_says_when_to_try_again() {
    let answer = Response::new(403, r#"{"message": "API rate limit exceeded for user ID 1."}"#)
        .with_header("x-ratelimit-remaining", "0")
        .with_header("x-ratelimit-reset", "1796032920")
        .with_header("date", "Mon, 30 Nov 2026 10:00:00 GMT");
    let (call, _) = call_for("get_repository", json!({ "repository": "a/b" }), answer);
    assert_eq!((call.failure().kind, call.failure().code.as_ref()), (FailureKind::Unavailable, "rate_limited"));
    assert_eq!(call.failure().retry_after.map(|wait| wait.as_secs()), Some(120));
}

#[test]
fn odd_answers_are_failures() {
    let issue = json!({ "repository": "a/b", "number": 1 });
    for (tool, args) in [
        ("search_repositories", json!({ "query": "x" })),
        ("search_issues", json!({ "query": "x" })),
        ("get_repository", json!({ "repository": "a/b" })),
        ("get_contents", json!({ "repository": "a/b" })),
        ("list_issues", json!({ "repository": "a/b" })),
        ("get_issue", issue.clone()),
        ("list_comments", issue),
    ] {
        for body in ["", "<!DOCTYPE html>", "7", "null", "{}", "[1]", r#"{"items": 1}"#, r#"{"full_name": 1}"#] {
            assert_eq!(call(tool, args.clone(), body).0.failure().code, "http.json", "{tool}: {body}");
        }
    }
}

#[test]
fn what_names_no_repository_is_not_asked_for() {
    for wrong in ["", "a", "a/..", "../a", "a/b/issues", "a/b?x"] {
        let (call, request) = call_for("get_repository", json!({ "repository": wrong }), Response::new(200, ""));
        assert!(request.is_none() && call.failure().message.contains("owner/name"), "{wrong}: {}", call.failure());
        assert_eq!(call.failure().kind, FailureKind::InvalidParams);
    }
}

#[test]
fn only_what_changes_nothing_says_so() {
    let reads = Effects::READ_ONLY | Effects::IDEMPOTENT | Effects::OPEN_WORLD;
    for tool in TOOLS {
        let writes = ["create_issue", "add_comment"].contains(&tool.name);
        let expected = if writes { Effects::OPEN_WORLD } else { reads };
        assert_eq!((tool.define)().effects, expected, "{}", tool.name);
    }
}

#[test]
fn examples_can_be_read() {
    for tool in TOOLS {
        for example in (tool.define)().examples {
            let input: Value = from_str(&example.input).unwrap();
            // Refused by the server, so the arguments were taken.
            let (call, _) = call_for(tool.name, input, Response::new(404, "{}"));
            assert_eq!(call.failure().kind, FailureKind::NotFound, "{}", tool.name);
        }
    }
}

proptest! {
    /// Whatever a server says, there is an outcome.
    #[test]
    fn any_answer_has_an_outcome(status in 100u16..600, body in "[\\[\\]{}:,\"a-z0-9.]{0,60}", header in "\\PC{0,20}") {
        for tool in ["search_repositories", "get_repository", "get_contents", "get_issue"] {
            let args = match tool {
                "search_repositories" => json!({ "query": "x" }),
                "get_issue" => json!({ "repository": "a/b", "number": 1 }),
                _ => json!({ "repository": "a/b" }),
            };
            let answer = ["link", "retry-after", "x-ratelimit-reset", "date"]
                .iter()
                .fold(Response::new(status, body.as_str()), |answer, name| answer.with_header(*name, header.as_str()));
            let _ = call_for(tool, args, answer.with_header("x-ratelimit-remaining", "0"));
        }
    }
}
