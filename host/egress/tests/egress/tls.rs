//! Whom the door trusts.

use std::sync::{Arc, Mutex};

use rcgen::{CertifiedKey, generate_simple_self_signed};
use ringfence_egress::{Egress, EgressError, Settings};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::support::door::{access, body, get};
use super::support::names::Names;
use super::support::server::converse;

/// Serves `a.test` with a certificate of its own. Returns its port and the certificate.
async fn server() -> (u16, String) {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["a.test".to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
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
    (port, cert.pem())
}

fn door(names: &[(&str, &[&str])], authorities: &str) -> Egress {
    let settings = Settings { resolver: Names::new(names), authorities: authorities.into(), ..Settings::default() };
    Egress::new(settings).unwrap()
}

#[tokio::test]
async fn an_authority_is_trusted_when_the_operator_adds_it() {
    let (port, certificate) = server().await;
    let names: &[(&str, &[&str])] = &[("a.test", &["127.0.0.1"]), ("b.test", &["127.0.0.1"])];
    let rules = [format!("https://a.test:{port}/**"), format!("https://b.test:{port}/**")];
    let access = access(&[&rules[0], &rules[1]], &["127.0.0.1/32"]);
    let url = |name: &str| format!("https://{name}:{port}/");
    let stranger = body(&door(names, ""), get(&url("a.test")), &access).await.unwrap_err();
    assert!(matches!(stranger, EgressError::Connect { .. }), "{stranger}");
    assert!(stranger.for_operator("x").contains("certificate"), "{}", stranger.for_operator("x"));
    let trusting = door(names, &certificate);
    assert_eq!(body(&trusting, get(&url("a.test")), &access).await.unwrap(), "ok");
    let other_name = body(&trusting, get(&url("b.test")), &access).await.unwrap_err();
    assert!(matches!(other_name, EgressError::Connect { .. }), "{other_name}");
}
