//! Names that lead to a fixed address: they lead there, and open nothing else.

use std::collections::BTreeMap;
use std::sync::Arc;

use ringfence_egress::{Egress, EgressError, ResolveError, Settings};

use super::support::door::{access, body, get};
use super::support::names::Names;
use super::support::server::Server;

fn door(names: &Arc<Names>, hosts: &[(&str, String)]) -> Egress {
    let hosts: BTreeMap<_, _> = hosts.iter().map(|(name, address)| ((*name).to_owned(), address.clone())).collect();
    let hosts = hosts.try_into().unwrap();
    Egress::new(Settings { resolver: Arc::<Names>::clone(names), hosts, ..Settings::default() }).unwrap()
}

#[tokio::test]
async fn a_fixed_name_leads_to_its_address_and_no_resolver_is_asked() {
    let server = Server::on("127.0.0.1").await;
    let names = Names::new(&[("b.test", &["127.0.0.1"])]);
    let door = door(&names, &[("a.test", format!("127.0.0.1:{}", server.port)), ("c.test", "127.0.0.1".into())]);
    let rules = ["http://a.test/**", &format!("http://a.test:{}/**", server.port)];
    let access = access(&[rules[0], rules[1], &format!("http://c.test:{}/**", server.port)], &["127.0.0.1/32"]);
    assert_eq!(body(&door, get("http://a.test/x"), &access).await.unwrap(), "ok");
    assert_eq!(server.seen()[0].header("host"), Some("a.test"));
    // Without a port of its own the address takes the URL's.
    assert_eq!(body(&door, get(&format!("http://c.test:{}/x", server.port)), &access).await.unwrap(), "ok");
    assert!(names.asked().is_empty(), "{:?}", names.asked());
}

#[tokio::test]
async fn a_port_that_the_url_names_remains() {
    let server = Server::on("127.0.0.1").await;
    let door = door(&Names::new(&[]), &[("a.test", "127.0.0.1:1".into())]);
    let url = format!("http://a.test:{}/x", server.port);
    assert_eq!(body(&door, get(&url), &access(&[&url], &["127.0.0.1/32"])).await.unwrap(), "ok");
}

#[tokio::test]
async fn a_fixed_name_grants_nothing() {
    let server = Server::on("127.0.0.1").await;
    let address = format!("127.0.0.1:{}", server.port);
    let names = Names::new(&[("b.test", &["127.0.0.1"])]);
    let door = door(&names, &[("a.test", address.clone())]);
    // Its address is private, and nobody granted that.
    let refused = body(&door, get("http://a.test/"), &access(&["http://a.test/**"], &[])).await.unwrap_err();
    assert!(matches!(refused, EgressError::Resolve(ResolveError::Refused { .. })), "{refused}");
    // The name has no rule; neither has its address.
    let other = access(&["http://b.test/**"], &["127.0.0.1/32"]);
    for url in ["http://a.test/".to_owned(), format!("http://{address}/")] {
        let denied = body(&door, get(&url), &other).await.unwrap_err();
        assert!(matches!(denied, EgressError::Denied(_)), "{denied}");
    }
    // Another name is none of its business, whatever it ends with.
    let all = access(&["http://*.a.test/**"], &["127.0.0.1/32"]);
    let unknown = body(&door, get("http://sub.a.test/"), &all).await.unwrap_err();
    assert!(matches!(unknown, EgressError::Resolve(ResolveError::Lookup { .. })), "{unknown}");
    assert_eq!(names.asked(), ["sub.a.test"]);
    assert!(server.seen().is_empty());
}
