//! Only checked addresses are dialled, whatever a name says the next time.

use ringfence_egress::{EgressError, ResolveError};

use super::support::door::{access, body, door, get, send};
use super::support::names::Names;
use super::support::server::Server;

fn is_refused<T>(result: Result<T, EgressError>) -> bool {
    matches!(result, Err(EgressError::Resolve(ResolveError::Refused { .. })))
}

#[tokio::test]
async fn a_name_that_leads_elsewhere_the_second_time_is_refused_then() {
    let (good, bad) = (Server::on("127.0.0.1").await, Server::on("127.0.0.1").await);
    let names = Names::new(&[("a.test", &["127.0.0.1", "127.0.0.2"])]);
    let rule = format!("http://a.test:{}/**", good.port);
    let (door, access) = (door(&names), access(&[&rule], &["127.0.0.1/32"]));
    let url = format!("http://a.test:{}/last", good.port);
    assert_eq!(body(&door, get(&url), &access).await.unwrap(), "ok");
    good.until_open(0).await;
    assert!(is_refused(send(&door, get(&url), &access).await));
    assert_eq!((good.seen().len(), bad.seen().len(), names.asked().len()), (1, 0, 2));
}

#[tokio::test]
async fn what_was_checked_is_what_is_dialled() {
    // The second answer would lead nowhere: one look-up serves check and connection.
    let server = Server::on("127.0.0.1").await;
    let names = Names::new(&[("a.test", &["127.0.0.1", "127.0.0.9"])]);
    let rule = format!("http://a.test:{}/**", server.port);
    let url = format!("http://a.test:{}/", server.port);
    assert_eq!(body(&door(&names), get(&url), &access(&[&rule], &["127.0.0.0/8"])).await.unwrap(), "ok");
    assert_eq!(names.asked(), ["a.test"]);
}

#[tokio::test]
async fn one_refused_address_refuses_the_name() {
    let server = Server::on("127.0.0.1").await;
    for answer in ["127.0.0.1,10.0.0.1", "10.0.0.1,127.0.0.1", "127.0.0.1,::ffff:10.0.0.1", "127.0.0.1,64:ff9b::a00:1"]
    {
        let names = Names::new(&[("a.test", &[answer])]);
        let rule = format!("http://a.test:{}/**", server.port);
        let url = format!("http://a.test:{}/", server.port);
        assert!(is_refused(send(&door(&names), get(&url), &access(&[&rule], &["127.0.0.1/32"])).await), "{answer}");
    }
    server.until_open(0).await;
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn a_kept_connection_is_not_for_those_without_the_grant() {
    let server = Server::on("127.0.0.1").await;
    let names = Names::new(&[("a.test", &["127.0.0.1"])]);
    let (rule, door) = (format!("http://a.test:{}/**", server.port), door(&names));
    let url = format!("http://a.test:{}/", server.port);
    let granted = access(&[&rule], &["127.0.0.1/32"]);
    assert_eq!(body(&door, get(&url), &granted).await.unwrap(), "ok");
    assert_eq!(body(&door, get(&url), &granted).await.unwrap(), "ok");
    assert_eq!(names.asked().len(), 1, "the connection was kept");
    server.until_open(1).await;
    assert!(is_refused(send(&door, get(&url), &access(&[&rule], &[])).await));
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test]
async fn the_systems_names_are_checked_like_all_others() {
    let server = Server::on("127.0.0.1").await;
    let door = ringfence_egress::Egress::new(ringfence_egress::Settings::default()).unwrap();
    let (rule, url) = (format!("http://localhost:{}/**", server.port), format!("http://localhost.:{}/", server.port));
    assert!(is_refused(send(&door, get(&url), &access(&[&rule], &[])).await));
    let granted = access(&[&rule], &["127.0.0.0/8", "::1/128"]);
    assert_eq!(body(&door, get(&url), &granted).await.unwrap(), "ok");
    assert_eq!(server.seen().len(), 1);
}
