//! Everything that the contract has for a definition, a result and a failure, on its way from a guest to whoever asked.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ringfence::core::access::ArgumentRule;
use ringfence::core::output::{Body, Media, Resource};
use ringfence::core::tool::{Approval, Effects, Example, RateLimit};
use ringfence::{Content, ToolSpec};
use serde_json::{Value, json};
use wit_parser::{Docs, Resolve, Type, TypeDef, TypeDefKind};

use crate::mcp::Lines;
use crate::support::binary::Home;
use crate::support::guests;
use crate::support::host::with_guests;

/// What `run` gives the model.
fn for_model() -> Vec<Content> {
    let document = |uri: &str, media_type: Option<&str>, body| {
        Content::Resource(Resource { uri: uri.into(), media_type: media_type.map(str::to_owned), body })
    };
    vec![
        Content::text("for the model"),
        Content::Json { value: json!({"answer": 1}) },
        Content::Image(Media { media_type: "image/png".into(), data: vec![0x89, b'P', 0] }),
        Content::Audio(Media { media_type: "audio/ogg".into(), data: b"Ogg".to_vec() }),
        document("file:///notes.txt", Some("text/plain"), Body::Text("a note".into())),
        document("urn:example:bytes", None, Body::Blob(vec![0, 0xff])),
    ]
}

/// What `run` gives the user.
fn for_user() -> Vec<Content> {
    vec![Content::text("for the user"), Content::Image(Media { media_type: "image/gif".into(), data: b"GIF".to_vec() })]
}

/// What `described` says of itself.
fn described() -> ToolSpec {
    let property = |description: &str, kind: Value| json!({"description": description, "type": kind});
    let needs =
        |pointer: &str, equals, approval| ArgumentRule::NeedsApproval { pointer: pointer.into(), equals, approval };
    let example = |description: &str, input, output: Option<&str>| Example {
        description: description.into(),
        input,
        output: output.map(str::to_owned),
    };
    ToolSpec {
        name: "described".into(),
        title: Some("Everything there is".into()),
        description: "Says of itself all that a tool can. Then it copies.".into(),
        parameters: json!({
            "type": "object",
            "properties": {
                "from": property("What is read.", json!("string")),
                "to": property("What is written.", json!("string")),
                "replace": property("Whether a file that is there already is replaced.", json!(["boolean", "null"])),
            },
            "required": ["from", "to"],
        }),
        output_schema: Some(answer_schema()),
        effects: Effects { read_only: true, idempotent: true, pure: true, ..Effects::default() },
        approval: Approval::UnlessAutoApproved,
        rules: vec![
            ArgumentRule::ReadsPath("/from".into()),
            ArgumentRule::WritesPath("/to".into()),
            needs("/replace", Some(json!(true)), Approval::Always),
            needs("/to", None, Approval::Never),
        ],
        rate_limit: Some(RateLimit { per_minute: 7, per_hour: 70 }),
        deferrable: true,
        categories: vec!["files".into(), "text".into()],
        short_doc: Some("Copies a file".into()),
        long_doc: Some("# Manual\n\nNothing to add.".into()),
        examples: vec![
            example("A copy", json!({"from": "a", "to": "b"}), Some("done")),
            example("Another", json!({"from": "b", "to": "c", "replace": true}), None),
        ],
        ..ToolSpec::default()
    }
}

fn answer_schema() -> Value {
    json!({
        "type": "object",
        "properties": {"answer": {"description": "The answer.", "type": "integer", "format": "uint32", "minimum": 0}},
        "required": ["answer"],
    })
}

/// A home with the guest installed, whose claims about effects are believed.
fn installed() -> Home {
    let home = Home::new();
    home.file("home/config.toml", "[rate]\nunlimited = true\n");
    let file = home.file("everything.wasm", guests::package("everything", "everything", "1.0.0"));
    home.args(&["install", file.to_str().unwrap(), "--allow-unsigned", "--accept-effects"]).ok();
    home
}

/// Every kind of failure that `fail` knows, the codes that it ends with, and whether it can say when to retry.
const FAILURES: [(&str, &str, Option<&str>, bool); 5] = [
    ("invalid_params", "invalid_params", None, false),
    ("auth_required", "auth_required", None, false),
    ("unavailable", "unavailable", None, true),
    ("not_found", "failed", Some("not_found"), true),
    ("failed", "failed", Some("out_of.paper-1"), true),
];

#[tokio::test]
async fn a_program_gets_all_that_a_tool_gives_and_says() {
    let host = with_guests(&["everything"], "").await;
    let output = host.run("everything", json!({})).await.unwrap();
    assert_eq!((output.content, output.user_content), (for_model(), Some(for_user())));
    assert_eq!(output.structured, Some(json!({"answer": 42})));
    assert_eq!(output.raw.as_deref(), Some("unprocessed"));
    assert_eq!(output.cost.map(|cost| cost.to_string()).as_deref(), Some("0.0042"));

    let tools = host.host.tools();
    let spec = |name: &str| tools.iter().find(|tool| tool.name == name).unwrap().spec.clone();
    // Nobody said that its claims about effects are to be believed.
    assert_eq!(spec("everything__described"), ToolSpec { effects: Effects::UNKNOWN, ..described() });
    assert_eq!(spec("everything__run").output_schema, Some(answer_schema()));

    for (kind, code, tool_code, retries) in FAILURES {
        let error = host.call("everything__fail", json!({"kind": kind, "wait": 1500})).await.unwrap_err();
        assert_eq!((&*error.code(), error.tool_code()), (code, tool_code), "{kind}: {error:?}");
        assert_eq!(error.retry_after_ms(), retries.then_some(1500), "{kind}");
        let error = host.call("everything__fail", json!({"kind": kind})).await.unwrap_err();
        assert_eq!(error.retry_after_ms(), None, "{kind}");
    }
}

#[test]
fn the_command_line_prints_all_that_a_tool_gives_and_says() {
    let home = installed();
    let mut output = home.args(&["call", "everything__run", "--json"]).json();
    let output = output.as_object_mut().unwrap();
    assert!(output.remove("duration_us").unwrap().as_u64() > Some(0));
    assert!(output.remove("usage").unwrap()["fuel"].as_u64() > Some(0));
    let expected = json!({
        "content": for_model(),
        "user_content": for_user(),
        "structured": {"answer": 42},
        "raw": "unprocessed",
        "cost": "0.0042",
    });
    assert_eq!(Value::from(output.clone()), expected);
    // A person sees what is for the user.
    let shown = home.args(&["call", "everything__run", "--usage"]);
    assert!(shown.err.contains("cost 0.0042"), "{shown:?}");
    assert_eq!(shown.ok(), "for the user\n[image/gif, 3 B; --json prints it]\n");

    assert_eq!(home.args(&["tools", "everything__described", "--json"]).json()["spec"], json!(described()));
    let run = home.args(&["tools", "everything__run", "--json"]).json()["spec"]["effects"].clone();
    let claimed = Effects { destructive: true, open_world: true, ..Effects::default() };
    assert_eq!(run, json!(claimed));

    for (kind, code, tool_code, retries) in FAILURES {
        let parameters = json!({"kind": kind, "wait": 1500}).to_string();
        let run = home.args(&["call", "everything__fail", &parameters, "--json"]);
        let error = &serde_json::from_str::<Value>(&run.out).unwrap()["error"];
        assert_eq!(error["code"], code, "{kind}");
        assert_eq!(error.get("tool_code"), tool_code.map(|code| json!(code)).as_ref(), "{kind}");
        assert_eq!(error.get("retry_after_ms"), retries.then_some(json!(1500)).as_ref(), "{kind}");
    }
}

#[test]
fn a_client_of_mcp_gets_all_that_is_for_model_and_user() {
    let home = installed();
    let mut server = Lines::start(&home);
    server.initialize("2025-11-25");
    let called = server.request(&json!(1), "tools/call", &json!({"name": "everything__run", "arguments": {}}));
    let (model, user) = (json!({"audience": ["assistant"]}), json!({"audience": ["user"]}));
    let media = |kind: &str, media_type: &str, data: &[u8], reader: &Value| json!({"type": kind, "mimeType": media_type, "data": STANDARD.encode(data), "annotations": reader});
    let expected = json!([
        {"type": "text", "text": "for the model", "annotations": model},
        {"type": "text", "text": r#"{"answer":1}"#, "annotations": model},
        media("image", "image/png", &[0x89, b'P', 0], &model),
        media("audio", "audio/ogg", b"Ogg", &model),
        {"type": "resource", "annotations": model,
            "resource": {"uri": "file:///notes.txt", "mimeType": "text/plain", "text": "a note"}},
        {"type": "resource", "annotations": model, "resource": {"uri": "urn:example:bytes", "blob": "AP8="}},
        {"type": "text", "text": "for the user", "annotations": user},
        media("image", "image/gif", b"GIF", &user),
    ]);
    assert_eq!(called["result"]["content"], expected, "{called}");
    assert_eq!(called["result"]["structuredContent"], json!({"answer": 42}));
    assert_eq!(called["result"]["_meta"]["dev.ringfence/usage"]["cost"], "0.0042");
    assert!(!called.to_string().contains("unprocessed"), "the raw result is for programs: {called}");

    let listed = server.request(&json!(2), "tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let tool = |name: &str| tools.iter().find(|tool| tool["name"] == name).unwrap();
    let (told, spec) = (tool("everything__described"), described());
    assert_eq!((&told["title"], &told["description"]), (&json!(spec.title), &json!(spec.description)));
    assert_eq!((&told["inputSchema"], &told["outputSchema"]), (&spec.parameters, &answer_schema()));
    let hints = |title: Option<&str>, read_only: bool, destructive: bool, idempotent: bool, open_world: bool| {
        let mut hints = json!({
            "readOnlyHint": read_only,
            "destructiveHint": destructive,
            "idempotentHint": idempotent,
            "openWorldHint": open_world,
        });
        title.into_iter().for_each(|title| hints["title"] = json!(title));
        hints
    };
    assert_eq!(told["annotations"], hints(spec.title.as_deref(), true, false, true, false));
    assert_eq!(tool("everything__run")["annotations"], hints(None, false, true, false, true));

    for (kind, code, tool_code, retries) in FAILURES {
        let call = json!({"name": "everything__fail", "arguments": {"kind": kind, "wait": 1500}});
        let failed = server.request(&json!(kind), "tools/call", &call);
        let expected = json!({"code": code, "tool_code": tool_code, "retry_after_ms": retries.then_some(1500)});
        assert_eq!(failed["result"]["_meta"]["dev.ringfence/error"], expected, "{failed}");
        assert_eq!(failed["result"]["isError"], true, "{failed}");
    }
}

#[test]
fn every_item_of_the_contract_is_documented() {
    let mut resolve = Resolve::default();
    let package = resolve.push_str("tool.wit", ringfence_wit::TOOL_WIT).unwrap();
    let package = &resolve.packages[package];
    let mut silent = silent([("the package".to_owned(), &package.docs)]);
    for (interface, id) in &package.interfaces {
        let interface_docs = &resolve.interfaces[*id];
        silent.extend(self::silent([(interface.clone(), &interface_docs.docs)]));
        for (name, id) in &interface_docs.types {
            silent.extend(self::silent(items(&format!("{interface}.{name}"), &resolve.types[*id])));
        }
        let functions = interface_docs.functions.values();
        silent
            .extend(self::silent(functions.map(|function| (format!("{interface}.{}", function.name), &function.docs))));
    }
    for (world, id) in &package.worlds {
        silent.extend(self::silent([(world.clone(), &resolve.worlds[*id].docs)]));
    }
    assert!(package.interfaces.len() > 8 && silent.is_empty(), "without a word in wit/tool.wit: {silent:?}");
}

/// The type of that name and its parts, each with what is said of it. What is taken over by `use` is documented elsewhere.
fn items<'a>(name: &str, item: &'a TypeDef) -> Vec<(String, &'a Docs)> {
    let part = |part: &'a str, docs: &'a Docs| (format!("{name}.{part}"), docs);
    let mut items: Vec<_> = match &item.kind {
        TypeDefKind::Type(Type::Id(_)) => return Vec::new(),
        TypeDefKind::Record(record) => record.fields.iter().map(|field| part(&field.name, &field.docs)).collect(),
        TypeDefKind::Flags(flags) => flags.flags.iter().map(|flag| part(&flag.name, &flag.docs)).collect(),
        TypeDefKind::Variant(variant) => variant.cases.iter().map(|case| part(&case.name, &case.docs)).collect(),
        TypeDefKind::Enum(cases) => cases.cases.iter().map(|case| part(&case.name, &case.docs)).collect(),
        _ => Vec::new(),
    };
    items.push((name.to_owned(), &item.docs));
    items
}

/// Those of `items` of which nothing is said.
fn silent<'a>(items: impl IntoIterator<Item = (String, &'a Docs)>) -> Vec<String> {
    items.into_iter().filter(|(_, docs)| docs.is_empty()).map(|(name, _)| name).collect()
}
