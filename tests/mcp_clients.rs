//! What MCP clients may send wrongly, and how they go: each is answered, none takes the server or a call with it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::mcp::{Lines, ends, home_with, start_waiting};
use crate::support::binary::Home;

/// A server that `wait-an-hour` runs in, as request 1.
fn with_a_call_that_runs(home: &Home) -> Lines {
    let mut server = Lines::start(home);
    server.initialize("2025-03-26");
    start_waiting(&mut server);
    server
}

fn ping(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)
}

#[test]
fn what_a_client_may_send_wrongly() {
    let home = home_with(&["wait_an_hour"]);
    let mut server = with_a_call_that_runs(&home);
    let digits = "123456789012345678901234567890";
    let no_id = Value::Null;
    let is_id = "`id` has to be a string or an integer of 64 bits";
    let long = format!(r#"{{"jsonrpc":"2.0","id":8,"method":"ping","params":{{"a":"{}"}}}}"#, "x".repeat(16 << 20));
    for (line, code, id, why) in [
        (ping("1.5"), -32600, json!(1.5), is_id),
        (ping(digits), -32600, serde_json::from_str(digits).unwrap(), is_id),
        (ping("null"), -32600, no_id.clone(), is_id),
        (ping(r#"{"a":1}"#), -32600, no_id.clone(), is_id),
        (ping("[1]"), -32600, no_id.clone(), is_id),
        (ping("true"), -32600, no_id.clone(), is_id),
        (ping("1"), -32600, json!(1), "that of another request"),
        (format!("[{}]", ping("7")), -32600, no_id.clone(), "a batch, which is not taken"),
        ("[]".into(), -32600, no_id.clone(), "a batch, which is not taken"),
        (r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#.into(), -32600, json!(7), "`jsonrpc` has to be"),
        (r#"{"id":"a","method":"ping"}"#.into(), -32600, json!("a"), "`jsonrpc` has to be"),
        (r#"{"jsonrpc":"2.0","id":7}"#.into(), -32600, json!(7), "`method` has to be there"),
        (long, -32600, json!(8), "longer than 16777216 bytes"),
        (r#"{"jsonrpc":"2.0","id":7,"method":5}"#.into(), -32600, json!(7), "`method` has to be there"),
        ("5".into(), -32600, no_id.clone(), "one JSON object"),
        ("{".into(), -32700, no_id, "not one JSON text"),
        (
            r#"{"jsonrpc":"2.0","id":7,"method":"x/y"}"#.into(),
            -32601,
            json!(7),
            "no method `x/y` here; those there are: `init",
        ),
        (
            r#"{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"a:b"}}"#.into(),
            -32601,
            json!(7),
            "`tools/call`",
        ),
    ] {
        let shown = &line[..line.len().min(100)];
        server.send_line(line.as_bytes());
        let answer = server.receive();
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &id), "{shown}: {answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(why), "{shown}: {answer}");
    }
    server.send_line(b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",\"params\":{\"a\":\"\xff\"}}");
    let answer = server.receive();
    assert!(answer["error"]["message"].as_str().unwrap().contains("not UTF-8"), "{answer}");
    // What is not to be answered is not.
    for line in ["", "\r", r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, r#"{"jsonrpc":"2.0","id":1,"result":5}"#] {
        server.send_line(line.as_bytes());
    }
    server.send(&json!({"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "x"}}));
    server.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}}));
    let (listed, before) = {
        server.send(&json!({"jsonrpc": "2.0", "id": 9, "method": "tools/list"}));
        server.answer(&json!(9))
    };
    assert!(listed["result"]["tools"].is_array() && before.is_empty(), "{before:?}");
    assert_eq!(ends(&home), ["ok"], "the call of the id 1 still runs");
}

#[test]
fn the_methods_that_an_error_names_are_there() {
    let home = Home::new();
    let mut server = Lines::start(&home);
    server.initialize("2025-06-18");
    let unknown = server.request(&json!(1), "x", &json!({}));
    let named = unknown["error"]["message"].as_str().unwrap().split_once("there are: ").unwrap().1.to_owned();
    for method in named.split(", ").map(|name| name.trim_matches('`')) {
        let answer = server.request(&json!(method), method, &json!({"name": "time"}));
        assert_ne!(answer["error"]["code"], -32601, "{method}: {answer}");
    }
}

#[test]
fn what_is_no_request_is_passed_over_before_a_client_has_begun() {
    let home = Home::new();
    let mut server = Lines::start(&home);
    for line in [
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/foo"}"#,
        r#"{"jsonrpc":"2.0","id":8,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":8,"error":{"code":1,"message":"x"}}"#,
    ] {
        server.send_line(line.as_bytes());
        server.send_line(ping("7").as_bytes());
        assert_eq!(server.receive()["result"], json!({}), "{line}");
    }
    server.initialize("2025-06-18");
    let listed = server.request(&json!(2), "tools/list", &json!({}));
    assert!(listed["result"]["tools"].is_array(), "{listed}");
}

#[test]
fn a_session_is_initialized_once() {
    let home = Home::new();
    let mut server = Lines::start(&home);
    server.initialize("2025-06-18");
    let client =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}});
    let again = server.request(&json!(1), "initialize", &client);
    assert_eq!(again["error"]["code"], -32600, "{again}");
    let listed = server.request(&json!(2), "tools/list", &json!({}));
    assert!(listed["result"]["tools"].is_array(), "what was agreed on holds: {listed}");
}

#[test]
fn parameters_that_mean_nothing_are_refused() {
    let home = Home::new();
    let mut server = Lines::start(&home);
    server.initialize("2025-06-18");
    for (method, params, why) in [
        ("tools/list", r#"{"cursor":"garbage"}"#, "`cursor`"),
        ("tools/list", r#"{"cursor":5}"#, "expected a string"),
        ("tools/call", r#"{"name":"time","arguments":{},"arguments":{}}"#, "duplicate field `arguments`"),
    ] {
        let line = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"{method}","params":{params}}}"#);
        server.send_line(line.as_bytes());
        let answer = server.receive();
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32602), &json!(7)), "{line}: {answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(why), "{line}: {answer}");
    }
}

#[test]
fn a_ping_is_answered_at_once_however_many_calls_run_and_wait() {
    let home = home_with(&["wait_an_hour"]);
    home.file("home/config.toml", "[rate]\nunlimited = true\n[concurrency]\nwait_ms = 600000\n");
    let mut server = with_a_call_that_runs(&home);
    for id in 1000..1100 {
        let params = json!({"name": "wait-an-hour__run", "arguments": {}});
        server.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}));
    }
    server.send_line(ping("7").as_bytes());
    let answer = server.receive();
    assert_eq!((&answer["id"], &answer["result"]), (&json!(7), &json!({})), "{answer}");
}

#[test]
fn of_two_requests_with_one_id_the_second_is_refused_and_the_first_is_answered() {
    let home = home_with(&["slow"]);
    let mut server = Lines::start(&home);
    server.initialize("2025-06-18");
    let call = |name: &str, arguments: Value| json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}});
    server.send(&call("slow__run", json!({"n": 100})));
    server.send(&call("echo", json!({"message": "x"})));
    let (refused, first) = (server.receive(), server.receive());
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(1), &json!(-32600)), "{refused}");
    assert!(first["result"].is_object() && first["id"] == 1, "{first}");
    server.send(&call("echo", json!({"message": "again"})));
    assert_eq!(server.receive()["result"]["content"][0]["text"], "again", "an id that was answered is taken");
}

#[test]
fn a_request_that_was_cancelled_is_answered_no_more_and_what_is_done_cannot_be_cancelled() {
    let home = home_with(&["wait_an_hour"]);
    let mut server = with_a_call_that_runs(&home);
    for id in [1, 1, 2] {
        server.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}));
    }
    let listed = server.request(&json!(3), "tools/list", &json!({}));
    assert!(listed["result"].is_object(), "{listed}");
    assert_eq!(server.leave(), Vec::<Value>::new());
    assert_eq!(ends(&home), ["cancelled", "ok"]);
}

/// A client of a server that `wait-an-hour` runs in, with both pipes in its hands.
struct Pipes {
    server: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Pipes {
    fn start(home: &Home) -> Self {
        let mut server = home.command().arg("serve").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (server.stdin.take().unwrap(), server.stdout.take().unwrap());
        let mut pipes = Self { server, input, output: BufReader::new(output) };
        pipes.ask(
            "init",
            "initialize",
            &json!({
                "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
            }),
        );
        pipes.output.read_line(&mut String::new()).unwrap();
        writeln!(pipes.input, "{}", json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).unwrap();
        pipes.ask("waits", "tools/call", &json!({"name": "wait-an-hour__run", "arguments": {}}));
        pipes.ask("echo", "tools/call", &json!({"name": "echo", "arguments": {"message": "x"}}));
        pipes.output.read_line(&mut String::new()).unwrap();
        pipes
    }

    fn ask(&mut self, id: &str, method: &str, params: &Value) {
        let line = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        writeln!(self.input, "{line}").unwrap();
    }
}

/// That `server` ends within a time that nobody minds, and the call that ran in it with it.
#[track_caller]
fn both_end(home: &Home, mut server: Child, how: &str) {
    let begun = Instant::now();
    while server.try_wait().unwrap().is_none() {
        if begun.elapsed() > Duration::from_secs(30) {
            server.kill().unwrap();
            panic!("{how}: the server goes on");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(ends(home).contains(&"cancelled".to_owned()), "{how}: {:?}", ends(home));
    home.run("audit --verify").ok();
}

#[test]
fn a_client_that_is_killed_takes_its_calls_with_it() {
    let home = home_with(&["wait_an_hour"]);
    let Pipes { server, input, output } = Pipes::start(&home);
    drop((input, output)); // what the system does with the pipes of a process that is killed
    both_end(&home, server, "killed");
}

#[test]
fn a_client_that_takes_no_more_answers_is_gone() {
    let home = home_with(&["wait_an_hour"]);
    let mut pipes = Pipes::start(&home);
    pipes.ask("late", "tools/list", &json!({}));
    // The answer is on its way: only its first byte is read.
    pipes.output.read_exact(&mut [0]).unwrap();
    let Pipes { server, mut input, output } = pipes;
    drop(output);
    writeln!(input, "{}", ping("7")).unwrap();
    both_end(&home, server, "half closed");
    drop(input); // open until here
}

#[test]
fn a_client_that_stops_reading_and_leaves_holds_up_nothing() {
    let home = home_with(&["wait_an_hour"]);
    let mut pipes = Pipes::start(&home);
    // More than the pipe takes, and fewer than the server lets wait: what is sent is read.
    let message = "x".repeat(64 << 10);
    for id in 0..4 {
        pipes.ask(&format!("{id}"), "tools/call", &json!({"name": "echo", "arguments": {"message": message}}));
    }
    let Pipes { server, input, output } = pipes;
    drop(input);
    both_end(&home, server, "not reading");
    drop(output); // never read
}
