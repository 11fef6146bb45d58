//! Programs that embed ringfence: the example, and what such a program grants to a component.

use std::process::Command;

use ringfence::{CallError, Caller, Capabilities, Config, Granted, Home, LimitKind, LimitSet, Ringfence, WasmGrant};
use serde_json::json;

use crate::support::server::Server;
use crate::support::{guests, repository};

#[test]
fn the_example_calls_a_native_tool_and_a_component_in_under_forty_lines() {
    let source = std::fs::read_to_string(repository().join("examples/embed/main.rs")).unwrap();
    let body = source.lines().skip_while(|line| !line.contains("async fn main")).count();
    assert!(body < 40, "{body} lines");

    let folder = tempfile::tempdir().unwrap();
    let component = folder.path().join("calc.wasm");
    std::fs::write(&component, guests::component("calc")).unwrap();
    // Cargo builds the examples beside the binary.
    let example = std::path::Path::new(env!("CARGO_BIN_EXE_ringfence")).with_file_name("examples").join("embed");
    let output = Command::new(example).arg(component).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text, "[Text { text: \"Hello, Ada!\" }]\n[Text { text: \"0.3\" }]\n");
}

/// A host with the guest `name`, which has `component`, embedded with `grant`.
async fn host_with(name: &str, component: &[u8], grant: impl Into<WasmGrant>) -> (Ringfence, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let mut config = Config::default();
    config.rate.unlimited = true;
    let builder = Ringfence::builder(Home::at(folder.path())).config(config);
    (builder.register_wasm(name, component, grant).open().await.unwrap(), folder)
}

/// Has `host` fetch `url`, and gives the status of the answer.
async fn fetched(host: &Ringfence, url: &str) -> Result<u64, CallError> {
    let output = host.call("fetcher__fetch", json!({"method": "GET", "url": url}), Caller::default()).await?;
    Ok(output.structured.unwrap()["status"].as_u64().unwrap())
}

#[tokio::test]
async fn an_embedded_component_reaches_what_its_author_asks_for_and_the_program_grants() {
    let server = Server::echo();
    let rules = |path: &str| format!("[[http]]\nurl = \"{}\"\n", server.url(path));
    let requested: Capabilities = toml::from_str(&rules("/api/**")).unwrap();
    let both = format!("{}{}", rules("/api/open"), rules("/other"));
    let granted: Granted = toml::from_str(&format!("addresses = [\"127.0.0.1/32\"]\n{both}")).unwrap();
    let component = guests::component("fetcher");

    let grant = WasmGrant { requested: Some(requested.clone()), granted: granted.clone() };
    let (host, _folder) = host_with("fetcher", &component, grant).await;
    assert_eq!(fetched(&host, &server.url("/api/open")).await.unwrap(), 200);
    // Asked for and not granted; granted and not asked for.
    for path in ["/api/shut", "/other"] {
        let error = fetched(&host, &server.url(path)).await.unwrap_err().to_string();
        assert!(error.contains("this tool may not reach"), "{error}");
    }
    assert_eq!(server.seen().len(), 1);

    // What its manifest asks for counts where the program says nothing else.
    let asks = format!("[[capabilities.http]]\nurl = \"{}\"\n", server.url("/api/**"));
    let package = guests::package_with("fetcher", "fetcher", &asks);
    let (host, _folder) = host_with("fetcher", &package, WasmGrant { requested: None, granted: granted.clone() }).await;
    assert_eq!(fetched(&host, &server.url("/api/open")).await.unwrap(), 200);

    // Without a grant, or without a request, the error names who could give one.
    for grant in [
        WasmGrant { requested: Some(requested), granted: Granted::default() },
        WasmGrant { requested: None, granted },
        LimitSet::default().into(),
    ] {
        let (host, _folder) = host_with("fetcher", &component, grant).await;
        let error = fetched(&host, &server.url("/api/open")).await.unwrap_err();
        assert_eq!(error.code(), "unavailable");
        let said = error.to_string();
        assert!(
            said.contains("needs to send requests") && said.contains("the program that embeds ringfence"),
            "{said}"
        );
        assert!(!said.contains("`ringfence grant"), "{said}");
    }
}

#[tokio::test]
async fn limits_rate_and_end_of_a_program_s_grant_hold() {
    let granted: Granted = toml::from_str("[limits]\nparam_bytes = 5\n[rate]\nper_hour = 1\n").unwrap();
    let grant = WasmGrant { requested: None, granted };
    let (host, _folder) = host_with("mirror", &guests::component("mirror"), grant).await;
    let call = |params| host.call("mirror__run", params, Caller::default());
    let limits = host.tools().iter().find(|tool| tool.name == "mirror__run").unwrap().limits.clone();
    assert_eq!(limits.get(LimitKind::Params), Some(5));
    assert_eq!(call(json!({"long": 1})).await.unwrap_err().code(), "limit.params");
    call(json!({})).await.unwrap();
    assert_eq!(call(json!({})).await.unwrap_err().code(), "rate_limited");

    let folder = tempfile::tempdir().unwrap();
    let granted = Granted { expires: Some("tomorrow".into()), ..Granted::default() };
    let builder = Ringfence::builder(Home::at(folder.path())).config(Config::default());
    let grant = WasmGrant { requested: None, granted };
    let error = builder.register_wasm("mirror", &guests::component("mirror"), grant).open().await.err().unwrap();
    assert!(error.to_string().contains("embedded component `mirror`: `expires` is \"tomorrow\""), "{error}");
}
