//! Every limit, set by the operator and by the manifest's side: each has a test that fails when it is ignored.

use ringfence::{LimitKind, Ringfence};
use serde_json::json;

use crate::capabilities;
use crate::support::binary::Home;
use crate::support::host::with_guests;
use crate::support::{guests, packages};

/// Each limit with a guest that goes over it, and the code that then comes back. The numbers are ones that the guest
/// exceeds although the default would let it pass, or the guest exceeds the default as well.
const EXCEEDED: &[(&str, &str, u64, &str)] = &[
    ("fuel", "mirror", 100, "limit.fuel"),
    ("deadline_ms", "wait_an_hour", 500, "limit.deadline"),
    ("memory_bytes", "mirror", 65_536, "limit.memory"),
    ("table_elements", "big_table_ok", 1000, "limit.table"),
    ("instances", "panic", 1, "limit.instances"),
    ("handles", "many_pollables", 5, "limit.handles"),
    ("resources", "many_pollables", 5, "limit.resources"),
    ("host_call_bytes", "mirror", 10, "limit.host_call"),
    ("random_bytes", "random_flood", 10, "limit.random"),
    ("log_records", "log_flood", 1, "limit.log_records"),
    ("log_bytes", "log_flood", 10, "limit.log"),
    ("result_bytes", "mirror", 3, "limit.result"),
    ("param_bytes", "mirror", 1, "limit.params"),
];

/// The limits that the guests above exceed as soon as they are asked for their tools.
const AT_THE_PROBE: &[LimitKind] =
    &[LimitKind::Fuel, LimitKind::Memory, LimitKind::Table, LimitKind::Instances, LimitKind::HostCall];

#[test]
fn every_limit_is_tried() {
    let here = EXCEEDED.iter().map(|(key, ..)| *key);
    let tried: Vec<&str> = here.chain(capabilities::limits()).collect();
    assert_eq!(tried, LimitKind::all().map(LimitKind::key).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_operator_can_set_every_limit_for_all_tools() {
    for (key, guest, value, code) in EXCEEDED {
        let host = with_guests(&[guest], &format!("[limits]\n{key} = {value}\n")).await;
        let error = host.run(guest, json!({})).await.unwrap_err();
        assert_eq!(error.code(), *code, "{key}: {error}");
        assert!(error.for_operator().contains(&format!("`{key}`")), "{}", error.for_operator());
        assert!(error.to_string().contains("by the operator"), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_operator_can_set_every_limit_for_one_source() {
    for (key, guest, value, code) in EXCEEDED {
        let source = guest.replace('_', "-");
        let host = with_guests(&[guest], &format!("[tools.\"{source}\".limits]\n{key} = {value}\n")).await;
        assert_eq!(host.run(guest, json!({})).await.unwrap_err().code(), *code, "{key}");
        let host = with_guests(&[guest], &format!("[tools.\"{source}__run\".limits]\n{key} = {value}\n")).await;
        assert_eq!(host.run(guest, json!({})).await.unwrap_err().code(), *code, "{key}");
    }
}

#[test]
fn a_package_can_ask_for_less_of_everything() {
    for (key, guest, value, code) in EXCEEDED {
        let home = Home::new();
        let package = guests::with_field(&guests::package(guest, "guest", "1.0.0"), "limits", json!({ *key: value }));
        let file = home.file("guest.wasm", package);
        let install = home.args(&["install", file.to_str().unwrap(), "--allow-unsigned"]);
        // The probe at installation runs under the same limits, and goes over these already.
        if AT_THE_PROBE.iter().any(|kind| kind.key() == *key) {
            install.fails(3, &["over its limit"]);
            continue;
        }
        install.ok();
        let run = home.args(&["--json", "call", "guest__run", "{}"]);
        assert_eq!(run.code, 4, "{key}: {run:?}");
        let error: serde_json::Value = serde_json::from_str(&run.out).unwrap();
        assert_eq!(error["error"]["code"], *code, "{run:?}");
        assert!(error["error"]["message"].as_str().unwrap().contains("by its manifest"), "{run:?}");
    }
}

#[test]
fn the_grant_of_a_source_can_lower_every_limit() {
    for (key, guest, value, code) in EXCEEDED {
        let home = Home::new();
        packages::install_unsigned(&home, guest);
        let source = guest.replace('_', "-");
        home.args(&["grant", &source, "--limit", &format!("{key}={value}")]).ok();
        // Whoever takes all back gives nothing by that.
        let file = format!("home/grants/{source}.toml");
        let text = std::fs::read_to_string(home.path().join(&file)).unwrap();
        home.file(&file, format!("addresses = [\"127.0.0.1/32\"]\n{text}"));
        home.args(&["revoke", &source]).ok();
        let run = home.args(&["--json", "call", &format!("{source}__run"), "{}"]);
        assert_eq!(run.code, 4, "{key}: {run:?}");
        let error: serde_json::Value = serde_json::from_str(&run.out).unwrap();
        assert_eq!(error["error"]["code"], *code);
        let said = ["message", "hint"].map(|part| error["error"][part].as_str().unwrap());
        assert!(said[0].contains("by its grant") && said[1].contains("[limits] in that file"), "{said:?}");
    }
}

#[tokio::test]
async fn what_cannot_be_enforced_for_a_native_tool_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let config = toml::from_str("[tools.echo.limits]\nfuel = 5\n").unwrap();
    let opened = Ringfence::builder(ringfence::Home::at(folder.path())).config(config).open().await;
    assert!(opened.err().unwrap().to_string().contains("`fuel` cannot be enforced"));
}

#[tokio::test]
async fn native_tools_keep_to_the_limits_that_apply_to_them() {
    for (key, code) in [("result_bytes", "limit.result"), ("param_bytes", "limit.params")] {
        let host = with_guests(&[], &format!("[tools.echo.limits]\n{key} = 4\n")).await;
        assert_eq!(host.call("echo", json!({"message": "hello"})).await.unwrap_err().code(), code);
    }
}

#[tokio::test]
async fn every_result_carries_usage() {
    let host = with_guests(&["mirror"], "").await;
    let output = host.run("mirror", json!({"n": 1})).await.unwrap();
    assert!(output.usage.fuel.unwrap() > 100);
    assert!(output.usage.peak_memory.unwrap() >= 65_536);
    assert!(!output.duration.is_zero());
    let again = host.run("mirror", json!({"n": 1})).await.unwrap();
    assert_eq!(output.usage, again.usage, "the same call burns the same");
}
