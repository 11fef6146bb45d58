//! A host that is killed forgets nothing that a caller would like it to forget.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::binary::Home;

/// The rates are saved every second; each of these hosts is killed as soon as it has answered.
#[test]
fn killing_the_host_refills_no_rate() {
    let home = Home::new();
    home.file("home/config.toml", "[rate]\nper_minute = 1\n");
    let first = answer_of_a_killed_host(&home);
    assert_eq!(first["result"]["content"][0]["text"], "hello", "{first}");
    for _ in 0..3 {
        let next = answer_of_a_killed_host(&home);
        assert!(next.to_string().contains("too many calls of `echo`"), "{next}");
    }
}

fn answer_of_a_killed_host(home: &Home) -> Value {
    let mut serving = home.command();
    let mut host = serving.arg("serve").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    });
    let params = json!({"_meta": meta, "name": "echo", "arguments": {"message": "hello"}});
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    writeln!(host.stdin.as_ref().unwrap(), "{request}").unwrap();
    let mut answer = String::new();
    BufReader::new(host.stdout.take().unwrap()).read_line(&mut answer).unwrap();
    host.kill().unwrap();
    host.wait().unwrap();
    serde_json::from_str(&answer).unwrap()
}
