//! The tools of `github` against a server like GitHub's.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{Answer, FORMS, SECRET, call, grant, header, installed, keeps_the_secret, store, structured};
use crate::support::authority::Authority;
use crate::support::binary::Home;
use crate::support::server::Server;

const MIB: usize = 1 << 20;

macro_rules! answer {
    ($name:literal) => {
        include_str!(concat!("../../tools-wasm/github/answers/", $name, ".json"))
    };
}

/// Answers as GitHub does: only to who has the token, names a client and speaks of this version of the API.
fn github(request: &str) -> Answer {
    let is = |name, value: &str| header(request, name) == Some(value);
    if !is("authorization", &format!("Bearer {SECRET}")) {
        return problem("401 Unauthorized", "Bad credentials");
    }
    if !is("x-github-api-version", "2022-11-28") || !is("accept", "application/vnd.github+json") {
        return problem("400 Bad Request", "Unsupported version");
    }
    if header(request, "user-agent").is_none() {
        return problem(
            "403 Forbidden",
            "Request forbidden by administrative rules. Please make sure your request has a User-Agent header",
        );
    }
    let line = request.lines().next().unwrap().strip_suffix(" HTTP/1.1").unwrap();
    let body = request.split_once("\r\n\r\n").unwrap().1;
    match line {
        "GET /search/repositories?q=tetris%20language%3Aassembly&sort=stars&page=1&per_page=2" => {
            let (head, body) = super::json("200 OK", answer!("search_repositories"));
            let next = "https://api.github.com/search/repositories?q=tetris&page=2&per_page=2";
            (format!("{head}\r\nlink: <{next}>; rel=\"next\", <{next}0>; rel=\"last\""), body)
        }
        "GET /search/issues?q=is%3Aopen&page=1&per_page=30" => {
            let items = answer!("issues");
            super::json("200 OK", format!(r#"{{"total_count": 2, "incomplete_results": false, "items": {items}}}"#))
        }
        "GET /repos/octocat/hello-world" | "GET /repositories/1296269" => super::json("200 OK", answer!("repository")),
        "GET /repos/octocat/hello-world/contents/docs/README.md?ref=v1.0" => super::json("200 OK", answer!("file")),
        "GET /repos/octocat/hello-world/contents/docs" => super::json("200 OK", answer!("folder")),
        "GET /repos/octocat/hello-world/contents/large" => super::json("200 OK", large()),
        "GET /repos/octocat/hello-world/contents/huge" => super::json("200 OK", vec![b' '; 3 << 20]),
        "GET /repos/octocat/hello-world/issues?state=open&labels=bug&page=1&per_page=30" => {
            super::json("200 OK", answer!("issues"))
        }
        "POST /repos/octocat/hello-world/issues" => match serde_json::from_str::<Value>(body).unwrap()["title"] {
            Value::String(ref title) if title == "Found a bug" => super::json("201 Created", answer!("issue")),
            _ => {
                let mistakes = json!([{"resource": "Issue", "field": "title", "code": "missing_field"}]);
                super::json(
                    "422 Unprocessable",
                    json!({"message": "Validation Failed", "errors": mistakes}).to_string(),
                )
            }
        },
        "GET /repos/octocat/hello-world/issues/1347" => super::json("200 OK", answer!("issue")),
        "GET /repos/octocat/hello-world/issues/1347/comments?page=1&per_page=30" => {
            super::json("200 OK", answer!("comments"))
        }
        "POST /repos/octocat/hello-world/issues/1347/comments" => super::json("201 Created", answer!("comment")),
        "GET /repos/octocat/echo" => echo(request),
        "GET /repos/octocat/limited" => {
            let (head, body) = problem("403 Forbidden", "API rate limit exceeded for user ID 583231.");
            let limit = "x-ratelimit-limit: 5000\r\nx-ratelimit-remaining: 0\r\nx-ratelimit-reset: 1796033100";
            (format!("{head}\r\n{limit}\r\ndate: Mon, 30 Nov 2026 10:00:00 GMT"), body)
        }
        "GET /repos/octocat/renamed" => {
            let (head, body) = problem("301 Moved Permanently", "Moved Permanently");
            (format!("{head}\r\nlocation: https://api.github.com/repositories/1296269"), body)
        }
        _ => problem("404 Not Found", "Not Found"),
    }
}

fn problem(status: &str, message: &str) -> Answer {
    super::json(status, json!({"message": message, "documentation_url": "https://docs.github.com/rest"}).to_string())
}

/// As large a file as GitHub gives, in lines of base64.
fn large() -> String {
    let content = STANDARD.encode(vec![b'x'; MIB]);
    let lines: Vec<&str> = content.as_bytes().chunks(60).map(|line| std::str::from_utf8(line).unwrap()).collect();
    let content = lines.join("\n");
    json!({"type": "file", "encoding": "base64", "size": MIB, "path": "large", "content": content}).to_string()
}

/// A repository whose facts are the token that came, in every form. It stands in a header as well.
fn echo(request: &str) -> Answer {
    let facts = json!({
        "full_name": "octocat/echo",
        "description": header(request, "authorization"),
        "topics": FORMS,
    });
    let (head, body) = super::json("200 OK", facts.to_string());
    (format!("{head}\r\nx-echo: {SECRET}"), body)
}

/// The server, and a home whose tools reach it with the token.
fn service() -> (Server, Home) {
    let authority = Authority::new();
    let server = Server::tls(authority.identity("api.github.com"), github);
    let home = installed("github", &authority, &[("api.github.com", &server)]);
    store(&home, "github_token");
    grant(&home, "github");
    (server, home)
}

#[test]
fn everything_that_reads_reads() {
    let (server, home) = service();
    let repository = "octocat/hello-world";
    let found = structured(
        &home,
        "github__search_repositories",
        &json!({"query": "tetris language:assembly", "sort": "stars", "per_page": 2}),
    );
    assert_eq!((&found["total_count"], &found["next_page"]), (&json!(40), &json!(2)));
    assert_eq!(structured(&home, "github__search_issues", &json!({"query": "is:open"}))["issues"][0]["number"], 1347);
    let facts = structured(&home, "github__get_repository", &json!({"repository": repository}));
    assert_eq!(facts["default_branch"], "main");
    let file = json!({"repository": repository, "path": "docs/README.md", "reference": "v1.0"});
    assert_eq!(call(&home, "github__get_contents", &file).ok().trim_end(), "# Hello\n\nGrüße, 世界! 👋 v1.0");
    let folder = structured(&home, "github__get_contents", &json!({"repository": repository, "path": "docs/"}));
    assert_eq!((&folder["kind"], &folder["entries"][1]["name"]), (&json!("folder"), &json!("octokit")));
    let file = structured(&home, "github__get_contents", &json!({"repository": repository, "path": "large"}));
    assert_eq!(file["text"].as_str().map(str::len), Some(MIB));
    let listed = structured(&home, "github__list_issues", &json!({"repository": repository, "labels": ["bug"]}));
    assert_eq!(listed["issues"][1]["pull_request"], true);
    let issue = json!({"repository": repository, "number": 1347});
    assert_eq!(structured(&home, "github__get_issue", &issue)["user"], "octocat");
    assert_eq!(structured(&home, "github__list_comments", &issue)["comments"][0]["body"], "Me too");
    assert!(server.seen().iter().all(|request| request.starts_with("GET ")));
}

#[test]
fn everything_that_writes_writes_what_it_was_given() {
    let (server, home) = service();
    let sent = |home: &Home, tool: &str, params: Value| {
        structured(home, tool, &params);
        let request = server.seen().pop().unwrap();
        assert_eq!(header(&request, "content-type"), Some("application/json"));
        serde_json::from_str::<Value>(request.split_once("\r\n\r\n").unwrap().1).unwrap()
    };
    let issue =
        json!({"repository": "octocat/hello-world", "title": "Found a bug", "body": "Grüße", "labels": ["bug"]});
    let expected = json!({"title": "Found a bug", "body": "Grüße", "labels": ["bug"], "assignees": []});
    assert_eq!(sent(&home, "github__create_issue", issue), expected);
    let comment = json!({"repository": "octocat/hello-world", "number": 1347, "body": "Thank you."});
    assert_eq!(sent(&home, "github__add_comment", comment), json!({"body": "Thank you."}));
}

#[test]
fn the_token_is_never_in_a_guests_hands() {
    let (server, home) = service();
    let facts = structured(&home, "github__get_repository", &json!({"repository": "octocat/echo"}));
    assert_eq!(header(&server.seen()[0], "authorization"), Some(format!("Bearer {SECRET}").as_str()));
    assert_eq!(facts["description"], "Bearer [REDACTED:github_token]");
    // A call that brings it along does not leave.
    let run = call(&home, "github__search_issues", &json!({"query": SECRET}));
    keeps_the_secret(&run);
    assert_ne!(run.code, 0);
    assert_eq!(server.seen().len(), 1);
}

#[test]
fn what_github_refuses_is_told_with_what_to_do() {
    let (_server, home) = service();
    let get = |name: &str| call(&home, "github__get_repository", &json!({"repository": format!("octocat/{name}")}));
    get("nobody").fails(1, &["no such thing, or the token may not see it: Not Found"]);
    get("limited").fails(6, &["no more requests for now: API rate limit exceeded"]);
    get("..").fails(2, &["not valid"]);
    let issue = json!({"repository": "octocat/hello-world", "title": "Another"});
    call(&home, "github__create_issue", &issue).fails(2, &["Validation Failed (`title`: missing_field)"]);
    let huge = json!({"repository": "octocat/hello-world", "path": "huge"});
    call(&home, "github__get_contents", &huge).fails(4, &["response"]);
    let climbing = json!({"repository": "octocat/hello-world", "path": "../../../user"});
    call(&home, "github__get_contents", &climbing).fails(2, &["no path in a repository"]);
}

#[test]
fn without_a_token_and_with_a_wrong_one_nothing_is_read() {
    let authority = Authority::new();
    let server = Server::tls(authority.identity("api.github.com"), github);
    let home = installed("github", &authority, &[("api.github.com", &server)]);
    grant(&home, "github");
    let get = || call(&home, "github__get_repository", &json!({"repository": "octocat/hello-world"}));
    get().fails(
        6,
        &["needs a login", "`token`", "\n  hint: `ringfence secret set github_token` stores what is missing"],
    );
    assert!(server.seen().is_empty());
    home.fed(&["secret", "set", "github_token", "--place", "file"], "another-token\n").ok();
    let rotate = "`ringfence secret rotate github_token`";
    get().fails(6, &["needs a login", "does not accept the token: Bad credentials", rotate]);
}

#[test]
fn an_operator_who_leaves_writing_out_gets_reading() {
    let (server, home) = service();
    let file = home.path().join("home/grants/github.toml");
    let narrowed = std::fs::read_to_string(&file).unwrap().replace("[\"GET\", \"POST\"]", "[\"GET\"]");
    std::fs::write(&file, narrowed.replace("/repos/*/*", "/repos/octocat/hello-world")).unwrap();
    let repository = json!({"repository": "octocat/hello-world"});
    structured(&home, "github__get_repository", &repository);
    let issue = json!({"repository": "octocat/hello-world", "title": "Found a bug"});
    call(&home, "github__create_issue", &issue).fails(1, &["may not reach"]);
    call(&home, "github__get_repository", &json!({"repository": "octocat/echo"})).fails(1, &["may not reach"]);
    assert_eq!(server.seen().len(), 1);
}

#[test]
fn a_repository_is_found_by_its_former_name_where_that_is_granted() {
    let (server, home) = service();
    let renamed = json!({"repository": "octocat/renamed"});
    let facts = structured(&home, "github__get_repository", &renamed);
    assert_eq!(facts["full_name"], "octocat/hello-world");
    assert_eq!(server.seen().len(), 2);
    let file = home.path().join("home/grants/github.toml");
    let narrowed = std::fs::read_to_string(&file).unwrap().replace("/repositories/**", "/repositories/7");
    std::fs::write(&file, narrowed).unwrap();
    let refusal = "the server redirects to https://api.github.com, which this tool may not reach";
    call(&home, "github__get_repository", &renamed).fails(1, &[refusal]);
    assert_eq!(server.seen().len(), 3);
}

#[test]
fn tools_say_truthfully_which_of_them_write() {
    let home = installed("github", &Authority::new(), &[("api.github.com", &Server::echo())]);
    for (tool, reads) in [("get_repository", true), ("create_issue", false), ("add_comment", false)] {
        let shown = home.args(&["tools", &format!("github__{tool}"), "--json"]).json();
        let claims = &shown["spec"]["effects"];
        assert_eq!((&claims["read_only"], &claims["idempotent"]), (&json!(reads), &json!(reads)), "{tool}");
        assert_eq!((&claims["open_world"], &claims["pure"]), (&json!(true), &json!(false)), "{tool}");
    }
}
