//! Other tools: called under the alias that the operator tied to them, with the rights of the caller, and not without end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ringfence::core::tool::Approval;
use ringfence::core::{CallContext, ToolCall};
use ringfence::{Permit, RawOutput, Tool, ToolError, ToolSpec};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::{by_hand, call, home, limit_ends_the_call, open};
use crate::support::binary::Home;
use crate::support::guests;
use crate::support::host::caller;

/// The limit that is tried here.
pub(super) const LIMIT: &str = "tool_calls";

const ASKS: &str = "[capabilities.tools]\nother = \"any tool\"\ncircle = \"itself\"\n";

/// A home whose tool may call `tool` as `other`.
fn granted(tool: &str, config: &str) -> Home {
    let home = home("relay", ASKS, config);
    grant(&home, tool);
    home
}

/// Grants by hand, because the tool may be one that only the test's own process has.
fn grant(home: &Home, tool: &str) {
    home.file("home/grants/reach.toml", format!("[tools]\nother = \"{tool}\"\ncircle = \"reach__circle\"\n"));
}

/// How the call of `other` fails.
fn failure(home: &Home, params: &Value) -> Value {
    call(home, "failure", &json!({"alias": "other", "params": params})).json()
}

#[test]
fn a_tool_is_called_where_that_was_asked_for_and_granted() {
    let home = home("relay", ASKS, "");
    let hello = json!({"alias": "other", "params": {"message": "hello"}});
    // Asked for only, and `--all` cannot know which tool is meant.
    call(&home, "relay", &hello).fails(6, &["needs to call other tools", "`ringfence grant`"]);
    home.run("grant reach --all").ok();
    call(&home, "relay", &hello).fails(6, &["needs to call other tools"]);
    home.run("grant reach --tool other=eco").fails(5, &["`eco`", "did you mean `echo`?"]);
    home.run("grant reach --tool other").fails(2, &["NAME=VALUE"]);
    assert!(home.run("grants").ok().contains("calling a tool as `other` any tool"));
    let out = home.run("grant reach --tool other=echo").ok();
    assert!(out.contains("calling `echo` as `other` any tool"), "{out}");
    assert_eq!(call(&home, "relay", &hello).ok().trim(), "hello");
    // Asked for and not granted, and the reverse.
    home.run("grant reach --tool unasked=echo").fails(3, &["does not ask for", "`unasked`"]);
    by_hand(&home, |text| text.replace("[tools]\n", "[tools]\nunasked = \"echo\"\n"));
    for alias in ["circle", "unasked", "echo", ""] {
        let failure = call(&home, "failure", &json!({"alias": alias, "params": {"message": "hello"}})).json();
        assert_eq!(failure["code"], "tools.denied", "{alias}");
        assert!(failure["message"].as_str().unwrap().contains("did not grant"), "{failure}");
    }
    home.run("grant reach --expires 2020-01-01T00:00:00Z").ok();
    call(&home, "relay", &hello).fails(6, &["call other tools", "its grant has ended"]);
    home.run("revoke reach").ok();
    assert_eq!(call(&home, "relay", &hello).code, 6);
}

#[test]
fn an_update_shows_what_it_asks_for_in_addition() {
    let home = granted("echo", "");
    let more = format!("{ASKS}more = \"another one\"\n[capabilities.state]\nbytes = 10\nkeys = 1\n");
    let file = home.file("newer.wasm", guests::package_of_version("relay", "reach", "1.1.0", &more));
    let out = home.args(&["install", file.to_str().unwrap(), "--allow-unsigned"]).ok();
    assert!(out.contains("granted  calling `echo` as `other` any tool"), "{out}");
    assert!(out.contains("asks for calling a tool as `more` another one"), "{out}");
    assert!(out.contains("asks for keeping 10 bytes and 1 keys for each user"), "{out}");
}

#[test]
fn a_refusal_is_the_one_that_the_caller_would_get() {
    let config = "[policy]\ndeny = [\"time\"]\n[tools.json.limits]\nparam_bytes = 5\n";
    let home = granted("echo", config);
    for (tool, params, kind, code) in [
        ("time", json!({}), "FailureKind::Failed", "denied"),
        ("echo", json!({}), "FailureKind::InvalidParams", "invalid_params"),
        ("echo", json!(null), "FailureKind::InvalidParams", "invalid_params"),
        ("nobody", json!({}), "FailureKind::NotFound", "not_found"),
        ("json", json!({"operation": "parse", "data": "1"}), "FailureKind::Failed", "limit.params"),
        // A failure of the tool itself, in its own words.
        ("reach__relay", json!({"alias": "none", "params": {}}), "FailureKind::Failed", "tools.denied"),
    ] {
        grant(&home, tool);
        let failure = failure(&home, &params);
        assert_eq!((failure["kind"].as_str(), failure["code"].as_str()), (Some(kind), Some(code)), "{tool}");
    }
}

#[test]
fn the_rate_is_that_of_the_caller() {
    let home = granted("echo", "[tools.echo.rate]\nper_minute = 1\n");
    let params = json!({"alias": "other", "params": {"message": "hello"}}).to_string();
    let run = |user: &str, tool: &str| home.args(&["call", tool, &params, "--user", user]);
    run("ada", "reach__relay").ok();
    let failure = run("ada", "reach__failure").json();
    assert_eq!(
        (failure["kind"].as_str(), failure["code"].as_str()),
        (Some("FailureKind::Unavailable"), Some("rate_limited"))
    );
    assert!(failure["retry_after"].as_u64().unwrap() > 0);
    run("bob", "reach__relay").ok();
    // It is the same bucket that a call of their own takes from.
    let echo = |user: &str| home.args(&["call", "echo", "{\"message\": \"x\"}", "--user", user]);
    echo("bob").fails(3, &["too many calls"]);
    echo("eve").ok();
    assert_eq!(run("eve", "reach__failure").json()["code"], "rate_limited");
}

#[test]
fn the_number_of_calls_is_limited() {
    let granted = |manifest: &str, config: &str| {
        let home = home("relay", &format!("{ASKS}{manifest}"), config);
        grant(&home, "echo");
        home
    };
    let params = json!({"alias": "other", "params": {"message": "hello"}, "times": 2});
    limit_ends_the_call(LIMIT, 1, granted, "relay", &params);
    call(&granted("", ""), "relay", &json!({"alias": "other", "times": 21})).fails(4, &["`tool_calls`"]);
}

#[test]
fn a_circle_ends_and_nobody_in_it_waits_for_a_place_that_it_holds() {
    let config = "[engine]\ninstances = 1\n[concurrency]\nper_caller_and_tool = 1\nper_tool = 1\nwait_ms = 500\n";
    let home = granted("echo", config);
    let circle = call(&home, "circle", &json!({})).json();
    let deepest = &circle["below"]["below"]["below"]["below"];
    assert_eq!(deepest["code"], "limit.depth", "{circle}");
    assert!(deepest["message"].as_str().unwrap().contains("over its limit of depth: 4"), "{circle}");
}

#[test]
fn a_guest_sees_the_result_of_another_tool_without_secrets() {
    let home = granted("echo", "");
    home.fed(&["secret", "set", "service_key", "--place", "file"], "s3cret-value-of-38-chars").ok();
    let params = json!({"alias": "other", "params": {"message": "it is s3cret-value-of-38-chars"}});
    let reversed = call(&home, "reversed", &params).ok();
    assert!(reversed.trim().ends_with("si ti") && !reversed.contains("srahc-83"), "{reversed}");
}

#[test]
fn the_record_says_who_made_a_call() {
    let home = granted("echo", "");
    call(&home, "relay", &json!({"alias": "other", "params": {"message": "hello"}})).ok();
    let events = home.run("audit --json").json();
    let opened = |tool: &str| {
        let event = |event: &&Value| event["event"] == "opened" && event["tool"] == tool;
        events.as_array().unwrap().iter().find(event).unwrap().clone()
    };
    assert_eq!(opened("echo")["parent"], opened("reach__relay")["call"]);
    assert!(opened("reach__relay")["parent"].is_null());
    home.run("audit --verify").ok();
    let listed = home.run("audit").ok();
    assert!(["PARENT", " UTC ", "reach__relay"].iter().all(|part| listed.contains(part)), "{listed}");
}

#[test]
fn a_called_tool_has_no_more_time_than_its_caller() {
    let home = granted("reach__left", "[tools.reach__relay.limits]\ndeadline_ms = 9000\n");
    let left = call(&home, "relay", &json!({"alias": "other", "params": {}})).json().as_u64().unwrap();
    assert!((1..=9000).contains(&left), "{left}");
    assert!(call(&home, "left", &json!({})).json().as_u64().unwrap() > 9000);
}

/// A native tool that waits for ever, tells that it has begun, and knows whether it was stopped; or one that says by whom
/// it was called.
struct Native {
    spec: ToolSpec,
    waits: bool,
    begun: Arc<Notify>,
    stopped: Arc<AtomicBool>,
}

impl Native {
    fn new(name: &str, waits: bool, approval: Approval) -> Self {
        let parameters = json!({"type": "object", "properties": {}});
        let spec = ToolSpec {
            name: name.into(),
            description: "Is called.".into(),
            parameters,
            approval,
            ..ToolSpec::default()
        };
        Self { spec, waits, begun: Arc::default(), stopped: Arc::default() }
    }
}

/// Tells when it is dropped.
struct Guard(Arc<AtomicBool>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[async_trait::async_trait]
impl Tool for Native {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn execute(&self, permit: Permit) -> Result<RawOutput, ToolError> {
        let _guard = Guard(self.stopped.clone());
        self.begun.notify_one();
        if self.waits {
            std::future::pending::<()>().await;
        }
        let context = permit.call().context();
        let caller = json!({
            "user": context.caller.user, "depth": context.depth, "progress": context.progress.is_some(),
        });
        Ok(RawOutput::json(caller))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_caller_of_a_called_tool_is_the_caller() {
    let home = granted("listener", "");
    let host = open(&home, vec![Arc::new(Native::new("listener", false, Approval::Never))]).await;
    let params = json!({"alias": "other", "params": {}});
    let output = host.call("reach__relay", params, caller("ada")).await.unwrap();
    assert_eq!(output.structured.unwrap(), json!({"user": "ada", "depth": 1, "progress": false}));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_needs_an_approval_needs_it_from_a_tool_as_well() {
    let home = granted("listener", "");
    let native = Arc::new(Native::new("listener", false, Approval::Always));
    let host = open(&home, vec![native.clone()]).await;
    let params = json!({"alias": "other", "params": {}});
    let output = host.call("reach__failure", params, caller("ada")).await.unwrap();
    assert_eq!(output.structured.unwrap()["code"], "needs_approval");
    assert!(!native.stopped.load(Ordering::SeqCst), "it never ran");
}

#[tokio::test(flavor = "multi_thread")]
async fn to_cancel_a_call_stops_the_calls_below_it() {
    let home = granted("listener", "");
    let native = Arc::new(Native::new("listener", true, Approval::Never));
    let host = open(&home, vec![native.clone()]).await;
    let cancel = CancellationToken::new();
    let mut context = CallContext::of(caller("ada"));
    context.cancel = cancel.clone();
    let params = json!({"alias": "other", "params": {}});
    let (ended, ()) = tokio::join!(host.call_with(ToolCall::new("reach__relay", params, context)), async {
        native.begun.notified().await;
        assert!(!native.stopped.load(Ordering::SeqCst));
        cancel.cancel();
    });
    assert_eq!(ended.unwrap_err().code(), "cancelled");
    assert!(native.stopped.load(Ordering::SeqCst));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_called_tool_ends_with_its_caller() {
    let home = granted("listener", "[tools.reach__relay.limits]\ndeadline_ms = 500\n");
    let native = Arc::new(Native::new("listener", true, Approval::Never));
    let host = open(&home, vec![native.clone()]).await;
    let params = json!({"alias": "other", "params": {}});
    assert_eq!(host.call("reach__relay", params, caller("ada")).await.unwrap_err().code(), "limit.deadline");
    assert!(native.stopped.load(Ordering::SeqCst));
}
