//! Uses everything that the contract has for a result, a failure and a definition. It does nothing else.

use std::time::Duration;

use ringfence_sdk::Body;
use ringfence_sdk::prelude::*;

/// The structured result of `run`.
#[derive(JsonSchema, Serialize)]
struct Answer {
    /// The answer.
    answer: u32,
}

/// Gives back every kind of content, for the model and for the user.
#[tool(destructive, open_world, output = Answer)]
fn run() -> Result<Output, Failure> {
    Output::text("for the model")
        .with(Content::json(&Answer { answer: 1 })?)
        .with(Content::image("image/png", [0x89, b'P', 0]))
        .with(Content::audio("audio/ogg", *b"Ogg"))
        .with(Content::resource("file:///notes.txt", Some("text/plain"), Body::Text("a note".into())))
        .with(Content::resource("urn:example:bytes", None, Body::Blob(vec![0, 0xff])))
        .with_user_content(Content::text("for the user"))
        .with_user_content(Content::image("image/gif", *b"GIF"))
        .with_raw("unprocessed")
        .with_cost("0.0042")
        .with_structured(&Answer { answer: 42 })
}

#[derive(Deserialize, JsonSchema)]
struct Fail {
    /// How to fail.
    kind: String,
    /// When a retry makes sense, in milliseconds.
    wait: Option<u64>,
}

/// Fails as it is told.
#[tool]
fn fail(args: Fail) -> Result<(), Failure> {
    let failure = match args.kind.as_str() {
        "invalid_params" => Failure::invalid_params("Other parameters, please."),
        "not_found" => Failure::not_found("No such paper."),
        "auth_required" => Failure::auth_required("Who is there?"),
        "unavailable" => Failure::unavailable("Later."),
        _ => Failure::failed("Out of paper.").with_code("out_of.paper-1"),
    };
    Err(match args.wait {
        Some(wait) => failure.with_retry_after(Duration::from_millis(wait)),
        None => failure,
    })
}

#[derive(Deserialize, JsonSchema)]
struct Described {
    /// What is read.
    from: String,
    /// What is written.
    to: String,
    /// Whether a file that is there already is replaced.
    replace: Option<bool>,
}

/// Says of itself all that a tool can. Then it copies.
#[tool(
    title = "Everything there is",
    read_only,
    idempotent,
    pure,
    approval = unless_auto_approved,
    reads_path = "/from",
    writes_path = "/to",
    needs_approval(pointer = "/replace", equals = true),
    needs_approval(pointer = "/to", approval = never),
    rate_limit(per_minute = 7, per_hour = 70),
    deferrable,
    categories("files", "text"),
    short_doc = "Copies a file",
    long_doc = "# Manual\n\nNothing to add.",
    example(description = "A copy", input = { "from": "a", "to": "b" }, output = "done"),
    example(description = "Another", input = { "from": "b", "to": "c", "replace": true }),
    output = Answer
)]
fn described(args: Described) -> Json<Answer> {
    let _ = (args.from, args.to, args.replace);
    Json(Answer { answer: 0 })
}

export_tools!(run, fail, described);
