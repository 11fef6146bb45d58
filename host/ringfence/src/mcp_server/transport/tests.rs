use std::time::Duration;

use futures::FutureExt as _;
use rmcp::model::ErrorData;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};

use super::input::MAX_LINE;
use super::message::MAX_MESSAGE;
use super::output::MAX_UNWRITTEN;
use super::requests::{MAX_RUNNING, MAX_RUNNING_BYTES, MAX_WAITING};
use super::*;

/// The code of the answer to `line` and its id; `None` where it is taken or passed over.
fn refused(line: &str) -> Option<(i32, Value, String)> {
    let Refusal { id, error, .. } = read(line.as_bytes()).err()?;
    Some((error.code.0, serde_json::to_value(id).unwrap(), error.message.into_owned()))
}

fn request(id: u64, method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

#[test]
fn what_is_no_message_is_refused_with_the_id_that_it_has() {
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    for line in [ping.to_owned(), format!("\u{feff}{ping}\r")] {
        assert!(read(line.as_bytes()).is_ok_and(|message| message.is_some()), "{line}");
    }
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for (line, code, id) in [
        ("{", -32700, Value::Null),
        ("nonsense", -32700, Value::Null),
        (format!("{ping}{ping}").as_str(), -32700, Value::Null),
        ("5", -32600, Value::Null),
        (format!("[{ping}]").as_str(), -32600, Value::Null),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600, Value::Null),
        (r#"{"id":"a","method":"ping"}"#, -32600, json!("a")),
        (r#"{"jsonrpc":"2.0","id":3}"#, -32600, json!(3)),
        (
            format!(r#"{{"method":"tools/call","params":{{"a":{deep}}},"jsonrpc":"2.0","id":4}}"#).as_str(),
            -32600,
            json!(4),
        ),
    ] {
        let (found, of, why) = refused(line).unwrap_or_else(|| panic!("taken: {line}"));
        assert_eq!((found, of), (code, id), "{why}");
    }
    for line in [
        "",
        "\r",
        r#"{"jsonrpc":"1.0","method":"x"}"#,
        r#"{"jsonrpc":"2.0","id":1.5,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":null}"#,
    ] {
        assert!(matches!(read(line.as_bytes()), Ok(None)), "{line}");
    }
}

#[test]
fn wrong_parameters_are_said_to_be_that() {
    for (method, params, cause) in [
        ("tools/call", json!({}), "missing field `name`"),
        ("tools/call", json!({"name": 5}), "invalid type: integer `5`, expected a string"),
        ("tools/call", json!({"name": "echo", "arguments": []}), "invalid type: sequence, expected a map"),
        ("initialize", json!({}), "missing field `protocolVersion`"),
        ("subscriptions/listen", json!({"notifications": 1}), "invalid type"),
    ] {
        let (code, id, why) =
            refused(&request(7, method, &params)).unwrap_or_else(|| panic!("taken: {method} {params}"));
        assert_eq!((code, id), (-32602, json!(7)), "{method} {params}: {why}");
        assert!(why.contains(method) && why.contains(cause), "{why}");
    }
    let (code, ..) = refused(r#"{"jsonrpc":"2.0","id":7,"method":"tools/call"}"#).unwrap();
    assert_eq!(code, -32602);
    assert!(refused(&request(7, "x/unknown", &json!({}))).is_none(), "the server knows whether there is such a method");
}

/// rmcp would take most for requests of an unknown method, and those of `tools/list` for right.
#[test]
fn wrong_parameters_are_found_in_the_line_as_it_was_written() {
    for (method, params, cause) in [
        ("tools/call", r#"{"name":"echo","name":"time"}"#, "duplicate field `name`"),
        ("tools/call", r#"{"name":"echo","_meta":{},"_meta":{}}"#, "duplicate field `_meta`"),
        ("tools/call", r#"["echo"]"#, "have to be an object"),
        ("initialize", r#"{"protocolVersion":"1","protocolVersion":"1"}"#, "duplicate field `protocolVersion`"),
        ("subscriptions/listen", r#"{"notifications":{},"notifications":{}}"#, "duplicate field `notifications`"),
        ("server/discover", r#"{"_meta":{},"_meta":{}}"#, "duplicate field `_meta`"),
        ("server/discover", "null", "missing field `_meta`"),
        ("ping", r#"{"_meta":{},"_meta":{}}"#, "duplicate field `_meta`"),
        ("ping", r#"{"_meta":1}"#, "invalid type: integer `1`, expected a map"),
        ("tools/list", r#"{"cursor":"a","cursor":"b"}"#, "duplicate field `cursor`"),
        ("tools/list", r#"{"cursor":5}"#, "invalid type: integer `5`, expected a string"),
        ("tools/list", "[]", "have to be an object"),
        ("x/unknown", "[]", "have to be an object"),
    ] {
        let line = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"{method}","params":{params}}}"#);
        let (code, id, why) = refused(&line).unwrap_or_else(|| panic!("taken: {line}"));
        assert_eq!((code, id), (-32602, json!(7)), "{line}: {why}");
        assert!(why.contains(&format!("`{method}`")) && why.contains(cause), "{line}: {why}");
    }
    for (method, params) in [
        ("tools/call", r#"{"name":"echo","x":1,"x":2}"#),
        ("tools/list", r#"{"_meta":{"a":1},"x":1,"x":2}"#),
        ("tools/list", "{}"),
        ("tools/list", "null"),
        ("ping", r#"{"_meta":{"a":1}}"#),
        ("ping", "null"),
    ] {
        let line = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"{method}","params":{params}}}"#);
        assert_eq!(refused(&line), None, "{line}");
    }
}

#[test]
fn an_id_that_mcp_does_not_allow_is_given_back_as_it_was_written() {
    for id in ["1.50", "123456789012345678901234567890", "-1e400"] {
        let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        let Err(refusal) = read(line.as_bytes()) else { panic!("taken: {line}") };
        let answer = serde_json::to_string(&refusal).unwrap();
        assert!(answer.starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{id},"error":"#)), "{answer}");
    }
}

#[test]
fn a_message_has_not_more_values_than_can_be_held() {
    let call =
        |arguments: Value| request(7, "tools/call", &json!({"name": "echo", "arguments": {"message": arguments}}));
    for (code, arguments) in [
        (Some(-32600), json!(vec![0; 250_001])),
        (Some(-32600), json!(vec![json!([]); 130_000])),
        (None, json!(vec![0; 249_000])),
        (None, json!(",[{\\\"".repeat(300_000))),
    ] {
        let refusal = refused(&call(arguments));
        assert_eq!(refusal.as_ref().map(|(code, ..)| *code), code, "{refusal:?}");
        assert!(refusal.is_none_or(|(_, id, why)| id == 7 && why.contains("250000 values")));
    }
}

#[tokio::test]
async fn a_last_line_without_its_break_is_a_line() {
    let (mut lines, mut client, mut answers) = connected();
    client.write_all(request(1, "ping", &json!({})).as_bytes()).await.unwrap();
    drop(client);
    assert_eq!(id(&lines.receive().await.unwrap()), Some(json!(1)));
    let (mut broken, mut client, mut said) = connected();
    client.write_all(b"{\"jsonrpc\"").await.unwrap();
    drop(client);
    assert!(broken.receive().await.is_none() && lines.receive().await.is_none());
    drop((lines, broken));
    let mut text = String::new();
    answers.read_to_string(&mut text).await.unwrap();
    said.read_to_string(&mut text).await.unwrap();
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap()["error"]["code"], -32700, "{text}");
}

#[test]
fn an_id_that_is_kept_is_short() {
    let ping = |length: usize| json!({"jsonrpc": "2.0", "id": "x".repeat(length), "method": "ping"}).to_string();
    assert!(refused(&ping(1024)).is_none());
    let (code, _, why) = refused(&ping(1025)).unwrap();
    assert_eq!(code, -32600, "{why}");
}

/// A transport, the end from which a client writes, and the one from which it reads.
fn connected() -> (Lines<DuplexStream>, DuplexStream, DuplexStream) {
    let (client_out, read) = tokio::io::duplex(2 * MAX_LINE);
    let (write, client_in) = tokio::io::duplex(64);
    let (mut lines, _) = Lines::new(read, write, CancellationToken::new());
    lines.begun = true;
    (lines, client_out, client_in)
}

#[test]
fn a_message_that_is_too_long_is_refused_by_its_id() {
    let long = request(7, "tools/call", &json!({"name": "echo", "arguments": {"message": "x".repeat(MAX_MESSAGE)}}));
    let (code, id, why) = refused(&long).unwrap();
    assert_eq!((code, id), (-32600, json!(7)), "{why}");
}

#[tokio::test]
async fn a_line_that_is_too_long_is_refused_and_the_next_one_taken() {
    let (mut lines, mut client, mut answers) = connected();
    client.write_all(&vec![b'x'; MAX_LINE + 1]).await.unwrap();
    client.write_all(format!("\n{}\n", request(1, "ping", &json!({}))).as_bytes()).await.unwrap();
    assert!(lines.receive().await.is_some());
    drop(lines);
    let mut answer = String::new();
    answers.read_to_string(&mut answer).await.unwrap();
    assert_eq!(serde_json::from_str::<Value>(&answer).unwrap()["error"]["code"], -32600, "{answer}");
}

#[tokio::test]
async fn further_requests_wait_until_one_that_runs_has_ended() {
    let (mut lines, mut client, _answers) = connected();
    for id in 0..=MAX_RUNNING as u64 {
        client.write_all(format!("{}\n", request(id, "tools/list", &json!({}))).as_bytes()).await.unwrap();
    }
    let mut running = Vec::new();
    for _ in 0..MAX_RUNNING {
        running.push(lines.receive().await.unwrap());
    }
    assert!(lines.receive().now_or_never().is_none(), "there is no place for it");
    drop(running.pop());
    assert!(lines.receive().await.is_some(), "and it was not lost");
}

#[tokio::test]
async fn nothing_is_read_from_a_client_that_does_not_read() {
    let (mut lines, mut client, mut answers) = connected();
    for _ in 0..100 {
        client.write_all(b"nonsense\n").await.unwrap();
    }
    client.write_all(format!("{}\n", request(1, "ping", &json!({}))).as_bytes()).await.unwrap();
    // Each turn lets what can be written be written.
    for _ in 0..1000 {
        assert!(lines.receive().now_or_never().is_none(), "the refusals before it have not been read");
        tokio::task::yield_now().await;
    }
    let reading = tokio::spawn(async move { answers.read_to_end(&mut Vec::new()).await });
    assert!(lines.receive().await.is_some());
    drop(lines);
    reading.await.unwrap().unwrap();
}

/// The id of a request; `None` for anything else.
fn id(message: &ClientJsonRpcMessage) -> Option<Value> {
    match message {
        JsonRpcMessage::Request(request) => serde_json::to_value(&request.id).ok(),
        _ => None,
    }
}

async fn send(client: &mut DuplexStream, line: &str) {
    client.write_all(format!("{line}\n").as_bytes()).await.unwrap();
}

fn cancel(id: u64) -> String {
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}).to_string()
}

#[tokio::test]
async fn further_requests_wait_for_bytes_as_well() {
    let (mut lines, mut client, _answers) = connected();
    let half = json!({"text": "x".repeat(MAX_RUNNING_BYTES / 2 - 100)});
    for id in 0..3 {
        send(&mut client, &request(id, "x/unknown", &half)).await;
    }
    let (first, _second) = (lines.receive().await.unwrap(), lines.receive().await.unwrap());
    assert!(lines.receive().now_or_never().is_none(), "two of them fill it");
    drop(first);
    assert_eq!(id(&lines.receive().await.unwrap()), Some(json!(2)));
}

/// Requests that run, numbered from 0, so many that a further one waits.
async fn run_as_many_as_can(lines: &mut Lines<DuplexStream>, client: &mut DuplexStream) -> Vec<ClientJsonRpcMessage> {
    let mut running = Vec::new();
    for id in 0..MAX_RUNNING as u64 {
        send(client, &request(id, "tools/list", &json!({}))).await;
        running.push(lines.receive().await.unwrap());
    }
    running
}

#[tokio::test]
async fn a_cancellation_passes_those_that_wait() {
    let (mut lines, mut client, _answers) = connected();
    let last = MAX_RUNNING as u64;
    let mut running = run_as_many_as_can(&mut lines, &mut client).await;
    for line in [request(last, "tools/list", &json!({})), request(last + 1, "tools/list", &json!({})), cancel(3)] {
        send(&mut client, &line).await;
    }
    let passed = lines.receive().await.unwrap();
    assert!(matches!(passed, JsonRpcMessage::Notification(_)), "of one that runs: {passed:?}");
    send(&mut client, &cancel(last)).await;
    assert!(lines.receive().now_or_never().is_none(), "of one that waits: nobody else has to know");
    running.clear();
    assert_eq!(id(&lines.receive().await.unwrap()), Some(json!(last + 1)), "it never runs");
}

#[tokio::test]
async fn a_ping_passes_those_that_run_and_wait() {
    let (mut lines, mut client, _answers) = connected();
    let last = MAX_RUNNING as u64;
    let mut running = run_as_many_as_can(&mut lines, &mut client).await;
    send(&mut client, &request(last, "tools/list", &json!({}))).await;
    for ping in last + 1..2 * last {
        send(&mut client, &request(ping, "ping", &json!({}))).await;
        let passed = tokio::time::timeout(Duration::from_secs(10), lines.receive()).await.expect("it waits for nobody");
        assert_eq!(id(&passed.unwrap()), Some(json!(ping)));
    }
    running.clear();
    assert_eq!(id(&lines.receive().await.unwrap()), Some(json!(last)), "it still waits");
}

#[tokio::test]
async fn those_that_wait_are_bounded_and_the_end_comes_behind_them() {
    let (mut lines, mut client, _answers) = connected();
    let all = (MAX_RUNNING + MAX_WAITING) as u64;
    for id in 0..=all {
        send(&mut client, &request(id, "tools/list", &json!({}))).await;
    }
    send(&mut client, &cancel(0)).await;
    drop(client);
    let mut running = Vec::new();
    for _ in 0..MAX_RUNNING {
        running.push(lines.receive().await.unwrap());
    }
    assert!(lines.receive().now_or_never().is_none(), "what is behind them is not read");
    running.clear();
    let mut said = Vec::new();
    while let Some(message) = lines.receive().await {
        said.push(id(&message));
    }
    assert_eq!(said.iter().flatten().count() as u64, all + 1 - MAX_RUNNING as u64);
    assert_eq!(said.iter().filter(|id| id.is_none()).count(), 1, "the cancellation is not lost");
}

#[tokio::test]
async fn answers_go_out_in_their_order_to_a_client_that_reads_late() {
    let (mut lines, _client, mut answers) = connected();
    let all = 4 * MAX_UNWRITTEN;
    let answer = |i| ServerJsonRpcMessage::error(ErrorData::internal_error(format!("{i}"), None), None);
    let mut sending = Vec::new();
    for i in 0..all {
        sending.push(Box::pin(lines.send(answer(i))));
    }
    // Those that wait are looked at in the opposite order.
    sending.reverse();
    let written = tokio::spawn(futures::future::join_all(sending));
    tokio::task::yield_now().await;
    drop(lines);
    let mut text = String::new();
    answers.read_to_string(&mut text).await.unwrap();
    written.await.unwrap().into_iter().for_each(|sent| sent.unwrap());
    let said: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let order: Vec<_> = said.iter().map(|answer| answer["error"]["message"].as_str().unwrap().to_owned()).collect();
    assert_eq!(order, (0..all).map(|i| i.to_string()).collect::<Vec<_>>());
}

/// An answer to the request `id`.
fn answer(id: u64) -> ServerJsonRpcMessage {
    ServerJsonRpcMessage::error(ErrorData::internal_error("x", None), serde_json::from_value(json!(id)).ok())
}

#[tokio::test]
async fn an_id_is_taken_again_when_it_is_answered_and_not_when_it_is_cancelled() {
    let (mut lines, mut client, answers) = connected();
    let mut answers = tokio::io::BufReader::new(answers);
    let mut refusal = async || {
        let mut line = String::new();
        tokio::io::AsyncBufReadExt::read_line(&mut answers, &mut line).await.unwrap();
        serde_json::from_str::<Value>(&line).unwrap()["error"]["code"].clone()
    };
    let ping = request(1, "ping", &json!({}));
    send(&mut client, &ping).await;
    let _runs = lines.receive().await.unwrap();
    send(&mut client, &ping).await;
    assert!(lines.receive().now_or_never().is_none(), "the first one is not answered");
    assert_eq!(refusal().await, -32600);
    lines.send(answer(1)).await.unwrap();
    assert_eq!(refusal().await, -32603, "this is the answer");
    send(&mut client, &ping).await;
    assert_eq!(id(&lines.receive().await.unwrap()), Some(json!(1)));
    send(&mut client, &cancel(1)).await;
    assert_eq!(id(&lines.receive().await.unwrap()), None);
    send(&mut client, &ping).await;
    assert!(lines.receive().now_or_never().is_none(), "what the cancelled one still says would be its answer");
    assert_eq!(refusal().await, -32600);
}

#[tokio::test]
async fn who_takes_no_more_answers_is_gone_though_it_says_nothing() {
    let (mut lines, _client, answers) = connected();
    drop(answers);
    lines.send(answer(1)).await.ok();
    assert!(lines.receive().await.is_none());
}
