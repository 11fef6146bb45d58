//! What the door to the network costs: a request, the search for secrets in a response, a decision.

use std::convert::Infallible;
use std::io::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures::{StreamExt as _, stream};
use http::header::CONTENT_ENCODING;
use http::{HeaderMap, HeaderValue};
use ringfence::core::Secret;
use ringfence::core::grant::{HttpRule, Methods, RuleSet};
use ringfence_egress::{Access, AddressGrants, Egress, Scanner, Settings, Target, decode};
use ringfence_source_wasm::{EngineSettings, Network, Reach};
use serde_json::json;

use super::hosts::Bare;
use super::server::Server;
use super::{ROUNDS, each, guests, median, ratio};

const CALLS: u32 = 400;
const BODY: usize = 10 << 20;
/// How many secrets an operator may have; the one in the middle where it is not compared.
const SECRETS: [u64; 3] = [1, 20, 100];
const DECISIONS: usize = 100_000;

pub async fn run() {
    requests().await;
    responses().await;
    decisions();
}

/// A guest's request to a server whose connection is warm, and the least that it could cost.
async fn requests() {
    let server = Server::new(|_| ("200 OK".into(), b"ok".to_vec()));
    let url = server.url("/");
    let client = client();
    let [ours, wasi] = [guest("fetcher", &server).await, guest("wasi_fetcher", &server).await];
    let empty = Bare::new(&guests::component("mirror"), EngineSettings::default()).await;
    let params = json!({"method": "GET", "url": url});
    let mut times: [Vec<_>; 4] = Default::default();
    for _ in 0..ROUNDS {
        let bare = || async { client.get(&url).send().await.unwrap().bytes().await.unwrap() };
        times[0].push(each(CALLS, bare).await);
        times[1].push(each(CALLS, || empty.call_with("guest__run", json!({}))).await);
        times[2].push(each(CALLS, || ours.call_with("guest__fetch", params.clone())).await);
        times[3].push(each(CALLS, || wasi.call_with("guest__fetch", params.clone())).await);
    }
    let [bare, empty, ours, wasi] = times.map(median);
    for (what, time) in [
        ("bare reqwest, warm connection", bare),
        ("empty call of a guest", empty),
        ("request of a guest by ringfence:tool/http", ours),
        ("request of a guest by wasi:http", wasi),
    ] {
        println!("  {what:<66} {time:>6.1} µs");
    }
    ratio("ringfence:tool/http / bare reqwest and an empty call", ours, bare + empty, 1.3);
    ratio("wasi:http / bare reqwest and an empty call", wasi, bare + empty, 1.3);
}

fn client() -> reqwest::Client {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let tls = tls.with_root_certificates(rustls::RootCertStore::empty()).with_no_client_auth();
    reqwest::Client::builder().no_proxy().http1_only().tls_backend_preconfigured(tls).build().unwrap()
}

async fn guest(name: &str, server: &Server) -> Bare {
    let rules = RuleSet::new(vec![rule(&server.url("/**"))]);
    let addresses = AddressGrants::new(["127.0.0.1/32".parse().unwrap()]);
    let access = Access::new(rules, addresses, Vec::new(), scanner(SECRETS[1]));
    let network = Network { door: Arc::new(Egress::new(Settings::default()).unwrap()), access: Arc::new(access) };
    let reach = Reach { network: Some(network), ..Reach::default() };
    Bare::reaching(&guests::component(name), EngineSettings::default(), reach).await
}

/// Looks for so many secrets, none of them like another.
fn scanner(secrets: u64) -> Scanner {
    let value = |i: u64| format!("{:x}+/{:x}", numbers(i).nth(1).unwrap(), numbers(i).nth(2).unwrap());
    let secrets: Vec<_> = (1..=secrets).map(|i| (format!("key-{i}"), Secret::new(value(i)))).collect();
    Scanner::new(&secrets).unwrap()
}

/// Numbers without a pattern (Knuth's generator).
fn numbers(seed: u64) -> impl Iterator<Item = u64> {
    let next =
        |number: &u64| Some(number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407));
    std::iter::successors(Some(seed), next)
}

/// 10 MiB of JSON: decoded, and decoded and searched; and as they are, for which there is nothing to compare with.
async fn responses() {
    let text = text();
    let scanners = SECRETS.map(scanner);
    for coding in ["gzip", "br", "zstd"] {
        let body = encoded(coding, &text).await;
        let mut alone = Vec::new();
        let mut searched: [Vec<_>; SECRETS.len()] = Default::default();
        for _ in 0..ROUNDS {
            alone.push(drained(decoded(coding, &body)).await);
            for (times, scanner) in searched.iter_mut().zip(&scanners) {
                times.push(drained(scanner.stream(decoded(coding, &body))).await);
            }
        }
        let alone = median(alone);
        for (times, secrets) in searched.into_iter().zip(SECRETS) {
            let what = format!("10 MiB of {coding} decoded, searched for {secrets} secrets / decoded");
            ratio(&what, median(times), alone, 1.5);
        }
    }
    for secrets in [0].into_iter().chain(SECRETS) {
        let scanner = scanner(secrets);
        let mut times = Vec::new();
        for _ in 0..ROUNDS {
            times.push(drained(scanner.stream(decoded("identity", &text))).await);
        }
        let what = format!("10 MiB searched for {secrets} secrets and for known forms");
        println!("  {what:<66} {:>6.2} ms", median(times) / 1e3);
    }
}

/// JSON as an API sends it: no line of it is like another, and each has its link.
fn text() -> Vec<u8> {
    let mut text = Vec::with_capacity(BODY + 200);
    for number in numbers(1000) {
        if text.len() >= BODY {
            break;
        }
        let (id, name) = (number >> 32, number >> 40);
        writeln!(
            text,
            "{{\"id\":\"{number:x}\",\"name\":\"Item {name}\",\"url\":\"https://api.example.com/v1/items/{id}\"}},"
        )
        .unwrap();
    }
    text.truncate(BODY);
    text
}

async fn encoded(coding: &str, text: &[u8]) -> Vec<u8> {
    use async_compression::tokio::write::{BrotliEncoder, GzipEncoder, ZstdEncoder};
    use tokio::io::AsyncWriteExt as _;
    macro_rules! with {
        ($encoder:ident) => {{
            let mut encoder = $encoder::new(Vec::new());
            encoder.write_all(text).await.unwrap();
            encoder.shutdown().await.unwrap();
            encoder.into_inner()
        }};
    }
    match coding {
        "gzip" => with!(GzipEncoder),
        "br" => with!(BrotliEncoder),
        _ => with!(ZstdEncoder),
    }
}

fn decoded(coding: &'static str, body: &[u8]) -> ringfence_egress::Decoded {
    let mut headers = HeaderMap::from_iter([(CONTENT_ENCODING, HeaderValue::from_static(coding))]);
    let chunks: Vec<_> = body.chunks(16 << 10).map(|part| Ok::<_, Infallible>(Bytes::copy_from_slice(part))).collect();
    decode(&mut headers, stream::iter(chunks)).unwrap()
}

/// How long it takes to read all of `body`.
async fn drained<E: std::fmt::Debug>(body: impl futures::Stream<Item = Result<Bytes, E>>) -> Duration {
    let started = Instant::now();
    let length = body.fold(0, async |length, piece| length + piece.unwrap().len()).await;
    assert_eq!(length, BODY);
    started.elapsed()
}

/// Decisions about targets of all rules and of none, with many rules and with few.
fn decisions() {
    let [few, many] = [10, 1000].map(|count| {
        let urls = (0..count / 2).map(|i| [format!("https://*.h{i}.com/v1/**"), format!("https://api.h{i}.com/v2/*")]);
        (RuleSet::new(urls.flatten().map(|url| rule(&url)).collect()), targets(count / 2))
    });
    let time = |(set, targets): &(RuleSet, Vec<Target>)| {
        let started = Instant::now();
        for target in targets.iter().cycle().take(DECISIONS) {
            std::hint::black_box(set.decide(target.seen(), "GET").is_ok());
        }
        started.elapsed()
    };
    let mut times: [Vec<Duration>; 2] = Default::default();
    for _ in 0..ROUNDS {
        times[0].push(time(&few));
        times[1].push(time(&many));
    }
    let [few, many] = times.map(median);
    ratio("a decision among 1,000 rules / among 10", many, few, 2.0);
}

/// As many in any case, spread over both rules of each of the `hosts`; every third is for a host without any.
fn targets(hosts: usize) -> Vec<Target> {
    let url = |i: usize| match (i % 3, i / 3 % hosts) {
        (0, host) => format!("https://api.h{host}.com/v1/x"),
        (1, host) => format!("https://api.h{host}.com/v2/x"),
        (_, host) => format!("https://api.absent{host}.com/v1/x"),
    };
    (0..3000).map(|i| Target::parse(&url(i)).unwrap()).collect()
}

fn rule(url: &str) -> HttpRule {
    HttpRule::new(url.parse().unwrap(), Methods::All)
}
