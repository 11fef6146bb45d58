//! Every setting that is no limit, rate or policy rule: each has a test that fails when the setting is ignored.

use std::process::{Command, Stdio};
use std::sync::Arc;

use ringfence::{Caller, LimitSet, Ringfence};
use serde_json::json;

use crate::support::binary::Home;
use crate::support::host::{TestHost, caller, with_guests};
use crate::support::{guests, packages};

/// Starts a call that waits for an hour, and lets it run for a moment.
fn wait(host: &TestHost, user: &str) -> tokio::task::JoinHandle<()> {
    let (host, user) = (host.host.clone(), user.to_owned());
    tokio::spawn(async move {
        let _ = host.call("wait-an-hour__run", json!({}), caller(&user)).await;
    })
}

/// Whether a call of `tool` by `user` finds a place beside `waiting` calls of the guest that waits.
async fn finds_place(host: &TestHost, waiting: &[&str], tool: &str, user: &str) -> bool {
    let calls: Vec<_> = waiting.iter().map(|user| wait(host, user)).collect();
    // Until they all hold their places: nobody else can be told apart from the outside, so ask until it settles.
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    let result = host.host.call(tool, json!({}), caller(user)).await;
    calls.iter().for_each(tokio::task::JoinHandle::abort);
    match result {
        Ok(_) => true,
        Err(error) if error.code() == "limit.deadline" => true,
        Err(error) => {
            assert_eq!(error.code(), "unavailable", "{error}");
            assert!(error.retry_after().is_some());
            false
        }
    }
}

const SHORT_WAIT: &str = "wait_ms = 50\n[limits]\ndeadline_ms = 3000\n";

#[tokio::test(flavor = "multi_thread")]
async fn concurrency_per_caller_and_tool() {
    let config = format!("[concurrency]\nper_caller_and_tool = 1\n{SHORT_WAIT}");
    let host = with_guests(&["wait_an_hour", "mirror"], &config).await;
    assert!(!finds_place(&host, &["ada"], "wait-an-hour__run", "ada").await);
    assert!(finds_place(&host, &["ada"], "wait-an-hour__run", "bob").await);
    assert!(finds_place(&host, &["ada"], "mirror__run", "ada").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrency_per_tool() {
    let config = format!("[concurrency]\nper_tool = 1\n{SHORT_WAIT}");
    let host = with_guests(&["wait_an_hour", "mirror"], &config).await;
    assert!(!finds_place(&host, &["ada"], "wait-an-hour__run", "bob").await);
    assert!(finds_place(&host, &["ada"], "mirror__run", "bob").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn instances_bound_all_tools_together() {
    let config = format!("[engine]\ninstances = 2\n[concurrency]\nper_tool = 2\n{SHORT_WAIT}");
    let host = with_guests(&["wait_an_hour", "mirror"], &config).await;
    assert!(!finds_place(&host, &["ada", "bob"], "mirror__run", "eve").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_waits_for_a_place_as_long_as_it_is_told() {
    let host = async |wait_ms, deadline_ms| {
        let concurrency = format!("[engine]\ninstances = 1\n[concurrency]\nwait_ms = {wait_ms}\n");
        let config = format!("{concurrency}[limits]\ndeadline_ms = {deadline_ms}\n");
        with_guests(&["wait_an_hour", "mirror"], &config).await
    };
    // The first one ends at its deadline; the second one has its place then, if it still waits. Without a word it would
    // wait for five seconds.
    let (longer, shorter) = (host(20_000, 6500).await, host(1000, 3000).await);
    let (found, refused) = tokio::join!(
        finds_place(&longer, &["ada"], "mirror__run", "bob"),
        finds_place(&shorter, &["ada"], "mirror__run", "bob"),
    );
    assert!(found && !refused);
}

/// Three calls that need all of their time, one after the other. Were the wait a part of it, the second one would end with
/// the first, having hardly begun, and so would the third, which never has a place.
#[tokio::test(flavor = "multi_thread")]
async fn a_wait_for_a_place_takes_nothing_of_the_deadline() {
    let config = "[concurrency]\nper_tool = 1\nwait_ms = 3000\n[limits]\ndeadline_ms = 2000\n";
    let host = with_guests(&["wait_an_hour"], config).await;
    host.run("wait_an_hour", json!({})).await.unwrap_err(); // its code is loaded by then
    let begun = std::time::Instant::now();
    let call = async |user| {
        let result = host.host.call("wait-an-hour__run", json!({}), caller(user)).await;
        (result.unwrap_err().code().into_owned(), begun.elapsed().as_millis())
    };
    let mut ends = <[_; 3]>::from(tokio::join!(call("ada"), call("bob"), call("eve")));
    // In no order of time: a busy machine may end the first one late.
    ends.sort();
    assert_eq!(ends.each_ref().map(|(code, _)| code.as_str()), ["limit.deadline", "limit.deadline", "unavailable"]);
    let [first, second, refused] = ends.map(|(_, time)| time);
    assert!(second - first >= 1900 && refused >= 2900, "{first}, {second}, {refused}");
}

#[tokio::test]
async fn the_stack_is_as_large_as_set() {
    let config = |bytes: usize| format!("[engine]\nstack_bytes = {bytes}\n");
    let host = with_guests(&["endless_recursion"], &config(100_000)).await;
    let error = host.run("endless_recursion", json!({})).await.unwrap_err();
    assert!(error.to_string().contains("100000 bytes"), "{error}");
    let depth = json!({"depth": 2000});
    let small = with_guests(&["recursion"], &config(100_000)).await;
    assert_eq!(small.run("recursion", depth.clone()).await.unwrap_err().code(), "limit.stack");
    let large = with_guests(&["recursion"], &config(2_000_000)).await;
    assert_eq!(large.run("recursion", depth).await.unwrap().structured, Some(json!(2000)));
}

#[test]
fn the_least_stack_is_enough_for_ordinary_tools() {
    let home = Home::new();
    home.file("home/config.toml", format!("[engine]\nstack_bytes = {}\n", ringfence_source_wasm::LEAST_STACK));
    for tool in ["calc", "text", "weather", "github", "web-search"] {
        let file = home.file(&format!("{tool}.wasm"), guests::own_package(tool));
        home.args(&["install", file.to_str().unwrap(), "--allow-unsigned"]).ok();
    }
    assert_eq!(home.args(&["call", "calc__evaluate", r#"{"expression": "(1 + 2) * 3"}"#]).ok().trim(), "9");
}

#[tokio::test]
async fn a_component_that_does_not_fit_the_profile_is_refused_with_the_number() {
    let open = |profile: &'static str| async move {
        let folder = tempfile::tempdir().unwrap();
        let config = toml::from_str(&format!("[engine]\nprofile = \"{profile}\"\n")).unwrap();
        Ringfence::builder(ringfence::Home::at(folder.path()))
            .config(config)
            .register_wasm("many-tables", &guests::component("many_tables"), LimitSet::default())
            .open()
            .await
            .map(|_| ())
    };
    let error = open("standard").await.unwrap_err().to_string();
    assert!(error.contains("16") && error.contains("`profile = \"large\"` under [engine]"), "{error}");
    open("large").await.unwrap();
}

#[tokio::test]
async fn metering_by_epoch_counts_no_fuel() {
    let host = with_guests(&["mirror"], "[engine]\nmetering = \"epoch\"\n").await;
    assert_eq!(host.run("mirror", json!({"n": 1})).await.unwrap().usage.fuel, None);
}

#[tokio::test]
async fn without_a_pool_tools_run_as_well() {
    let host = with_guests(&["mirror"], "[engine]\npooling = false\n").await;
    assert_eq!(host.run("mirror", json!({"n": 1})).await.unwrap().structured, Some(json!({"n": 1})));
}

/// A pool takes its address space beforehand, several terabytes of it; without one there is hardly any.
#[test]
fn a_pool_is_there_unless_it_is_turned_off() {
    let address_space = |config: &str| {
        let home = Home::new();
        home.file("home/config.toml", config);
        let mut served = home.command();
        served.arg("serve").stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut server = served.spawn().unwrap();
        // It listens when all of it is there.
        while !home.path().join("home/state/socket").exists() {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        let status = std::fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
        server.kill().unwrap();
        server.wait().unwrap();
        let size = status.lines().find_map(|line| line.strip_prefix("VmSize:")).unwrap();
        size.split_whitespace().next().unwrap().parse::<u64>().unwrap()
    };
    const TERABYTE: u64 = 1 << 30; // in KiB
    assert!(address_space("") > TERABYTE);
    assert!(address_space("[engine]\npooling = false\n") < TERABYTE);
}

#[test]
fn a_record_that_survives_power_is_synchronised_with_the_disk() {
    let home = Home::new();
    let synchronised = |config: &str| {
        home.file("home/config.toml", config);
        let trace = home.path().join("trace");
        let mut traced = Command::new("strace");
        traced.args(["-f", "-y", "-e", "trace=fdatasync,fsync", "-o"]).arg(&trace).arg(home.command().get_program());
        traced.args(["call", "echo", "{\"message\": \"x\"}"]).env("RINGFENCE_HOME", home.path().join("home"));
        let run = traced.output().unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        let trace = std::fs::read_to_string(trace).unwrap();
        // A process that cannot be dumped hides the names of its files from all but root.
        // The index is made of the record, and synchronised when it likes.
        let is_record = |line: &str| (line.contains("/audit/") && !line.contains("index")) || !line.contains('<');
        trace.lines().filter(|line| line.contains("sync(") && is_record(line)).count()
    };
    // Once for the new segment and its head; then only where power may fail.
    synchronised("");
    let process = synchronised("[audit]\ndurability = \"process\"\n");
    let power = synchronised("[audit]\ndurability = \"power\"\n");
    assert!(power >= process + 3, "{process} against {power}: a call has three events");
}

#[test]
fn compiled_code_is_kept_by_engine_settings() {
    let home = Home::new();
    packages::install_unsigned(&home, "mirror");
    let kept = || {
        home.args(&["call", "mirror__run", "{}"]).ok();
        let folder = std::fs::read_dir(home.path().join("home/state/compiled")).unwrap();
        folder.map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>()
    };
    let by_fuel = kept();
    assert_eq!((by_fuel.len(), kept()), (1, by_fuel.clone()));
    home.file("home/config.toml", "[engine]\nmetering = \"epoch\"\n");
    assert_ne!(kept(), by_fuel);
}

#[tokio::test]
async fn hour_rates_survive_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let open = || {
        let config = toml::from_str("[rate]\nper_minute = 1000000\nper_hour = 4\n").unwrap();
        Ringfence::builder(ringfence::Home::at(folder.path())).config(config).open()
    };
    let call =
        |host: Arc<Ringfence>| async move { host.call("echo", json!({"message": "x"}), Caller::default()).await };
    let first = Arc::new(open().await.unwrap());
    call(first.clone()).await.unwrap();
    first.close().unwrap();
    drop(first);
    let second = Arc::new(reopened(open).await);
    assert_eq!(call(second).await.unwrap_err().code(), "rate_limited");
}

/// Opens again as soon as the first host has let go of its folder; what runs in the background may hold it for a
/// moment.
pub(crate) async fn reopened<F: Future<Output = Result<Ringfence, ringfence::BuildError>>>(
    open: impl Fn() -> F,
) -> Ringfence {
    loop {
        match open().await {
            Err(error) if error.is_busy() => tokio::task::yield_now().await,
            other => return other.unwrap(),
        }
    }
}
