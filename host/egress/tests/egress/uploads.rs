//! Bodies that are sent as they are made.

use bytes::Bytes;
use futures::{StreamExt as _, stream};
use ringfence_core::{LimitKind, LimitSet, Limits, Secret};
use ringfence_egress::{
    Access, BoundCredential, Budget, CredentialValue, Egress, EgressError, Leak, Placement, Request, Response, Upload,
    UploadError,
};

use super::support::door::{access, access_with, door, rule};
use super::support::names::Names;
use super::support::server::Server;

fn upload(pieces: &[&str], length: Option<u64>) -> Upload {
    let pieces: Vec<_> = pieces.iter().map(|piece| Ok(Bytes::copy_from_slice(piece.as_bytes()))).collect();
    Upload::new(stream::iter(pieces), length)
}

fn post(server: &Server, path: &str) -> Request {
    Request::new("POST", &format!("http://127.0.0.1:{}{path}", server.port), [], "").unwrap()
}

fn everything(server: &Server) -> Access {
    access(&[&format!("http://127.0.0.1:{}/**", server.port)], &["127.0.0.1/32"])
}

async fn send(request: Request, upload: Upload, access: &Access, limits: Limits) -> Result<Response, EgressError> {
    door(&Names::new(&[])).send_once(request, upload, None, access, &Budget::new(limits)).await
}

#[tokio::test]
async fn pieces_arrive_as_one_body_with_or_without_a_length() {
    let server = Server::on("127.0.0.1").await;
    for length in [None, Some(9)] {
        let pieces = upload(&["one", "", "two", "end"], length);
        send(post(&server, "/ok"), pieces, &everything(&server), Limits::default()).await.unwrap();
        let seen = server.seen().pop().unwrap();
        assert_eq!(seen.body, "onetwoend");
        assert_eq!(seen.header("content-length"), length.map(|_| "9"));
    }
    let get = Request::new("GET", &format!("http://127.0.0.1:{}/ok", server.port), [], "").unwrap();
    send(get, upload(&[], None), &everything(&server), Limits::default()).await.unwrap();
    let seen = server.seen().pop().unwrap();
    assert!(seen.header("transfer-encoding").is_none(), "an empty body of GET is none: {seen:?}");
}

#[tokio::test]
async fn what_breaks_off_says_why_and_never_arrives() {
    let server = Server::on("127.0.0.1").await;
    let small = Limits::effective(&LimitSet::default(), &LimitSet::default().with(LimitKind::HttpRequestBytes, 60));
    let sent = async |body, limits| send(post(&server, "/ok"), body, &everything(&server), limits).await.unwrap_err();

    let error = sent(upload(&["x".repeat(50).as_str(), "y"], None), small).await;
    assert!(matches!(&error, EgressError::Limit(exceeded) if exceeded.limit == "http_request"), "{error}");
    for (pieces, length) in [(["one", "two"], 7), (["one", "two"], 5)] {
        let error = sent(upload(&pieces, Some(length)), Limits::default()).await;
        assert!(matches!(error, EgressError::Upload(UploadError::Length { said, .. }) if said == length), "{error}");
    }
    let broken = stream::iter([Ok(Bytes::from("one")), Err(UploadError::Unfinished)]);
    let error = sent(Upload::new(broken, None), Limits::default()).await;
    assert!(matches!(error, EgressError::Upload(UploadError::Unfinished)), "{error}");
    let slow = Limits::effective(&LimitSet::default(), &LimitSet::default().with(LimitKind::HttpTime, 50));
    let endless = stream::iter([Ok(Bytes::from("one"))]).chain(stream::pending());
    let error = sent(Upload::new(endless, None), slow).await;
    assert!(matches!(&error, EgressError::Limit(exceeded) if exceeded.limit == "http_time"), "{error}");
    server.until_open(0).await;
    assert!(server.seen().is_empty(), "{:?}", server.seen());
}

#[tokio::test]
async fn a_secret_does_not_leave_in_pieces_and_a_credential_finds_its_place() {
    let server = Server::on("127.0.0.1").await;
    let bound = BoundCredential {
        name: "key".into(),
        value: CredentialValue::Fixed(Secret::new("s3cret-value".into())),
        placement: Placement::Json("/key".into()),
        bound_to: vec![ringfence_core::grant::RuleSet::new(vec![rule(&format!(
            "http://127.0.0.1:{}/bound",
            server.port
        ))])],
    };
    let general = rule(&format!("http://127.0.0.1:{}/**", server.port));
    let access = access_with(vec![general], &["127.0.0.1/32"], vec![bound]);
    let error = send(post(&server, "/ok"), upload(&["a s3cr", "et-value"], None), &access, Limits::default()).await;
    let leak = Leak::Value { secret: "key".into(), place: "body" };
    assert!(matches!(error, Err(EgressError::Leak(found)) if found == leak));
    assert!(server.seen().is_empty());

    let headers = [("content-type", &b"application/json"[..])];
    let url = format!("http://127.0.0.1:{}/bound", server.port);
    let request = Request::new("POST", &url, headers, "").unwrap();
    send(request, upload(&["{\"a\"", ":1}"], None), &access, Limits::default()).await.unwrap();
    assert_eq!(server.seen().pop().unwrap().body, r#"{"key":"s3cret-value","a":1}"#);
}

#[tokio::test]
async fn a_redirect_is_an_answer() {
    let server = Server::on("127.0.0.1").await;
    let budget = Budget::new(Limits::default());
    let (door, access): (Egress, _) = (door(&Names::new(&[])), everything(&server));
    let response =
        door.send_once(post(&server, "/r/307?to=/ok"), upload(&["x"], None), None, &access, &budget).await.unwrap();
    assert_eq!((response.status.as_u16(), response.headers["location"].as_bytes()), (307, &b"/ok"[..]));
    assert_eq!(budget.requests(), 1);
}

#[tokio::test]
async fn whoever_asks_may_wait_less_for_a_connection() {
    // TEST-NET-1 (RFC 5737): nothing answers there, not even with a refusal.
    let access = access(&["http://192.0.2.1/**"], &["192.0.2.0/24"]);
    let request = Request::new("GET", "http://192.0.2.1/", [], "").unwrap();
    let patience = Some(std::time::Duration::from_millis(1));
    let budget = Budget::new(Limits::default());
    let sent = door(&Names::new(&[])).send_once(request, upload(&[], None), patience, &access, &budget).await;
    assert!(matches!(sent, Err(EgressError::Connect { .. })));
}
