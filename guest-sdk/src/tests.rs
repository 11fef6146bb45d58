//! What an author's tools look like from outside.

#![expect(unreachable_pub, reason = "`export_tools!` is made for the root of a crate")]

use serde_json::{Value, json};

use crate::log::Level;
use crate::prelude::*;
use crate::testing::TestHost;
use crate::{Approval, ApprovalRule, ArgumentRule, Definition, Effects, Example, FailureKind, IntoOutput, RateLimit};

#[derive(Deserialize, JsonSchema)]
struct Copy {
    /// Where from.
    from: String,
    to: String,
    #[serde(default)]
    force: bool,
}

#[derive(Serialize, JsonSchema)]
struct Copied {
    bytes: u64,
}

/// Copies a file.
///
/// Use it for one file only.
#[tool(
    name = "copy-file",
    title = "Copy",
    destructive,
    idempotent,
    approval = unless_auto_approved,
    reads_path = "/from",
    writes_path = "/to",
    needs_approval(pointer = "/force", equals = true, approval = always),
    needs_approval(pointer = "/secret"),
    rate_limit(per_minute = 5, per_hour = 20),
    deferrable,
    categories("files", "text"),
    short_doc = "Copies.",
    long_doc = concat!("# Copy", "\n"),
    output = Copied,
    example(description = "One file", input = { "from": "a", "to": "b" }, output = "3 bytes"),
    example(description = "By force", input = { "from": "a", "to": "b", "force": true }),
)]
fn copy(args: Copy, call: &CallInfo) -> Result<Output, Failure> {
    log::info(format!("call {}", call.id));
    progress::report(1.0, Some(2.0), Some("half"));
    if args.from == args.to && !args.force {
        return Err(Failure::not_found("There is nothing to do.").with_code("same"));
    }
    Output::text("3 bytes").with_structured(&Copied { bytes: 3 })
}

/// Says yes.
#[tool]
fn yes() -> &'static str {
    log::warn("asked");
    "yes"
}

/// Says how much time there is.
#[tool(read_only, open_world, pure)]
fn time_left(call: &CallInfo) -> String {
    call.deadline_ms.to_string()
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Number {
    number: u64,
}

/// Gives back a number.
#[tool]
fn number(args: Number) -> Json<Number> {
    Json(args)
}

/// Has another tool double a number.
#[tool]
fn doubled(args: Number) -> Result<Json<u64>, Failure> {
    tools::call("double", &args)?.json().map(Json)
}

/// Counts its calls.
#[tool]
fn visits() -> Result<String, Failure> {
    let old = state::get("visits")?;
    let count = old.as_deref().map_or(0, <[u8]>::len) + 1;
    if !state::swap("visits", old.as_deref(), &vec![b'x'; count])? {
        return Err(Failure::unavailable("Somebody else came."));
    }
    Ok(format!("{count} {:?}", state::keys("v")?))
}

export_tools!(copy, yes, time_left, number, doubled, visits);

fn call(name: &str, parameters: Value) -> crate::testing::Call {
    TestHost::new(TOOLS).call(name, parameters)
}

fn definition(name: &str) -> Definition {
    (TOOLS.iter().find(|tool| tool.name == name).unwrap().define)()
}

#[test]
fn every_option_reaches_the_definition() {
    let pointer = |pointer: &str| pointer.to_owned();
    let needs = |pointer: &str, equals: Option<&str>| {
        let equals = equals.map(str::to_owned);
        ArgumentRule::NeedsApproval(ApprovalRule { pointer: pointer.to_owned(), equals, approval: Approval::Always })
    };
    let example = |description: &str, input: Value, output: Option<&str>| Example {
        description: description.to_owned(),
        input: input.to_string(),
        output: output.map(str::to_owned),
    };
    let found = definition("copy-file");
    let expected = Definition {
        name: "copy-file".to_owned(),
        title: Some("Copy".to_owned()),
        description: "Copies a file.\n\nUse it for one file only.".to_owned(),
        parameters: crate::private::schema_of::<Copy>(),
        output_schema: Some(crate::private::schema_of::<Copied>()),
        effects: Effects::DESTRUCTIVE | Effects::IDEMPOTENT,
        approval: Approval::UnlessAutoApproved,
        rules: vec![
            ArgumentRule::ReadsPath(pointer("/from")),
            ArgumentRule::WritesPath(pointer("/to")),
            needs("/force", Some("true")),
            needs("/secret", None),
        ],
        rate_limit: Some(RateLimit { per_minute: 5, per_hour: 20 }),
        deferrable: true,
        categories: vec!["files".to_owned(), "text".to_owned()],
        short_doc: Some("Copies.".to_owned()),
        long_doc: Some("# Copy\n".to_owned()),
        examples: vec![
            example("One file", json!({ "from": "a", "to": "b" }), Some("3 bytes")),
            example("By force", json!({ "from": "a", "to": "b", "force": true }), None),
        ],
    };
    assert_eq!(found, expected);
}

#[test]
fn without_options_a_tool_claims_nothing() {
    let found = definition("yes");
    assert_eq!((found.title, found.output_schema, found.rate_limit), (None, None, None));
    assert_eq!((found.effects, found.approval, found.deferrable), (Effects::empty(), Approval::Never, false));
    assert_eq!(serde_json::from_str::<Value>(&found.parameters).unwrap()["properties"], json!({}));
}

#[test]
fn a_call_shows_what_the_tool_did() {
    let call = call("copy-file", json!({ "from": "a", "to": "b" }));
    assert_eq!(call.text(), "3 bytes");
    assert_eq!(call.structured::<Value>(), json!({ "bytes": 3 }));
    assert_eq!((call.log[0].level, call.log[0].message.as_str()), (Level::Info, "call test"));
    assert_eq!((call.progress[0].done, call.progress[0].total), (1.0, Some(2.0)));
}

#[test]
fn nothing_is_left_of_the_call_before() {
    assert_eq!(call("yes", json!({})).log.len(), 1);
    assert_eq!(call("yes", json!({})).log.len(), 1);
}

#[test]
fn a_failure_keeps_its_kind_and_code() {
    let call = call("copy-file", json!({ "from": "a", "to": "a" }));
    assert_eq!((call.failure().kind, call.failure().code.as_ref()), (FailureKind::NotFound, "same"));
}

#[test]
fn bad_arguments_are_told_in_serdes_words() {
    let call = call("copy-file", json!({ "from": 7, "to": "b" }));
    assert_eq!(call.failure().kind, FailureKind::InvalidParams);
    assert!(call.failure().message.contains("invalid type: integer `7`, expected a string"), "{:?}", call.failure());
}

#[test]
fn a_tool_may_take_the_call_alone() {
    assert_eq!(call("time_left", json!({})).text(), "60000");
}

#[test]
fn large_numbers_stay_exact() {
    assert_eq!(call("number", json!({ "number": u64::MAX })).text(), r#"{"number":18446744073709551615}"#);
}

#[test]
fn the_component_dispatches_by_name() {
    let info = CallInfo { id: "1".to_owned(), deadline_ms: 1, max_result_bytes: 1 };
    let find = |name: &str| (yes::TOOL.is_named)(name).then_some(yes::TOOL.call);
    assert_eq!(crate::private::call("yes", "{}", &info, find), Ok(Output::text("yes")));
    let failure = crate::private::call("no", "{}", &info, find).unwrap_err();
    assert_eq!((failure.kind, failure.code.as_str()), (FailureKind::NotFound, "not_found"));
    let names: Vec<String> = crate::private::definitions(TOOLS).into_iter().map(|definition| definition.name).collect();
    assert_eq!(names, ["copy-file", "yes", "time_left", "number", "doubled", "visits"]);
}

#[test]
fn a_test_answers_for_other_tools() {
    let host = TestHost::new(TOOLS).with_tool("double", |params| match params["number"].as_u64() {
        Some(13) => Err(Failure::unavailable("Not that one.").with_code("unlucky")),
        number => Json(number.unwrap() * 2).into_output(),
    });
    assert_eq!(host.call("doubled", json!({ "number": 21 })).text(), "42");
    let unlucky = host.call("doubled", json!({ "number": 13 }));
    assert_eq!((unlucky.failure().kind, unlucky.failure().code.as_ref()), (FailureKind::Unavailable, "unlucky"));
    assert_eq!(call("doubled", json!({ "number": 21 })).failure().code, "tools.denied");
}

#[test]
fn what_is_kept_is_there_for_the_next_call() {
    let host = TestHost::new(TOOLS).with_state("visits", "xx").with_state("other", "");
    assert_eq!(host.call("visits", json!({})).text(), r#"3 ["visits"]"#);
    assert_eq!(host.call("visits", json!({})).text(), r#"4 ["visits"]"#);
    assert_eq!(host.state("visits").unwrap(), b"xxxx");
    assert_eq!(call("visits", json!({})).text(), r#"1 ["visits"]"#);
}
