//! Whom the door trusts.

use std::sync::Mutex;

use ringfence_egress::{Egress, EgressError, Settings, TlsFault};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::authority::{Authority, Identity};
use super::support::door::{access, body, get};
use super::support::names::Names;
use super::support::server::converse;

/// Serves as `identity`. Returns the port.
async fn server(identity: Identity) -> u16 {
    let acceptor = TlsAcceptor::from(identity.config());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            // A client that does not trust it hangs up.
            if let Ok(stream) = acceptor.accept(stream).await {
                let _ = converse(stream, &Mutex::default()).await;
            }
        }
    });
    port
}

/// Answers whatever comes as servers of plain HTTP answer what they cannot read. Returns the port.
async fn plain_server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let _ = stream.read(&mut [0; 4096]).await;
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n").await.unwrap();
    });
    port
}

/// What comes of a request to `a.test` at `port`, where these `authorities` are trusted.
async fn asked(port: u16, authorities: &str) -> Result<String, EgressError> {
    let resolver = Names::new(&[("a.test", &["127.0.0.1"])]);
    let door = Egress::new(Settings { resolver, authorities: authorities.into(), ..Settings::default() }).unwrap();
    let access = access(&[&format!("https://a.test:{port}/**")], &["127.0.0.1/32"]);
    body(&door, get(&format!("https://a.test:{port}/")), &access).await
}

#[tokio::test]
async fn an_authority_is_trusted_when_the_operator_adds_it() {
    let authority = Authority::new();
    let port = server(authority.identity("a.test")).await;
    let stranger = asked(port, "").await.unwrap_err();
    assert_eq!(
        (stranger.code(), stranger.for_guest()),
        ("http.tls", format!("https://a.test:{port} could not be connected to"))
    );
    assert_eq!(asked(port, &authority.pem()).await.unwrap(), "ok");
}

#[tokio::test]
async fn whoever_is_not_trusted_is_refused_with_the_cause_and_what_to_do() {
    let authority = Authority::new();
    let cases = [
        (Authority::new().identity("a.test"), TlsFault::UnknownAuthority, "`authorities` in [network]"),
        (authority.expired("a.test"), TlsFault::Expired, "renew it"),
        (authority.identity("b.test"), TlsFault::OtherName(vec!["b.test".into()]), "is for `b.test`"),
    ];
    for (identity, expected, remedy) in cases {
        let error = asked(server(identity).await, &authority.pem()).await.unwrap_err();
        assert!(error.for_operator("x").contains(remedy), "{}", error.for_operator("x"));
        let EgressError::Tls { source, .. } = error else { panic!("{error:?}") };
        assert_eq!(source, expected);
    }
    let error = asked(plain_server().await, &authority.pem()).await.unwrap_err();
    assert!(matches!(&error, EgressError::Tls { source: TlsFault::NotTls, .. }), "{error:?}");
    assert!(error.for_operator("x").contains("does not speak TLS"), "{}", error.for_operator("x"));
}
