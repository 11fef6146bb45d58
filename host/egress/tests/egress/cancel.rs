//! Whoever stops waiting leaves nothing open at the server.

use std::sync::Arc;

use super::support::door::{access, door, get, send};
use super::support::names::Names;
use super::support::server::Server;

#[tokio::test]
async fn a_dropped_request_closes_its_connection() {
    let (server, names) = (Server::on("127.0.0.1").await, Names::new(&[]));
    let rule = format!("http://127.0.0.1:{}/**", server.port);
    let (door, access) = (Arc::new(door(&names)), access(&[&rule], &["127.0.0.1/32"]));
    let url = format!("http://127.0.0.1:{}/hang", server.port);
    let sender = Arc::clone(&door);
    let waiting = tokio::spawn(async move { send(&sender, get(&url), &access).await.map(drop) });
    server.until_open(1).await;
    waiting.abort();
    assert!(waiting.await.unwrap_err().is_cancelled());
    server.until_open(0).await;
}

#[tokio::test]
async fn a_dropped_response_closes_its_connection() {
    let (server, names) = (Server::on("127.0.0.1").await, Names::new(&[]));
    let rule = format!("http://127.0.0.1:{}/**", server.port);
    let (door, access) = (door(&names), access(&[&rule], &["127.0.0.1/32"]));
    let url = format!("http://127.0.0.1:{}/drip", server.port);
    let mut response = send(&door, get(&url), &access).await.unwrap();
    assert_eq!(response.body.chunk().await.unwrap().unwrap(), "first");
    server.until_open(1).await;
    drop(response);
    server.until_open(0).await;
}
