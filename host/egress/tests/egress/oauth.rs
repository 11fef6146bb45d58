//! Access tokens: obtained, kept, renewed, found, and never shown.

use std::sync::Arc;
use std::time::Duration;

use futures::future::{join, join_all};
use ringfence_core::finish::current::CurrentScrubber;
use ringfence_core::grant::RuleSet;
use ringfence_core::{LimitKind, LimitSet, Limits, Secret};
use ringfence_egress::{
    Access, AddressGrants, BoundCredential, Budget, CredentialValue, Egress, EgressError, OAuthClient, Placement,
    Request, Settings, Tokens,
};
use ringfence_vault::{Choice, FileKey, SecretName, Vault};

use super::support::door::{get, nothing, rule, send};
use super::support::names::Names;
use super::support::scripted::{Scripted, answer};
use super::support::server::Seen;

const CLIENT_SECRET: &str = "client+s3cret/of=38~chars";
const REFRESH: &str = "first-refresh-token";

/// A host: a vault with a client's secrets, tokens, and the door.
struct Host {
    vault: Arc<Vault>,
    tokens: Tokens,
    door: Egress,
    scrubber: Arc<CurrentScrubber>,
    _folder: tempfile::TempDir,
}

fn name(text: &str) -> SecretName {
    text.parse().unwrap()
}

fn host() -> Host {
    host_that_asks(&Names::new(&[]))
}

fn host_that_asks(names: &Arc<Names>) -> Host {
    let folder = tempfile::tempdir().unwrap();
    let vault = Arc::new(Vault::open(folder.path()).unwrap());
    vault.choose(Choice::File(FileKey::KeyFile)).unwrap();
    vault.set(name("client"), Secret::new(CLIENT_SECRET.into())).unwrap();
    vault.set(name("login"), Secret::new(REFRESH.into())).unwrap();
    let scrubber = Arc::<CurrentScrubber>::default();
    let door = Egress::new(Settings {
        scrubber: scrubber.clone(),
        resolver: Arc::<Names>::clone(names),
        ..Settings::default()
    })
    .unwrap();
    Host { tokens: Tokens::new(vault.clone()), vault, door, scrubber, _folder: folder }
}

fn client(server: &Scripted, more: &str) -> OAuthClient {
    let refreshes = more.contains("refresh_token");
    let grant = if refreshes { "" } else { "\ngrant = \"client_credentials\"" };
    let text = format!("token_url = \"{}\"{grant}\n{more}", server.url("/token"));
    let refresh_token = refreshes.then(|| name("login"));
    OAuthClient {
        oauth2: toml::from_str(&text).unwrap(),
        client_id: "ringfence".into(),
        secret: name("client"),
        refresh_token,
    }
}

const WITH_REFRESH_TOKEN: &str = "grant = \"refresh_token\"";

impl Host {
    /// What may be reached at `api` with a token from `server`.
    fn access(&self, api: &Scripted, client: OAuthClient) -> Access {
        let addresses = AddressGrants::new(["127.0.0.0/8".parse().unwrap()]);
        let all = || RuleSet::new(vec![rule(&api.url("/**"))]);
        let credential = BoundCredential {
            name: "client/access_token".into(),
            value: CredentialValue::Token(self.tokens.of(client, addresses.clone())),
            placement: Placement::Bearer,
            bound_to: vec![all()],
        };
        Access::new(all(), addresses, vec![credential], nothing())
    }

    fn refresh_token(&self) -> String {
        self.vault.get(&name("login")).unwrap().unwrap().expose().to_owned()
    }
}

/// A token endpoint's answer.
fn token(value: &str, expires_in: u64, more: &str) -> String {
    answer("200 OK", &format!(r#"{{"access_token":"{value}","token_type":"Bearer","expires_in":{expires_in}{more}}}"#))
}

/// A server that says back which token it got, and refuses those in `refused`.
async fn api(refused: &'static [&'static str]) -> Scripted {
    Scripted::new(move |_, request| {
        let got = request.header("authorization").unwrap_or_default();
        match refused.iter().any(|token| got == format!("Bearer {token}")) {
            true => answer("401 Unauthorized", "no"),
            false => answer("200 OK", got),
        }
    })
    .await
}

async fn body(host: &Host, api: &Scripted, access: &Access) -> String {
    let response = send(&host.door, get(&api.url("/x")), access).await.unwrap();
    String::from_utf8(response.body.collect().await.unwrap().to_vec()).unwrap()
}

fn form(request: &Seen) -> Vec<(String, String)> {
    url::form_urlencoded::parse(request.body.as_bytes()).into_owned().collect()
}

/// What the request to the token endpoint says of `key`.
fn said(request: &Seen, key: &str) -> Option<String> {
    form(request).into_iter().find(|(name, _)| name == key).map(|(_, value)| value)
}

#[tokio::test]
async fn a_token_is_obtained_once_placed_and_taken_out_of_what_comes_back() {
    let server = Scripted::new(|_, _| token("token-number-one", 3600, "")).await;
    let (host, api) = (host(), api(&[]).await);
    let access = host.access(&api, client(&server, "scopes = [\"read\"]\naudience = \"api\""));
    for _ in 0..2 {
        assert_eq!(body(&host, &api, &access).await, "Bearer [REDACTED:client/access_token]");
    }
    assert_eq!(api.seen()[0].header("authorization"), Some("Bearer token-number-one"));
    let asked = server.seen();
    assert_eq!(asked.len(), 1);
    assert_eq!((asked[0].method.as_str(), asked[0].path.as_str()), ("POST", "/token"));
    assert_eq!(said(&asked[0], "grant_type").unwrap(), "client_credentials");
    assert_eq!(
        (said(&asked[0], "scope").unwrap().as_str(), said(&asked[0], "audience").unwrap().as_str()),
        ("read", "api")
    );
    assert!(asked[0].header("authorization").unwrap().starts_with("Basic "));
    // Results of tools, and requests of other tools, are searched for it too.
    assert_eq!(host.scrubber.get().text("x token-number-one"), "x [REDACTED:client/access_token]");
    let other = Access::new(
        RuleSet::new(vec![rule(&api.url("/**"))]),
        AddressGrants::new(["127.0.0.0/8".parse().unwrap()]),
        Vec::new(),
        nothing(),
    );
    let stolen = Request::new("POST", &api.url("/x"), [], "token-number-one").unwrap();
    assert_eq!(send(&host.door, stolen, &other).await.unwrap_err().code(), "http.leak");
}

/// Waits until a client asks again that got a token just now.
async fn next_second() {
    tokio::time::sleep(Duration::from_millis(1050)).await;
}

#[tokio::test]
async fn a_token_that_has_ended_is_renewed() {
    let server = Scripted::new(|n, _| token(&format!("token-number-{n}"), 0, "")).await;
    let (host, api) = (host(), api(&[]).await);
    let access = host.access(&api, client(&server, ""));
    for n in 0..3 {
        assert_eq!(body(&host, &api, &access).await, "Bearer [REDACTED:client/access_token]");
        assert_eq!(api.seen()[n].header("authorization").unwrap(), format!("Bearer token-number-{n}"));
        next_second().await;
    }
}

#[tokio::test]
async fn tokens_that_end_at_once_are_obtained_no_faster_than_once_a_second() {
    let server = Scripted::new(|n, _| token(&format!("token-number-{n}"), 0, "")).await;
    let (host, api) = (host(), api(&[]).await);
    let access = host.access(&api, client(&server, ""));
    let begin = std::time::Instant::now();
    for _ in 0..100 {
        assert_eq!(body(&host, &api, &access).await, "Bearer [REDACTED:client/access_token]");
    }
    assert!(server.seen().len() as u64 <= begin.elapsed().as_secs() + 1, "{}", server.seen().len());
}

#[tokio::test]
async fn a_refused_token_that_ends_at_once_is_replaced_no_faster_either() {
    let server = Scripted::new(|n, _| token(&format!("token-number-{n}"), 0, "")).await;
    let (host, api) = (host(), Scripted::new(|_, _| answer("401 Unauthorized", "no")).await);
    let access = host.access(&api, client(&server, ""));
    let begin = std::time::Instant::now();
    for _ in 0..50 {
        assert_eq!(send(&host.door, get(&api.url("/x")), &access).await.unwrap().status, 401);
    }
    assert!(server.seen().len() as u64 <= 2 * (begin.elapsed().as_secs() + 1), "{}", server.seen().len());
}

/// Each answer is a refresh token that has to be looked for, and no token that could be used.
#[tokio::test]
async fn a_question_that_failed_is_not_repeated_at_once() {
    let bad = |n| token("short", 0, &format!(r#","refresh_token":"refresh-token-{n}""#));
    let server = Scripted::new(move |n, _| if n == 0 { bad(n) } else { token("token-number-one", 3600, "") }).await;
    let (host, api) = (host(), api(&[]).await);
    let access = host.access(&api, client(&server, WITH_REFRESH_TOKEN));
    for _ in 0..20 {
        let error = send(&host.door, get(&api.url("/x")), &access).await.unwrap_err();
        assert!(error.for_operator("x").contains("fewer than 8 bytes"), "{}", error.for_operator("x"));
    }
    assert_eq!((server.seen().len(), host.refresh_token().as_str()), (1, "refresh-token-0"));
    next_second().await;
    assert_eq!(body(&host, &api, &access).await, "Bearer [REDACTED:client/access_token]");
}

#[tokio::test]
async fn tokens_as_long_as_servers_take_headers_are_taken_and_no_longer_ones() {
    for (access_token, refresh_token, refused) in [
        (8 << 10, 8 << 10, None),
        ((8 << 10) + 1, 20, Some("an access token of 8193 bytes")),
        (20, (8 << 10) + 1, Some("a refresh token of 8193 bytes")),
    ] {
        let more = format!(r#","refresh_token":"{}""#, "r".repeat(refresh_token));
        let server = Scripted::new(move |_, _| token(&"a".repeat(access_token), 3600, &more)).await;
        let (host, api) = (host(), api(&[]).await);
        let access = host.access(&api, client(&server, WITH_REFRESH_TOKEN));
        match (send(&host.door, get(&api.url("/x")), &access).await, refused) {
            (Ok(response), None) => assert_eq!(response.status, 200),
            (Err(error), Some(part)) => {
                let text = error.for_operator("x");
                assert!(text.contains(part) && text.contains("`127.0.0.1`") && text.contains("8192"), "{text}");
                assert!(host.scrubber.living().is_empty() && host.refresh_token() == REFRESH);
            }
            (sent, _) => panic!("{refused:?}: {sent:?}"),
        }
    }
}

#[tokio::test]
async fn a_hostile_token_endpoint_makes_the_host_forget_nobody_elses_tokens() {
    let honest = Scripted::new(|_, _| token("honest-token", 3600, "")).await;
    let (host, api) = (host(), api(&[]).await);
    let access = host.access(&api, client(&honest, ""));
    body(&host, &api, &access).await;
    // So many that last longer.
    let hostile = Scripted::new(|n, _| token(&format!("token-number-{n}"), 7200, "")).await;
    let clients = (0..70).map(|n| client(&hostile, &format!("scopes = [\"s{n}\"]")));
    for other in clients.map(|client| host.access(&api, client)) {
        body(&host, &api, &other).await;
    }
    assert_eq!(hostile.seen().len(), 70);
    assert_eq!(body(&host, &api, &access).await, "Bearer [REDACTED:client/access_token]");
    assert_eq!(host.scrubber.get().text("honest-token"), "[REDACTED:client/access_token]");
    assert_eq!(honest.seen().len(), 1);
}

#[tokio::test]
async fn a_refused_token_is_renewed_once_and_the_request_repeated_whole() {
    let server = Scripted::new(|n, _| token(&format!("token-number-{n}"), 3600, "")).await;
    let (host, api) = (host(), api(&["token-number-0"]).await);
    let access = host.access(&api, client(&server, ""));
    let request = Request::new("POST", &api.url("/x"), [("x-a", b"1".as_slice())], "the whole body").unwrap();
    let budget = Budget::new(Limits::default());
    let response = host.door.send(request, &access, &budget).await.unwrap();
    assert_eq!(response.status, 200);
    let seen = api.seen();
    assert_eq!(seen.len(), 2);
    assert!(seen.iter().all(|seen| seen.body == "the whole body" && seen.header("x-a") == Some("1")));
    assert_eq!(seen[1].header("authorization"), Some("Bearer token-number-1"));
    assert_eq!((server.seen().len(), budget.requests()), (2, 2), "both requests are counted");
}

#[tokio::test]
async fn a_server_that_refuses_every_token_is_asked_twice_and_then_once() {
    const REFUSED: &[&str] = &["token-number-0", "token-number-1", "token-number-2"];
    let server = Scripted::new(|n, _| token(&format!("token-number-{n}"), 3600, "")).await;
    let (host, api) = (host(), api(REFUSED).await);
    let access = host.access(&api, client(&server, ""));
    for (requests, tokens) in [(2, 2), (3, 2), (4, 2)] {
        assert_eq!(send(&host.door, get(&api.url("/x")), &access).await.unwrap().status, 401);
        assert_eq!((api.seen().len(), server.seen().len()), (requests, tokens));
    }
}

#[tokio::test]
async fn a_refusal_without_a_token_is_nobodys_reason_to_ask_again() {
    let api = Scripted::new(|_, _| answer("401 Unauthorized", "")).await;
    let access = super::support::door::access(&[&api.url("/**")], &["127.0.0.0/8"]);
    assert_eq!(send(&host().door, get(&api.url("/x")), &access).await.unwrap().status, 401);
    assert_eq!(api.seen().len(), 1);
}

#[tokio::test]
async fn a_repetition_is_a_request_like_every_other_to_the_limits() {
    let server = Scripted::new(|n, _| token(&format!("token-number-{n}"), 3600, "")).await;
    let (host, api) = (host(), api(&["token-number-0"]).await);
    let access = host.access(&api, client(&server, ""));
    let one = Limits::effective(&LimitSet::default(), &LimitSet::default().with(LimitKind::HttpRequests, 1));
    let error = host.door.send(get(&api.url("/x")), &access, &Budget::new(one)).await.unwrap_err();
    assert!(matches!(error, EgressError::Limit(_)), "{error}");
    assert_eq!(api.seen().len(), 1);
}

#[tokio::test]
async fn whoever_needs_a_token_at_once_waits_for_the_same_one() {
    let server = Scripted::shut(|_, _| token("token-number-one", 0, "")).await;
    let (host, api) = (host(), api(&[]).await);
    let access = host.access(&api, client(&server, ""));
    // All of them are polled once before the answer is let out.
    let sends = join_all((0..16).map(|_| send(&host.door, get(&api.url("/x")), &access)));
    let (sent, ()) = join(sends, async { server.open(1) }).await;
    assert!(sent.into_iter().all(|sent| sent.unwrap().status == 200));
    assert_eq!((server.seen().len(), api.seen().len()), (1, 16));
}

#[tokio::test]
async fn all_who_wait_learn_why_there_is_none() {
    let server = Scripted::shut(|_, _| answer("503 Busy", "")).await;
    let (host, api) = (host(), api(&[]).await);
    let access = host.access(&api, client(&server, ""));
    let sends = join_all((0..4).map(|_| send(&host.door, get(&api.url("/x")), &access)));
    let (sent, ()) = join(sends, async { server.open(1) }).await;
    assert!(sent.into_iter().all(|sent| sent.unwrap_err().code() == "http.token"));
    assert_eq!((server.seen().len(), api.seen().len()), (1, 0));
}

/// Takes the current refresh token only, and replaces it each time.
fn rotating(n: usize, request: &Seen) -> String {
    let current = if n == 0 { REFRESH.to_owned() } else { format!("refresh-token-{n}") };
    match said(request, "refresh_token").as_deref() == Some(&current) {
        true => token(&format!("token-number-{n}"), 0, &format!(r#","refresh_token":"refresh-token-{}""#, n + 1)),
        false => answer("400 Bad Request", r#"{"error":"invalid_grant"}"#),
    }
}

#[tokio::test]
async fn a_refresh_token_that_is_replaced_is_in_the_vault_before_it_is_needed_again() {
    let server = Scripted::new(rotating).await;
    let (host, api) = (host(), api(&[]).await);
    let access = host.access(&api, client(&server, WITH_REFRESH_TOKEN));
    for n in 1..4 {
        body(&host, &api, &access).await;
        assert_eq!(host.refresh_token(), format!("refresh-token-{n}"));
        next_second().await;
    }
    assert_eq!(said(&server.seen()[0], "grant_type").unwrap(), "refresh_token");
    // The new one is as secret as the old one.
    assert_eq!(host.scrubber.get().text("refresh-token-3"), "[REDACTED:login]");
}

#[tokio::test]
async fn two_clients_with_one_refresh_token_use_it_one_after_the_other() {
    let server = Scripted::new(rotating).await;
    let (host, api) = (host(), api(&[]).await);
    let one = host.access(&api, client(&server, WITH_REFRESH_TOKEN));
    let other = host.access(&api, client(&server, &format!("{WITH_REFRESH_TOKEN}\nscopes = [\"more\"]")));
    let sends = (0..12).map(|n| send(&host.door, get(&api.url("/x")), if n % 2 == 0 { &one } else { &other }));
    for sent in join_all(sends).await {
        assert_eq!(sent.unwrap().status, 200);
    }
    assert_eq!(host.refresh_token(), format!("refresh-token-{}", server.seen().len()));
}

#[tokio::test]
async fn a_change_of_secrets_lets_nobody_use_a_refresh_token_beside_who_is_using_it() {
    let server = Scripted::shut(rotating).await;
    let (host, api) = (host(), api(&[]).await);
    let (first, url) = (host.access(&api, client(&server, WITH_REFRESH_TOKEN)), api.url("/x"));
    let changed = async {
        server.until_asked(1).await;
        host.tokens.forget();
        let second = host.access(&api, client(&server, WITH_REFRESH_TOKEN));
        let let_out = async {
            let together = tokio::time::timeout(Duration::from_millis(200), server.until_asked(2)).await;
            server.open(2);
            assert!(together.is_err(), "the second asks beside the first");
        };
        join(send(&host.door, get(&url), &second), let_out).await.0
    };
    let (one, other) = join(send(&host.door, get(&url), &first), changed).await;
    assert!(one.unwrap().status == 200 && other.unwrap().status == 200);
    assert_eq!((host.refresh_token().as_str(), server.seen().len()), ("refresh-token-2", 2));
}

#[tokio::test]
async fn a_refresh_token_is_not_lost_when_nobody_waits_any_more() {
    let server = Scripted::shut(rotating).await;
    let (host, api) = (host(), api(&[]).await);
    let access = host.access(&api, client(&server, WITH_REFRESH_TOKEN));
    tokio::select! {
        _ = send(&host.door, get(&api.url("/x")), &access) => panic!("there is no token yet"),
        () = server.until_asked(1) => {}
    }
    server.open(1);
    host.tokens.settled().await;
    assert_eq!((host.refresh_token().as_str(), api.seen().len()), ("refresh-token-1", 0));
    next_second().await;
    server.open(1);
    assert_eq!(send(&host.door, get(&api.url("/x")), &access).await.unwrap().status, 200);
    assert_eq!(host.refresh_token(), "refresh-token-2");
}

#[tokio::test]
async fn a_refresh_token_that_the_vault_cannot_take_is_kept_until_it_takes_the_next_one() {
    const NEVER_STORED: &str = "with-a\0-in-it";
    let server = Scripted::new(|n, request| {
        let (current, next) = [(REFRESH, "with-a\\u0000-in-it"), (NEVER_STORED, "third-refresh-token")][n];
        match said(request, "refresh_token").as_deref() == Some(current) {
            true => token("token-number-one", 0, &format!(r#","refresh_token":"{next}""#)),
            false => answer("400 Bad Request", r#"{"error":"invalid_grant"}"#),
        }
    })
    .await;
    let (host, api) = (host(), api(&[]).await);
    let access = host.access(&api, client(&server, WITH_REFRESH_TOKEN));
    body(&host, &api, &access).await;
    assert_eq!(host.refresh_token(), REFRESH);
    next_second().await;
    body(&host, &api, &access).await;
    assert_eq!(host.refresh_token(), "third-refresh-token");
}

#[tokio::test]
async fn what_the_operator_stores_meanwhile_stays() {
    let server = Scripted::shut(rotating).await;
    let (host, api) = (host(), api(&[]).await);
    let access = host.access(&api, client(&server, WITH_REFRESH_TOKEN));
    let change = async {
        server.until_asked(1).await;
        host.vault.rotate(&name("login"), &Secret::new("another-login".into())).unwrap();
        server.open(1);
    };
    let (sent, ()) = join(send(&host.door, get(&api.url("/x")), &access), change).await;
    assert_eq!((sent.unwrap().status.as_u16(), host.refresh_token().as_str()), (200, "another-login"));
}

#[tokio::test]
async fn a_token_endpoint_that_is_up_to_something_learns_and_shows_nothing() {
    let everything = format!("{CLIENT_SECRET} {REFRESH}");
    let json = |text: &str| answer("200 OK", text);
    let cases: [(String, &str); 11] = [
        (
            answer("400 Bad Request", &format!(r#"{{"error":"invalid_grant","error_description":"{everything}"}}"#)),
            "invalid_grant",
        ),
        (answer("401 Unauthorized", &format!(r#"{{"error":"{everything}"}}"#)), "status 401"),
        (answer("500 Oops", &everything), "status 500"),
        ("302 Found\r\nlocation: /elsewhere\r\ncontent-length: 0\r\n\r\n".into(), "status 302"),
        (json(&everything), "something else"),
        (json(&format!(r#"{{"access_token":"{everything}","token_type":"mac"}}"#)), "`Bearer`"),
        (json(r#"{"access_token":"short","token_type":"bearer"}"#), "fewer than 8 bytes"),
        (json(r#"{"access_token":"with\nline-break","token_type":"bearer"}"#), "characters"),
        (json(&format!(r#"{{"access_token":"{}","token_type":"bearer"}}"#, "x".repeat(70_000))), "longer than"),
        (format!("200 OK\r\nx-a: {everything}\r\ncontent-length: 999\r\n\r\n{everything}\r\n"), "20 s"),
        (String::new(), "20 s"),
    ];
    for (said, part) in cases {
        let slow = part == "20 s";
        let server = Scripted::new(move |_, _| said.clone()).await;
        let (host, api) = (host(), api(&[]).await);
        let more = format!("{WITH_REFRESH_TOKEN}\nclient_auth = \"client_secret_post\"");
        let access = host.access(&api, client(&server, &more));
        let asked = async {
            server.until_asked(1).await;
            if slow {
                // With nothing else to do, the clock goes on to the next thing that waits.
                tokio::time::pause();
            }
        };
        let (sent, ()) = join(send(&host.door, get(&api.url("/x")), &access), asked).await;
        let error = sent.unwrap_err();
        if slow {
            tokio::time::resume();
        }
        assert_eq!(error.code(), "http.token");
        assert!(error.for_operator("x").contains(part), "{part}: {}", error.for_operator("x"));
        for text in [error.for_guest(), error.for_operator("x"), format!("{error:?}")] {
            assert!(!text.contains(CLIENT_SECRET) && !text.contains(REFRESH), "{text}");
        }
        assert!(!error.for_guest().contains("127.0.0.1"), "{}", error.for_guest());
        assert_eq!((api.seen().len(), server.seen().len()), (0, 1), "{part}");
    }
}

#[tokio::test]
async fn the_token_endpoint_is_reached_at_granted_addresses_only() {
    let server = Scripted::new(|_, _| token("token-number-one", 3600, "")).await;
    let (host, api) = (host(), api(&[]).await);
    let all = || RuleSet::new(vec![rule("https://a.test/**")]);
    let credential = BoundCredential {
        name: "client/access_token".into(),
        value: CredentialValue::Token(host.tokens.of(client(&server, ""), AddressGrants::default())),
        placement: Placement::Bearer,
        bound_to: vec![all()],
    };
    let access = Access::new(all(), AddressGrants::default(), vec![credential], nothing());
    let error = send(&host.door, get("https://a.test/"), &access).await.unwrap_err();
    assert!(error.for_operator("x").contains("127.0.0.1 is loopback"), "{}", error.for_operator("x"));
    assert!(server.seen().is_empty() && api.seen().is_empty());
}

#[tokio::test]
async fn a_name_that_leads_the_token_request_inside_is_refused() {
    let host = host_that_asks(&Names::new(&[("auth.test", &["10.1.2.3"])]));
    let mut client = client(&Scripted::new(|_, _| String::new()).await, "");
    client.oauth2.token_url = "https://auth.test/token".to_owned().try_into().unwrap();
    let all = || RuleSet::new(vec![rule("https://a.test/**")]);
    let credential = BoundCredential {
        name: "client/access_token".into(),
        value: CredentialValue::Token(host.tokens.of(client, AddressGrants::default())),
        placement: Placement::Bearer,
        bound_to: vec![all()],
    };
    let access = Access::new(all(), AddressGrants::default(), vec![credential], nothing());
    let error = send(&host.door, get("https://a.test/"), &access).await.unwrap_err();
    assert!(error.for_operator("x").contains("10.1.2.3 is private"), "{}", error.for_operator("x"));
}

#[tokio::test]
async fn a_secret_that_is_not_there_is_named() {
    let server = Scripted::new(|_, _| token("token-number-one", 3600, "")).await;
    let (host, api) = (host(), api(&[]).await);
    host.vault.remove(&name("client")).unwrap();
    let access = host.access(&api, client(&server, ""));
    let error = send(&host.door, get(&api.url("/x")), &access).await.unwrap_err();
    assert!(error.for_operator("x").contains("`client`"), "{}", error.for_operator("x"));
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn a_slow_endpoint_holds_up_a_call_no_longer_than_its_limit() {
    let server = Scripted::shut(|_, _| token("token-number-one", 3600, "")).await;
    let (host, api) = (host(), api(&[]).await);
    let access = host.access(&api, client(&server, ""));
    let short = Limits::effective(&LimitSet::default(), &LimitSet::default().with(LimitKind::HttpTime, 50));
    let error = host.door.send(get(&api.url("/x")), &access, &Budget::new(short)).await.unwrap_err();
    assert!(matches!(error, EgressError::Limit(_)), "{error}");
    server.open(1);
    // The answer that came late is of use to the next call.
    assert_eq!(send(&host.door, get(&api.url("/x")), &access).await.unwrap().status, 200);
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn tools_with_one_client_share_its_token_until_secrets_change() {
    let server = Scripted::new(|_, _| token("token-number-one", 3600, "")).await;
    let host = host();
    let here = || AddressGrants::new(["127.0.0.0/8".parse().unwrap()]);
    let first = host.tokens.of(client(&server, ""), here());
    assert!(Arc::ptr_eq(&first, &host.tokens.of(client(&server, ""), here())));
    assert!(!Arc::ptr_eq(&first, &host.tokens.of(client(&server, "scopes = [\"a\"]"), here())));
    assert!(!Arc::ptr_eq(&first, &host.tokens.of(client(&server, ""), AddressGrants::default())));
    host.tokens.forget();
    assert!(!Arc::ptr_eq(&first, &host.tokens.of(client(&server, ""), here())));
    assert!(!format!("{first:?}").contains(CLIENT_SECRET));
}
