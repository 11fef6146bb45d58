//! Variables that name proxies change nothing.

use std::process::Stdio;

use tokio::net::TcpListener;

use super::support::door::{access, body, door, get};
use super::support::names::Names;
use super::support::server::Server;

/// Runs in a process of its own, with the variables set: see below.
#[tokio::test]
#[ignore = "is started by `proxy_variables_change_nothing`, with the variables set"]
async fn with_proxy_variables() {
    let (server, names) = (Server::on("127.0.0.1").await, Names::new(&[("a.test", &["127.0.0.1"])]));
    let rule = format!("http://a.test:{}/**", server.port);
    let url = format!("http://a.test:{}/", server.port);
    assert_eq!(body(&door(&names), get(&url), &access(&[&rule], &["127.0.0.1/32"])).await.unwrap(), "ok");
    assert_eq!(server.seen().len(), 1);
    // Over TLS the connection fails, since nobody speaks it there; but it is there that it is tried.
    let (rule, url) = (rule.replace("http:", "https:"), url.replace("http:", "https:"));
    assert!(body(&door(&names), get(&url), &access(&[&rule], &["127.0.0.1/32"])).await.is_err());
    assert_eq!(names.asked(), ["a.test", "a.test"]);
}

#[tokio::test]
async fn proxy_variables_change_nothing() {
    let proxy = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", proxy.local_addr().unwrap());
    let variables = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];
    #[expect(clippy::disallowed_methods, reason = "variables can be set safely for another process only")]
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "proxies::with_proxy_variables", "--ignored"])
        .env_remove("NO_PROXY")
        .env_remove("no_proxy")
        .envs(variables.map(|name| (name, address.as_str())))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let ended = tokio::task::spawn_blocking(|| child.wait_with_output().unwrap());
    let output = tokio::select! {
        output = ended => output.unwrap(),
        _ = proxy.accept() => panic!("the proxy was connected to"),
    };
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}
