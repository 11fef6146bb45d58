//! The MCP front: the real binary over pipes, asked by rmcp's client and by hand-written lines.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use rmcp::ServiceExt as _;
use rmcp::handler::client::ClientHandler;
use rmcp::model::{CallToolRequestParams, ClientRequest, ProgressNotificationParam, Request, ServerResult};
use rmcp::service::{NotificationContext, PeerRequestOptions, RoleClient, RunningService};
use rmcp::transport::TokioChildProcess;
use serde_json::{Value, json};
use tokio::sync::mpsc as channel;

use crate::support::binary::Home;

/// A home with the guests `names` installed, unsigned, and no rates.
pub(crate) fn home_with(names: &[&str]) -> Home {
    let home = Home::new();
    home.file("home/config.toml", "[rate]\nunlimited = true\n");
    for name in names {
        crate::support::packages::install_unsigned(&home, name);
    }
    home
}

/// A server at the other end of pipes, spoken to line by line.
pub(crate) struct Lines {
    child: Child,
    input: Option<ChildStdin>,
    output: mpsc::Receiver<String>,
}

impl Lines {
    pub(crate) fn start(home: &Home) -> Self {
        Self::serving(home, &[])
    }

    /// With more arguments.
    fn serving(home: &Home, args: &[&str]) -> Self {
        let mut child = home
            .command()
            .arg("serve")
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let (sender, output) = mpsc::channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || stdout.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { input: child.stdin.take(), child, output }
    }

    pub(crate) fn send(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    /// Sends what may be no message.
    pub(crate) fn send_line(&mut self, line: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line).unwrap();
        input.write_all(b"\n").unwrap();
    }

    pub(crate) fn receive(&self) -> Value {
        let line = self.output.recv_timeout(Duration::from_secs(60)).expect("the server answers");
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("not protocol: {line}"))
    }

    /// The answer to request `id`; what comes before it is returned as well.
    pub(crate) fn answer(&self, id: &Value) -> (Value, Vec<Value>) {
        let mut before = Vec::new();
        loop {
            let message = self.receive();
            if &message["id"] == id && message.get("method").is_none() {
                return (message, before);
            }
            before.push(message);
        }
    }

    pub(crate) fn initialize(&mut self, version: &str) -> Value {
        self.send(&json!({"jsonrpc": "2.0", "id": "init", "method": "initialize", "params": {
            "protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
        }}));
        let (answer, _) = self.answer(&json!("init"));
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        answer["result"].clone()
    }

    /// Closes the server's input, which is how a client leaves, and gives all that is still said.
    pub(crate) fn leave(&mut self) -> Vec<Value> {
        self.input = None;
        let said = self.output.iter().map(|line| serde_json::from_str(&line).unwrap()).collect();
        assert!(self.child.wait().unwrap().success());
        said
    }

    pub(crate) fn request(&mut self, id: &Value, method: &str, params: &Value) -> Value {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        self.answer(id).0
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn every_handshake_revision_is_spoken_and_an_unknown_one_gets_a_known_one() {
    let known = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
    for version in known {
        assert_eq!(Lines::start(&Home::new()).initialize(version)["protocolVersion"], version);
    }
    let answer = Lines::start(&Home::new()).initialize("1998-02-03");
    assert!(known.contains(&answer["protocolVersion"].as_str().unwrap()), "{answer}");
}

/// What a client of the stateless revision says of itself with each request.
fn introduction() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    })
}

#[test]
fn the_stateless_revision_needs_no_handshake() {
    let home = Home::new();
    let mut server = Lines::start(&home);
    let meta = introduction();
    let discovered = server.request(&json!(1), "server/discover", &json!({"_meta": meta}));
    assert!(
        discovered["result"]["supportedVersions"].as_array().unwrap().contains(&json!("2026-07-28")),
        "{discovered}"
    );
    let called = server.request(
        &json!(2),
        "tools/call",
        &json!({"_meta": meta, "name": "echo", "arguments": {"message": "hello"}}),
    );
    assert_eq!(called["result"]["content"][0]["text"], "hello", "{called}");
}

#[test]
fn tools_are_listed_with_their_schemas_and_hints() {
    let home = home_with(&["mirror"]);
    let mut server = Lines::start(&home);
    server.initialize("2025-11-25");
    let listed = server.request(&json!(0), "tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["echo", "json", "mirror__run", "secret_list", "time"]);
    assert_eq!(tools[0]["annotations"]["readOnlyHint"], true);
    assert_eq!(tools[2]["annotations"]["readOnlyHint"], false, "a guest's claim is not believed unless accepted");
    assert_eq!(tools[0]["inputSchema"]["required"], json!(["message"]));
}

#[test]
fn results_are_structured_and_carry_usage() {
    let home = home_with(&["mirror"]);
    let mut server = Lines::start(&home);
    server.initialize("2025-06-18");
    let called = server.request(
        &json!(1),
        "tools/call",
        &json!({"name": "mirror__run", "arguments": {"n": 9007199254740993u64}}),
    );
    assert_eq!(called["result"]["structuredContent"], json!({"n": 9007199254740993u64}));
    assert!(called["result"]["_meta"]["dev.ringfence/usage"]["fuel"].as_u64().unwrap() > 0, "{called}");
    // Spelt as on the command line.
    let printed = home.args(&["call", "mirror__run", "{}", "--json"]).json();
    let names = |usage: &Value| usage.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let mut told = called["result"]["_meta"]["dev.ringfence/usage"].clone();
    for name in ["duration_us", "cost"] {
        told.as_object_mut().unwrap().remove(name).unwrap();
    }
    assert_eq!(names(&told), names(&printed["usage"]));
}

#[test]
fn a_rule_holds_for_what_is_installed_while_the_server_runs() {
    let home = home_with(&[]);
    home.file("home/config.toml", "[policy]\ndeny = [\"mirror__run\"]\n");
    let mut server = Lines::start(&home);
    server.initialize("2025-06-18");
    crate::support::packages::install_unsigned(&home, "mirror");
    let call = json!({"name": "mirror__run", "arguments": {"n": 1}});
    let called = server.request(&json!(1), "tools/call", &call);
    assert!(called.to_string().contains("denied"), "{called}");
}

#[test]
fn refusals_are_results_that_the_model_can_read() {
    let home = home_with(&["panic"]);
    home.file("home/config.toml", "[policy]\ndeny = [\"time\"]\n");
    let mut server = Lines::start(&home);
    server.initialize("2025-06-18");
    let mut call = |id: u64, name: &str, arguments: Value| {
        server.request(&json!(id), "tools/call", &json!({"name": name, "arguments": arguments}))
    };
    for (id, name, code) in [(1, "time", "denied"), (2, "panic__run", "trapped"), (3, "echo", "invalid_params")] {
        let answer = call(id, name, json!({}));
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        assert_eq!(answer["result"]["_meta"]["dev.ringfence/error"]["code"], code, "{answer}");
    }
    let unknown = call(4, "ecko", json!({}));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    assert!(unknown["error"]["message"].as_str().unwrap().contains("did you mean `echo`"), "{unknown}");
}

#[test]
fn ids_keep_their_type_and_notifications_get_no_answer() {
    let home = Home::new();
    let mut server = Lines::start(&home);
    server.initialize("2025-06-18");
    for message in [
        json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}),
        json!({"jsonrpc": "2.0", "method": "x/unknown"}),
        json!({"jsonrpc": "2.0", "id": 7, "method": "x/unknown"}),
        json!({"jsonrpc": "2.0", "id": 0, "method": "tools/list"}),
    ] {
        server.send(&message);
    }
    let (first, second) = (server.receive(), server.receive());
    let (unknown, list) = if first["id"] == 7 { (first, second) } else { (second, first) };
    assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
    assert_eq!(list["id"], json!(0));
    assert!(list["result"]["tools"].is_array());
    assert!(server.output.recv_timeout(Duration::from_millis(200)).is_err(), "nothing else is said");
}

#[test]
fn progress_carries_the_token_that_was_sent_and_comes_before_the_result() {
    let home = home_with(&["slow"]);
    let mut server = Lines::start(&home);
    server.initialize("2025-06-18");
    for (id, token) in [(1, Some(json!(5))), (2, Some(json!("p/5"))), (3, None)] {
        let mut params = json!({"name": "slow__run", "arguments": {"n": 3}});
        if let Some(token) = &token {
            params["_meta"] = json!({"progressToken": token});
        }
        server.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}));
        let (answer, before) = server.answer(&json!(id));
        assert!(answer["result"]["isError"].as_bool() != Some(true), "{answer}");
        let expected = if token.is_some() { 3 } else { 0 };
        assert_eq!(before.len(), expected, "{before:?}");
        for report in before {
            assert_eq!(report["method"], "notifications/progress");
            assert_eq!(&report["params"]["progressToken"], token.as_ref().unwrap());
        }
    }
}

#[test]
fn a_cancelled_call_ends_and_is_recorded_as_cancelled() {
    let home = home_with(&["wait_an_hour"]);
    let mut server = Lines::start(&home);
    server.initialize("2025-06-18");
    server.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "wait-an-hour__run", "arguments": {}}}));
    // The call is known to run once the next request, which goes the same way, has been answered.
    server.request(&json!(2), "tools/call", &json!({"name": "echo", "arguments": {"message": "x"}}));
    server.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}));
    server.request(&json!(3), "tools/list", &json!({}));
    let events = || home.args(&["audit", "--json", "--last", "50"]).json();
    let cancelled = |events: &Value| events.as_array().unwrap().iter().any(|e| e["outcome"] == "cancelled");
    let seen = (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        cancelled(&events())
    });
    assert!(seen, "{:#}", events());
}

#[test]
fn a_cancellation_is_heard_while_requests_wait_for_their_place() {
    let home = home_with(&["wait_an_hour"]);
    home.file("home/config.toml", "[rate]\nunlimited = true\n[concurrency]\nper_caller_and_tool = 64\n");
    let mut server = Lines::start(&home);
    server.initialize("2025-06-18");
    // As many as run at once, and one behind them.
    for id in 1..=64 {
        let params = json!({"name": "wait-an-hour__run", "arguments": {}});
        server.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}));
    }
    let behind = json!({"name": "echo", "arguments": {"message": "x"}});
    server.send(&json!({"jsonrpc": "2.0", "id": 65, "method": "tools/call", "params": behind}));
    server.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}));
    let (answer, before) = server.answer(&json!(65));
    assert_eq!(answer["result"]["content"][0]["text"], "x", "{answer}");
    assert!(before.is_empty(), "no call has ended by itself: {before:?}");
}

#[test]
fn a_second_client_shares_the_host_of_the_first_and_hears_of_changes() {
    let home = home_with(&[]);
    let mut first = Lines::start(&home);
    first.initialize("2025-06-18");
    let mut second = Lines::start(&home);
    second.initialize("2025-06-18");
    crate::support::packages::install_unsigned(&home, "mirror");
    for server in [&mut first, &mut second] {
        assert_eq!(server.receive()["method"], "notifications/tools/list_changed");
        let called = server.request(&json!(1), "tools/call", &json!({"name": "mirror__run", "arguments": {"n": 1}}));
        assert_eq!(called["result"]["structuredContent"], json!({"n": 1}), "{called}");
    }
    home.run("remove mirror").ok();
    for server in [&mut first, &mut second] {
        assert_eq!(server.receive()["method"], "notifications/tools/list_changed");
        let listed = server.request(&json!(2), "tools/list", &json!({}));
        assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 4);
    }
}

#[test]
fn a_stateless_client_hears_of_changes_once_and_only_if_it_subscribed() {
    let home = home_with(&[]);
    let (mut subscriber, mut other) = (Lines::start(&home), Lines::start(&home));
    for server in [&mut subscriber, &mut other] {
        server.request(&json!(1), "tools/list", &json!({"_meta": introduction()}));
    }
    let listen =
        json!({"_meta": introduction(), "notifications": {"toolsListChanged": true, "promptsListChanged": true}});
    subscriber.send(&json!({"jsonrpc": "2.0", "id": "sub", "method": "subscriptions/listen", "params": listen}));
    let acknowledged = subscriber.receive();
    assert_eq!(acknowledged["params"]["notifications"], json!({"toolsListChanged": true}), "{acknowledged}");
    crate::support::packages::install_unsigned(&home, "mirror");
    let told = subscriber.receive();
    assert_eq!(told["method"], "notifications/tools/list_changed");
    assert!(told.to_string().contains("\"sub\""), "it is that of the subscription: {told}");
    // The end of the subscription is said, so it did not hold up the end of the server; nothing else is.
    let said = subscriber.leave();
    assert_eq!(said.iter().map(|message| &message["id"]).collect::<Vec<_>>(), [&json!("sub")], "{said:?}");
    assert_eq!(other.leave(), Vec::<Value>::new());
}

#[test]
fn a_call_that_outlives_its_client_is_closed_in_the_record() {
    let home = home_with(&["wait_an_hour"]);
    let mut server = Lines::start(&home);
    server.initialize("2025-06-18");
    start_waiting(&mut server);
    server.leave();
    assert_eq!(ends(&home), ["cancelled", "ok"]);
    home.run("audit --verify").ok();
}

/// Starts a call, with the id 1, that ends in an hour; it runs when this returns.
pub(crate) fn start_waiting(server: &mut Lines) {
    let params = json!({"name": "wait-an-hour__run", "arguments": {}});
    server.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}));
    // The call is known to run once the next request, which goes the same way, has been answered.
    server.request(&json!(2), "tools/call", &json!({"name": "echo", "arguments": {"message": "x"}}));
}

/// How the calls on record ended, newest first.
pub(crate) fn ends(home: &Home) -> Vec<String> {
    let events = home.args(&["audit", "--json", "--last", "50"]).json();
    let ends = events.as_array().unwrap().iter().filter_map(|event| event["outcome"].as_str());
    ends.map(str::to_owned).collect()
}

/// That the call of `start_waiting` was stopped by the host.
fn stopped(server: &Lines) {
    let (answer, _) = server.answer(&json!(1));
    assert_eq!(answer["result"]["_meta"]["dev.ringfence/error"]["code"], "unavailable", "{answer}");
}

#[test]
fn what_is_removed_stops_in_the_middle_of_a_call_and_what_is_touched_does_not() {
    let home = home_with(&["wait_an_hour", "mirror"]);
    let mut server = Lines::start(&home);
    server.initialize("2025-06-18");
    start_waiting(&mut server);
    home.key("acme");
    home.trust("acme", &["x*"]); // starts all sources anew
    home.run("remove mirror").ok();
    assert_eq!(ends(&home), ["ok"], "it still runs");
    home.run("remove wait-an-hour").ok();
    stopped(&server);
}

#[test]
fn what_a_revoked_key_signed_stops_in_the_middle_of_a_call() {
    let (home, file) = crate::support::packages::signed("wait_an_hour", "1.0.0");
    home.args(&["install", file.to_str().unwrap()]).ok();
    let mut server = Lines::start(&home);
    server.initialize("2025-06-18");
    start_waiting(&mut server);
    let keys = home.run("trust list --json").json();
    home.args(&["trust", "revoke", keys[0]["key_id"].as_str().unwrap()]).ok();
    stopped(&server);
}

#[test]
fn what_was_granted_is_taken_from_a_call_that_runs() {
    let home = Home::new();
    home.file("home/config.toml", format!("[workspace]\nroot = \"{}\"\n", home.path().display()));
    let asks = "[capabilities.workspace]\nread = [\"docs/**\"]\n";
    let package = crate::support::guests::package_with("wait_an_hour", "wait-an-hour", asks);
    let file = home.file("waiting.wasm", package);
    home.args(&["install", file.to_str().unwrap(), "--allow-unsigned"]).ok();
    home.run("grant wait-an-hour --all").ok();
    let mut server = Lines::start(&home);
    server.initialize("2025-06-18");
    start_waiting(&mut server);
    home.run("revoke wait-an-hour").ok();
    stopped(&server);
}

#[test]
fn what_is_no_message_is_answered() {
    let home = Home::new();
    let mut server = Lines::start(&home);
    server.initialize("2025-06-18");
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let nested = format!(r#"{{"method":"tools/call","params":{{"name":"echo","a":{deep}}},"jsonrpc":"2.0","id":4}}"#);
    for (line, code, id) in
        [("{".to_owned(), -32700, Value::Null), (ping.clone() + &ping, -32700, Value::Null), (nested, -32600, json!(4))]
    {
        writeln!(server.input.as_mut().unwrap(), "{line}").unwrap();
        let answer = server.receive();
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &id), "{answer}");
    }
    let answer = server.request(&json!(5), "tools/call", &json!({"name": 5}));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    server.request(&json!(6), "tools/list", &json!({}));
}

#[test]
fn through_another_process_nothing_is_lost_of_depth_or_progress() {
    let home = home_with(&["slow"]);
    let (mut owner, mut server) = (Lines::start(&home), Lines::start(&home));
    owner.initialize("2025-06-18");
    server.initialize("2025-06-18");
    let deep = (0..121).fold(json!(1), |inner, _| json!([inner]));
    let params = json!({"name": "json", "arguments": {"operation": "query", "data": deep, "path": ""}});
    let (here, there) =
        (owner.request(&json!(1), "tools/call", &params), server.request(&json!(1), "tools/call", &params));
    assert!(here["result"]["content"][0]["text"].is_string(), "{here}");
    assert_eq!(here["result"]["content"], there["result"]["content"]);
    let params = json!({"name": "slow__run", "arguments": {"n": 100}, "_meta": {"progressToken": "p"}});
    server.send(&json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}));
    let (_, before) = server.answer(&json!(2));
    assert_eq!(before.last().unwrap()["params"]["progress"], 100.0);
}

#[test]
fn a_server_that_is_never_spoken_to_leaves_no_socket() {
    let home = Home::new();
    let socket = home.path().join("home/state/socket");
    for said in ["", "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"] {
        home.fed(&["serve"], said).ok();
        assert!(!socket.exists(), "{said}");
    }
}

#[test]
fn the_owner_answers_what_it_cannot_read() {
    use std::os::unix::net::UnixStream;
    let home = Home::new();
    let mut server = Lines::start(&home);
    server.initialize("2025-06-18");
    let mut peer = UnixStream::connect(home.path().join("home/state/socket")).unwrap();
    peer.write_all(b"nonsense\n").unwrap();
    let said: Vec<String> = BufReader::new(peer).lines().map_while(Result::ok).collect();
    assert!(said[0].contains("\"ringfence\""), "it says first of which version it is: {said:?}");
    assert!(said[1].contains("cannot read the request"), "{said:?}");
}

#[test]
fn the_server_ends_when_its_client_does() {
    let home = Home::new();
    let mut server = Lines::start(&home);
    server.initialize("2025-06-18");
    server.input = None; // closing the pipe is how a client leaves
    let left = (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        server.child.try_wait().unwrap().is_some_and(|status| status.success())
    });
    assert!(left);
}

/// rmcp's own client, which keeps what it hears.
struct Client {
    progress: channel::UnboundedSender<f64>,
}

impl ClientHandler for Client {
    async fn on_progress(&self, params: ProgressNotificationParam, _context: NotificationContext<RoleClient>) {
        let _ = self.progress.send(params.progress);
    }
}

async fn client(home: &Home) -> (RunningService<RoleClient, Client>, channel::UnboundedReceiver<f64>) {
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_ringfence"));
    command.arg("serve").env("RINGFENCE_HOME", home.path().join("home"));
    let (progress, reports) = channel::unbounded_channel();
    (Client { progress }.serve(TokioChildProcess::new(command).unwrap()).await.unwrap(), reports)
}

#[tokio::test]
async fn a_real_client_lists_calls_and_gets_progress() {
    let home = home_with(&["slow"]);
    let (client, mut reports) = client(&home).await;
    assert_eq!(client.list_all_tools().await.unwrap().len(), 5);
    let arguments = json!({"n": 2}).as_object().cloned().unwrap();
    let params = CallToolRequestParams::new("slow__run").with_arguments(arguments);
    let request = ClientRequest::CallToolRequest(Request::new(params));
    let handle = client.send_cancellable_request(request, PeerRequestOptions::no_options()).await.unwrap();
    let answer = handle.await_response().await.unwrap();
    assert!(matches!(answer, ServerResult::CallToolResult(_)));
    assert_eq!((reports.recv().await, reports.recv().await), (Some(1.0), Some(2.0)));
    client.cancel().await.unwrap();
}

#[test]
fn calls_are_made_for_whom_the_server_was_started() {
    let home = home_with(&[]);
    let asks = "[capabilities.state]\nbytes = 100\nkeys = 3\n";
    let file = home.file("keeper.wasm", crate::support::guests::package_with("keeper", "keeper", asks));
    home.args(&["install", file.to_str().unwrap(), "--allow-unsigned"]).ok();
    home.run("grant keeper --all").ok();
    let mut server = Lines::serving(&home, &["--user", "ada", "--agent", "helper", "--session", "monday"]);
    server.initialize("2025-06-18");
    let entry = json!({"key": "colour", "value": "blue"});
    let kept = server.request(&json!(1), "tools/call", &json!({"name": "keeper__keep", "arguments": entry}));
    assert_eq!(kept["result"]["isError"], json!(false), "{kept}");
    server.leave();
    let recalled = |user: &str| home.args(&["call", "keeper__recall", "{\"key\": \"colour\"}", "--user", user]).json();
    assert_eq!(recalled("ada"), "blue");
    assert!(recalled("bob").is_null());
    assert!(home.run("call keeper__recall {\"key\":\"colour\"}").json().is_null(), "nobody is not somebody");
    home.run("call echo {\"message\":\"x\"} --user bob --agent other --session tuesday").ok();
    let record = std::fs::read_to_string(home.path().join("home/state/audit/00000000000000000001.jsonl")).unwrap();
    for caller in [
        r#""caller":{"user":"ada","agent":"helper","session":"monday"}"#,
        r#""caller":{"user":"bob","agent":"other","session":"tuesday"}"#,
    ] {
        assert_eq!(record.matches(caller).count(), 1, "{record}");
    }
}
