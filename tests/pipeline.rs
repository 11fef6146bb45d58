//! The one path of a call: its order, and what each gate refuses.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ringfence::core::tool::{Approval, Effects};
use ringfence::{
    CallError, Caller, Config, Content, Home, Permit, RawOutput, Ringfence, Secret, Tool, ToolError, ToolSpec,
};
use serde_json::{Value, json};

use crate::settings::reopened;
use crate::support::host::caller;

/// A native tool that counts how often it ran.
struct Counter {
    spec: ToolSpec,
    ran: Arc<AtomicUsize>,
    answer: fn() -> RawOutput,
}

#[async_trait::async_trait]
impl Tool for Counter {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn execute(&self, _permit: Permit) -> Result<RawOutput, ToolError> {
        self.ran.fetch_add(1, Ordering::SeqCst);
        Ok((self.answer)())
    }
}

fn spec(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        description: "Counts.".into(),
        parameters: json!({
            "type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": false,
        }),
        ..ToolSpec::default()
    }
}

struct Bench {
    host: Ringfence,
    ran: Arc<AtomicUsize>,
    _folder: tempfile::TempDir,
}

async fn bench(spec: ToolSpec, config: &str, answer: fn() -> RawOutput) -> Bench {
    let folder = tempfile::tempdir().unwrap();
    let ran = Arc::new(AtomicUsize::new(0));
    let config: Config = toml::from_str(config).unwrap();
    let host = Ringfence::builder(Home::at(folder.path()))
        .config(config)
        .secret("svc", Secret::new("rf_live_9f+Zq/7Kp~2x=Vd_".into()))
        .register_native(Arc::new(Counter { spec, ran: ran.clone(), answer }))
        .open()
        .await
        .unwrap();
    Bench { host, ran, _folder: folder }
}

impl Bench {
    async fn call(&self, tool: &str, params: Value) -> Result<ringfence::ToolOutput, CallError> {
        self.host.call(tool, params, Caller::default()).await
    }

    fn ran(&self) -> usize {
        self.ran.load(Ordering::SeqCst)
    }
}

fn nothing() -> RawOutput {
    RawOutput::text("done")
}

#[tokio::test]
async fn an_unknown_tool_names_the_nearest_that_are_offered() {
    let bench = bench(spec("counter"), "[policy]\ndeny = [\"echo\"]\n", nothing).await;
    let error = bench.call("countre", json!({"n": 1})).await.unwrap_err();
    assert_eq!(error.to_string(), "there is no tool `countre`: did you mean `counter`?");
    assert_eq!(error.code(), "not_found");
    // What is denied is not suggested either.
    let error = bench.call("ecko", json!({})).await.unwrap_err();
    assert!(!error.to_string().contains("echo`"), "{error}");
}

#[tokio::test]
async fn wrong_parameters_never_reach_the_tool() {
    let bench = bench(spec("counter"), "", nothing).await;
    for (params, part) in [
        (json!({}), "\"n\" is a required property"),
        (json!({"n": "x"}), "at /n"),
        (json!({"n": 1, "m": 2}), "'m' was unexpected"),
    ] {
        let error = bench.call("counter", params).await.unwrap_err();
        assert_eq!(error.code(), "invalid_params");
        assert!(error.to_string().contains(part), "{error}");
    }
    assert_eq!(bench.ran(), 0);
    bench.call("counter", json!({"n": 1})).await.unwrap();
    assert_eq!(bench.ran(), 1);
}

#[tokio::test]
async fn a_schema_that_would_take_for_ever_to_check_is_an_error_at_once() {
    let mut definitions = serde_json::Map::new();
    for i in 0..34 {
        let next = json!({"$ref": format!("#/$defs/d{}", i + 1)});
        definitions.insert(format!("d{i}"), json!({"allOf": [next, next]}));
    }
    definitions.insert("d34".into(), json!({"type": "integer"}));
    let parameters = json!({"type": "object", "$defs": definitions, "properties": {"n": {"$ref": "#/$defs/d0"}}});
    let bench = bench(ToolSpec { parameters, ..spec("counter") }, "", nothing).await;
    let error = bench.call("counter", json!({"n": 1})).await.unwrap_err();
    assert!(error.to_string().contains("would take too long"), "{error}");
    assert_eq!(bench.ran(), 0);
}

#[tokio::test]
async fn a_name_without_end_is_not_found_and_on_record() {
    let bench = bench(spec("counter"), "", nothing).await;
    let error = bench.call(&"x".repeat(4_000_000), json!({})).await.unwrap_err();
    assert_eq!(error.code(), "not_found");
    assert!(error.to_string().len() < 1000);
    let log = audit_lines(&bench._folder.path().join("state"));
    assert_eq!(log.iter().map(|event| text(&event["event"])).collect::<Vec<_>>(), ["opened", "closed"]);
}

#[tokio::test]
async fn deny_is_final_and_absent_empty_and_listed_differ() {
    for (config, allowed) in [
        ("", true),
        ("[policy]\nallow = []\n", false),
        ("[policy]\nallow = [\"counter\"]\n", true),
        ("[policy]\nallow = [\"group:native\"]\n", true),
        ("[policy]\nallow = [\"echo\"]\n", false),
        ("[policy]\nallow = [\"counter\"]\ndeny = [\"counter\"]\n", false),
        ("[policy]\ndeny = [\"group:native\"]\n", false),
        ("[policy]\ndeny = [\"group:fs\", \"exec\"]\n", true),
    ] {
        let bench = bench(spec("counter"), config, nothing).await;
        let result = bench.call("counter", json!({"n": 1})).await;
        assert_eq!(result.is_ok(), allowed, "{config}");
        assert_eq!(bench.ran(), usize::from(allowed), "{config}");
        assert_eq!(bench.host.tools().iter().any(|tool| tool.name == "counter"), allowed, "{config}");
        if let Err(error) = result {
            assert_eq!(error.code(), "denied");
        }
    }
}

#[tokio::test]
async fn a_rate_is_per_caller_and_a_refusal_says_how_long_to_wait() {
    let bench = bench(spec("counter"), "[rate]\nper_minute = 1\n", nothing).await;
    let call = |user: &'static str| bench.host.call("counter", json!({"n": 1}), caller(user));
    call("ada").await.unwrap();
    let error = call("ada").await.unwrap_err();
    assert_eq!(error.code(), "rate_limited");
    let wait = error.retry_after().unwrap().as_millis();
    assert!((1..=60_000).contains(&wait), "{wait}");
    call("bob").await.unwrap();
    assert_eq!(bench.ran(), 2);
}

#[tokio::test]
async fn wrong_calls_take_no_rate() {
    let bench = bench(spec("counter"), "[rate]\nper_minute = 1\n", nothing).await;
    bench.call("counter", json!({"n": "x"})).await.unwrap_err();
    bench.call("counter", json!({"n": 1})).await.unwrap();
}

#[tokio::test]
async fn a_denied_call_takes_no_rate() {
    let folder = tempfile::tempdir().unwrap();
    let call = async |policy: &str| {
        let counter = Arc::new(Counter { spec: spec("counter"), ran: Arc::default(), answer: nothing });
        let config: Config = toml::from_str(&format!("[rate]\nper_hour = 1\n{policy}")).unwrap();
        let host = reopened(|| {
            let builder = Ringfence::builder(Home::at(folder.path())).config(config.clone());
            builder.register_native(counter.clone()).open()
        })
        .await;
        let result = host.call("counter", json!({"n": 1}), Caller::default()).await;
        host.close().unwrap();
        result.map(drop).map_err(|error| error.code().into_owned())
    };
    // What is taken outlives the host.
    assert_eq!(call("[policy]\ndeny = [\"counter\"]\n").await.unwrap_err(), "denied");
    call("").await.unwrap();
    assert_eq!(call("").await.unwrap_err(), "rate_limited");
}

#[tokio::test]
async fn a_flood_of_calls_that_need_approval_ends_at_the_rate() {
    let bench =
        bench(ToolSpec { approval: Approval::Always, ..spec("counter") }, "[rate]\nper_minute = 1\n", nothing).await;
    assert_eq!(bench.call("counter", json!({"n": 1})).await.unwrap_err().code(), "needs_approval");
    assert_eq!(bench.call("counter", json!({"n": 1})).await.unwrap_err().code(), "rate_limited");
    assert_eq!(bench.ran(), 0);
}

#[tokio::test]
async fn tools_that_only_read_have_no_rate_unless_one_is_set() {
    let reading = ToolSpec { effects: Effects { read_only: true, ..Effects::default() }, ..spec("counter") };
    let free = bench(reading.clone(), "", nothing).await;
    for _ in 0..200 {
        free.call("counter", json!({"n": 1})).await.unwrap();
    }
    let writing = bench(spec("counter"), "", nothing).await;
    let mut refused = 0;
    for _ in 0..200 {
        refused += usize::from(writing.call("counter", json!({"n": 1})).await.is_err());
    }
    assert_eq!(refused, 185, "60 a minute is a burst of 15 and one more every 1.3 seconds");
    let set = bench(reading, "[rate]\nper_minute = 1\n", nothing).await;
    set.call("counter", json!({"n": 1})).await.unwrap();
    assert_eq!(set.call("counter", json!({"n": 1})).await.unwrap_err().code(), "rate_limited");
}

#[tokio::test]
async fn a_tool_can_ask_for_a_tighter_rate() {
    let rate_limit = Some(ringfence::core::tool::RateLimit { per_minute: 1, per_hour: 10 });
    let bench = bench(ToolSpec { rate_limit, ..spec("counter") }, "[rate]\nunlimited = true\n", nothing).await;
    bench.call("counter", json!({"n": 1})).await.unwrap();
    assert_eq!(bench.call("counter", json!({"n": 1})).await.unwrap_err().code(), "rate_limited");
}

#[tokio::test]
async fn the_operator_can_set_every_rate_for_all_tools_a_source_and_one_tool() {
    for section in ["rate", "tools.native.rate", "tools.counter.rate"] {
        for (rate, second) in [("per_minute = 1", false), ("per_hour = 4", false), ("per_hour = 8", true)] {
            let bench = bench(spec("counter"), &format!("[{section}]\n{rate}\n"), nothing).await;
            bench.call("counter", json!({"n": 1})).await.unwrap();
            assert_eq!(bench.call("counter", json!({"n": 1})).await.is_ok(), second, "[{section}] {rate}");
        }
        let config = match section {
            "rate" => "[rate]\nunlimited = true\n".to_owned(),
            _ => format!("[rate]\nper_minute = 1\n[{section}]\nunlimited = true\n"),
        };
        let unlimited = bench(spec("counter"), &config, nothing).await;
        for _ in 0..40 {
            unlimited.call("counter", json!({"n": 1})).await.unwrap();
        }
    }
}

#[tokio::test]
async fn a_call_that_needs_approval_gets_a_ticket_and_does_not_run() {
    let bench = bench(ToolSpec { approval: Approval::Always, ..spec("counter") }, "", nothing).await;
    let error = bench.call("counter", json!({"n": 1})).await.unwrap_err();
    assert!(matches!(&error, CallError::NeedsApproval { ticket, .. } if !ticket.is_empty()), "{error}");
    assert_eq!(bench.ran(), 0);
}

#[tokio::test]
async fn a_reserved_name_is_refused_to_the_embedding_program() {
    for name in ["echo", "shell", "web_fetch", "todo_list"] {
        let folder = tempfile::tempdir().unwrap();
        let counter = Counter { spec: spec(name), ran: Arc::default(), answer: nothing };
        let opened = Ringfence::builder(Home::at(folder.path())).register_native(Arc::new(counter)).open().await;
        let error = opened.err().unwrap().to_string();
        assert!(error.contains(name) && error.contains("belongs to a built-in"), "{error}");
    }
}

#[tokio::test]
async fn results_are_scrubbed_of_secrets_and_known_patterns() {
    let answer = || RawOutput {
        content: vec![Content::text("raw rf_live_9f+Zq/7Kp~2x=Vd_ base64 cmZfbGl2ZV85ZitacS83S3B+Mng9VmRf")],
        structured: Some(json!({"password": "correct-horse-9", "seq": 41, "key": "AKIAIOSFODNN7EXAMPLE"})),
        raw: Some("rf_live_9f+Zq/7Kp~2x=Vd_".into()),
        ..RawOutput::default()
    };
    let bench = bench(spec("counter"), "", answer).await;
    let output = serde_json::to_string(&bench.call("counter", json!({"n": 1})).await.unwrap()).unwrap();
    for secret in ["rf_live_9f", "cmZfbGl2", "correct-horse-9", "AKIAIOSFODNN7EXAMPLE"] {
        assert!(!output.contains(secret), "{output}");
    }
    assert!(output.contains("[REDACTED:svc]") && output.contains("\"seq\":41"), "{output}");
}

#[tokio::test]
async fn what_a_caller_sends_is_scrubbed_before_an_error_or_the_audit_log_repeats_it() {
    const SECRET: &str = "rf_live_9f+Zq/7Kp~2x=Vd_";
    let bench = bench(spec("counter"), "", nothing).await;
    // The end of a problem is cut, and so must not cut a secret.
    for params in [json!({"n": SECRET}), json!({SECRET: 1}), json!({"n": format!("{}{SECRET}", "a".repeat(290))})] {
        let error = bench.call("counter", params).await.unwrap_err();
        assert_eq!(error.code(), "invalid_params");
        assert!(!error.for_operator().contains("rf_live"), "{error}");
    }
    let sent = || format!("{}{SECRET}", "a".repeat(ringfence::core::name::MAX_TOOL_NAME - 20));
    for tool in [SECRET.to_owned(), sent()] {
        let error = bench.call(&tool, json!({})).await.unwrap_err();
        assert_eq!(error.code(), "not_found");
        assert!(!error.for_operator().contains("rf_live"), "{error}");
    }
    let said = Some(SECRET.to_owned());
    let callers = [
        Caller { user: said.clone(), ..Caller::default() },
        Caller { agent: said.clone(), ..Caller::default() },
        Caller { role: said.clone(), ..Caller::default() },
        Caller { session: said.clone(), ..Caller::default() },
        Caller { channel: said.clone(), ..Caller::default() },
        Caller { chat: said.clone(), ..Caller::default() },
        Caller { peer_kind: said.clone(), ..Caller::default() },
        Caller { provider: said, ..Caller::default() },
    ];
    for caller in callers {
        bench.host.call("counter", json!({"n": 1}), caller).await.unwrap();
    }
    let log = serde_json::to_string(&audit_lines(&bench._folder.path().join("state"))).unwrap();
    assert!(!log.contains("rf_live") && log.matches("[REDACTED:svc]").count() == 10, "{log}");
}

#[tokio::test]
async fn what_a_broken_promise_repeats_of_a_result_is_scrubbed() {
    let output_schema = Some(json!({"type": "object", "properties": {"a": {"type": "integer"}}}));
    let bench = bench(ToolSpec { output_schema, ..spec("counter") }, "", || {
        RawOutput::json(json!({"a": format!("{}rf_live_9f+Zq/7Kp~2x=Vd_", "a".repeat(290))}))
    })
    .await;
    let error = bench.call("counter", json!({"n": 1})).await.unwrap_err();
    assert!(matches!(&error, CallError::Failed { code, .. } if code == "invalid_output"), "{error}");
    assert!(!error.to_string().contains("rf_live"), "{error}");
}

#[tokio::test]
async fn a_result_that_breaks_its_own_schema_is_an_error() {
    let output_schema = Some(json!({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}));
    let promising = ToolSpec { output_schema, ..spec("counter") };
    let wrong = bench(promising.clone(), "", || RawOutput::json(json!({"a": "x"}))).await;
    assert!(
        matches!(wrong.call("counter", json!({"n": 1})).await, Err(CallError::Failed { code, .. }) if code == "invalid_output")
    );
    let missing = bench(promising.clone(), "", nothing).await;
    assert!(missing.call("counter", json!({"n": 1})).await.unwrap_err().to_string().contains("gave none"));
    let right = bench(promising, "", || RawOutput::json(json!({"a": 1}))).await;
    assert_eq!(right.call("counter", json!({"n": 1})).await.unwrap().structured, Some(json!({"a": 1})));
}

#[tokio::test]
async fn a_structured_result_that_redaction_makes_invalid_is_left_out() {
    let output_schema = Some(json!({
        "type": "object", "properties": {"key": {"type": "string", "pattern": "^AKIA"}}, "required": ["key"],
    }));
    let bench = bench(ToolSpec { output_schema, ..spec("counter") }, "", || {
        RawOutput::json(json!({"key": "AKIAIOSFODNN7EXAMPLE"}))
    })
    .await;
    let output = bench.call("counter", json!({"n": 1})).await.unwrap();
    assert_eq!(output.structured, None);
    assert!(serde_json::to_string(&output.content).unwrap().contains("was left out"));
}

#[tokio::test]
async fn a_panic_in_a_native_tool_is_an_error_and_the_host_lives() {
    let bench = bench(spec("counter"), "", || panic!("on purpose")).await;
    let error = bench.call("counter", json!({"n": 1})).await.unwrap_err();
    assert_eq!(error.code(), "trapped");
    assert!(error.to_string().contains("`counter`") && error.to_string().contains("panicked"), "{error}");
    bench.call("echo", json!({"message": "alive"})).await.unwrap();
}

#[tokio::test]
async fn every_end_is_in_the_audit_log_and_what_ran_is_permitted_first() {
    let bench = bench(spec("counter"), "[policy]\ndeny = [\"time\"]\n", nothing).await;
    bench.call("counter", json!({"n": 1})).await.unwrap();
    bench.call("counter", json!({})).await.unwrap_err();
    bench.call("time", json!({})).await.unwrap_err();
    bench.call("nobody", json!({})).await.unwrap_err();
    let log = audit_lines(&bench._folder.path().join("state"));
    let story: Vec<(String, String)> =
        log.iter().map(|event| (text(&event["event"]), text(&event["outcome"]))).collect();
    let expected = [
        ("opened", ""),
        ("permitted", ""),
        ("closed", "ok"),
        ("opened", ""),
        ("closed", "invalid_params"),
        ("opened", ""),
        ("closed", "denied"),
        ("opened", ""),
        ("closed", "not_found"),
    ];
    assert_eq!(story, expected.map(|(event, outcome)| (event.to_owned(), outcome.to_owned())));
    // What the caller sent stands there as a keyed digest only.
    assert!(!serde_json::to_string(&log).unwrap().contains("\"n\""));
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The events of the audit log, oldest first.
fn audit_lines(state: &std::path::Path) -> Vec<Value> {
    let mut files: Vec<_> = std::fs::read_dir(state.join("audit")).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    files
        .iter()
        .filter_map(|file| std::fs::read_to_string(file).ok())
        .flat_map(|text| text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()).collect::<Vec<_>>())
        .map(|line| line["event"].clone())
        .collect()
}
