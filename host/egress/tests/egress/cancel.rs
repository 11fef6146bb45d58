//! Whoever stops waiting leaves nothing open at the server.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;

use async_trait::async_trait;
use ringfence_egress::{Egress, LookupPlace, Resolver, Settings};
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpListener;
use tokio::sync::watch;

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

/// Knows no answer, and how many wait for one.
#[derive(Default)]
struct Undecided(watch::Sender<usize>);

#[async_trait]
impl Resolver for Undecided {
    async fn resolve(&self, _name: &str, _place: LookupPlace) -> io::Result<Vec<IpAddr>> {
        let _waiting = Waiting::new(&self.0);
        std::future::pending().await
    }
}

struct Waiting<'a>(&'a watch::Sender<usize>);

impl<'a> Waiting<'a> {
    fn new(count: &'a watch::Sender<usize>) -> Self {
        count.send_modify(|waiting| *waiting += 1);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|waiting| *waiting -= 1);
    }
}

#[tokio::test]
async fn a_request_that_waits_for_a_name_ends_its_question() {
    let resolver = Arc::new(Undecided::default());
    let mut waiting = resolver.0.subscribe();
    let door = Egress::new(Settings { resolver, ..Settings::default() }).unwrap();
    let access = access(&["http://a.test/**"], &[]);
    let asked = tokio::spawn(async move { send(&door, get("http://a.test/"), &access).await.map(drop) });
    waiting.wait_for(|waiting| *waiting == 1).await.unwrap();
    asked.abort();
    assert!(asked.await.unwrap_err().is_cancelled());
    waiting.wait_for(|waiting| *waiting == 0).await.unwrap();
}

#[tokio::test]
async fn a_request_that_waits_for_a_handshake_closes_its_connection() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}/", silent.local_addr().unwrap());
    let access = access(&[&format!("{url}**")], &["127.0.0.1/32"]);
    let door = door(&Names::new(&[]));
    let asked = tokio::spawn(async move { send(&door, get(&url), &access).await.map(drop) });
    let (mut stream, _) = silent.accept().await.unwrap();
    assert_eq!(stream.read_u8().await.unwrap(), 0x16, "a handshake begins");
    asked.abort();
    assert!(asked.await.unwrap_err().is_cancelled());
    // Its end is seen here only when it is closed there.
    stream.read_to_end(&mut Vec::new()).await.unwrap();
}
