//! Each limit, of the call and of the rule: it ends the request, and the connection with it.

use std::num::NonZeroU64;

use ringfence_core::grant::HttpRule;
use ringfence_core::limit::LimitExceeded;
use ringfence_core::{LimitKind, LimitSet, Limits};
use ringfence_egress::{Access, Budget, EgressError, Request};

use super::support::door::{access, access_with, door, get, rule};
use super::support::names::Names;
use super::support::server::Server;

fn limits(kind: LimitKind, value: u64) -> Limits {
    Limits::effective(&LimitSet::default(), &LimitSet::default().with(kind, value))
}

async fn exceeded(request: Request, access: &Access, limits: Limits) -> LimitExceeded {
    let sent = door(&Names::new(&[])).send(request, access, &Budget::new(limits)).await;
    let result = match sent {
        Ok(response) => response.body.collect().await,
        Err(error) => Err(error),
    };
    match result {
        Err(EgressError::Limit(exceeded)) => exceeded,
        other => panic!("no limit: {other:?}"),
    }
}

#[tokio::test]
async fn every_limit_of_the_call_and_of_the_rule_ends_the_request() {
    let server = Server::on("127.0.0.1").await;
    let base = format!("http://127.0.0.1:{}", server.port);
    let general = rule(&format!("{base}/**"));
    let number = NonZeroU64::new;
    for (path, kind, value, narrow) in [
        ("/loop", LimitKind::HttpRequests, 2, HttpRule { requests: number(2), ..general.clone() }),
        ("/ok", LimitKind::HttpRequestBytes, 5, HttpRule { request_bytes: number(5), ..general.clone() }),
        ("/bytes/500", LimitKind::HttpResponseBytes, 400, HttpRule { response_bytes: number(400), ..general.clone() }),
        ("/hang", LimitKind::HttpTime, 30, HttpRule { time_ms: number(30), ..general.clone() }),
        ("/drip", LimitKind::HttpTime, 30, HttpRule { time_ms: number(30), ..general.clone() }),
    ] {
        let url = format!("{base}{path}");
        let wide = access(&[&format!("{base}/**")], &["127.0.0.1/32"]);
        let by_call = exceeded(get(&url), &wide, limits(kind, value)).await;
        let narrow = access_with(vec![narrow], &["127.0.0.1/32"], Vec::new());
        let by_rule = exceeded(get(&url), &narrow, Limits::default()).await;
        for exceeded in [by_call, by_rule] {
            assert_eq!((exceeded.limit.as_str(), exceeded.allowed), (kind.code(), value), "{path}");
        }
        server.until_open(0).await;
    }
    assert_eq!(server.seen().iter().filter(|seen| seen.path == "/loop").count(), 4, "two for each");
    assert!(server.seen().iter().all(|seen| seen.path != "/ok"), "too large to be sent");
}

#[tokio::test]
async fn what_is_within_the_limits_arrives_whole() {
    let server = Server::on("127.0.0.1").await;
    let base = format!("http://127.0.0.1:{}", server.port);
    let access = access(&[&format!("{base}/**")], &["127.0.0.1/32"]);
    let budget = Budget::new(limits(LimitKind::HttpResponseBytes, 100_100));
    let response = door(&Names::new(&[])).send(get(&format!("{base}/bytes/100000")), &access, &budget).await.unwrap();
    assert_eq!(response.body.collect().await.unwrap().len(), 100_000);
    assert_eq!(budget.requests(), 1);
}
