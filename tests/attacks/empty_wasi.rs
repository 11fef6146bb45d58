//! WASI is there, as most guests import it, and there is nothing in it: no files, no arguments, no input, no network.

use std::net::{TcpListener, UdpSocket};

use ringfence::{CallError, Content, ToolOutput};
use serde_json::{Value, json};

use crate::support::host::{TestHost, with_guests};

async fn asked(host: &TestHost, params: Value) -> Result<ToolOutput, CallError> {
    host.run("all_of_wasi", params).await
}

async fn given(host: &TestHost, params: Value) -> Value {
    let output = asked(host, params).await.unwrap();
    let [Content::Json { value }] = output.content.as_slice() else { panic!("{output:?}") };
    value.clone()
}

#[tokio::test]
async fn there_are_no_files_arguments_values_and_input() {
    let host = with_guests(&["all_of_wasi"], "").await;
    for what in ["directories", "arguments", "environment"] {
        assert_eq!(given(&host, json!({"what": what})).await, json!([]), "{what}");
    }
    for what in ["cwd", "input"] {
        assert_eq!(given(&host, json!({"what": what})).await, Value::Null, "{what}");
    }
}

#[tokio::test]
async fn there_is_no_network() {
    let (listener, socket) = (TcpListener::bind("127.0.0.1:0").unwrap(), UdpSocket::bind("127.0.0.1:0").unwrap());
    listener.set_nonblocking(true).unwrap();
    socket.set_nonblocking(true).unwrap();
    let host = with_guests(&["all_of_wasi"], "").await;
    let (denied, unknown) = ("access-denied", "permanent-resolver-failure");
    for (params, error) in [
        (json!({"what": "connection", "port": listener.local_addr().unwrap().port()}), denied),
        (json!({"what": "port"}), denied),
        (json!({"what": "datagram", "port": socket.local_addr().unwrap().port()}), denied),
        (json!({"what": "addresses", "name": "localhost"}), unknown),
        (json!({"what": "addresses", "name": "127.0.0.1"}), unknown),
    ] {
        assert_eq!(given(&host, params.clone()).await, json!(error), "{params}");
    }
    assert!(listener.accept().is_err() && socket.recv(&mut [0; 10]).is_err(), "nobody came");
}

#[tokio::test]
async fn what_is_printed_ends_at_the_limit_of_the_log() {
    let host = with_guests(&["all_of_wasi"], "").await;
    for what in ["output", "errors"] {
        assert_eq!(asked(&host, json!({"what": what})).await.unwrap_err().code(), "limit.log", "{what}");
    }
}
