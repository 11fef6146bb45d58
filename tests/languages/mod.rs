//! Guests written in Rust, JavaScript and Python: the same cases, under the same limits, with the same ends.

mod builders;
mod examples;

use std::borrow::Cow;

use ringfence::{CallError, Caller, Config, Ringfence, ToolOutput};
use serde_json::{Value, json};

use crate::support::binary::Home;
use crate::support::guests;
use crate::support::server::Server;

type Component = fn() -> Vec<u8>;

/// The guest `trials` of each language, as a component.
const LANGUAGES: [(&str, Component); 3] = [
    ("rust", || guests::component("trials").to_vec()),
    ("javascript", builders::javascript_trials),
    ("python", builders::python_trials),
];

/// How a case ends.
enum End {
    /// With this structured result.
    Result(Value),
    /// With an error of this code, the tool's own where it has one, whose text says this.
    Error(&'static str, &'static str),
}

/// How large a result may be here, in bytes: an interpreter has burnt its fuel before it has made one that is over the
/// default.
const RESULT: u64 = 20_000;

/// A trial, and its end where each call may take as much as the defaults say, and give [`RESULT`] bytes.
fn cases(server: &Server) -> Vec<(Value, End)> {
    let text = "Grüße 東京 Grüße 🦀 e\u{301} 🦀 Grüße \u{0}";
    let words = json!([["Grüße", 3], ["東京", 1], ["🦀", 2], ["e\u{301}", 1], ["\u{0}", 1]]);
    vec![
        (json!({"what": "count", "text": text}), End::Result(json!({"words": words}))),
        (
            json!({"what": "count", "text": "ä".repeat(1 << 12)}),
            End::Result(json!({"words": [["ä".repeat(1 << 12), 1]]})),
        ),
        (json!({"what": "add", "a": 1, "b": 2}), End::Result(json!({"sum": 3}))),
        (
            json!({"what": "add", "a": 9_007_199_254_740_993_u64, "b": 0}),
            End::Result(json!({"sum": 9_007_199_254_740_993_u64})),
        ),
        (json!({"what": "add", "a": u64::MAX - 1, "b": 1}), End::Result(json!({"sum": u64::MAX}))),
        (json!({"what": "fail", "a": 9_007_199_254_740_993_u64}), End::Error("unavailable", "Come back later.")),
        (json!({"what": "crash"}), End::Error("trapped", "a lemon")),
        (json!({"what": "loop"}), End::Error("limit.fuel", "over its limit of fuel")),
        (json!({"what": "allocate"}), End::Error("limit.memory", "over its limit of memory")),
        (json!({"what": "log"}), End::Error("limit.log_records", "over its limit of number of log records")),
        (json!({"what": "result", "a": 2 * RESULT}), End::Error("limit.result", "over its limit of result")),
        (json!({"what": "environment", "text": "LANG"}), End::Result(json!({"value": "en"}))),
        (json!({"what": "environment", "text": "HOME"}), End::Result(json!({"value": null}))),
        (json!({"what": "get", "text": server.url("/api/x")}), End::Result(json!({"status": 200}))),
        (json!({"what": "get", "text": server.url("/other")}), End::Error("http.denied", "may not reach")),
    ]
}

/// A home in which `acme` has signed the guest of each language, and nothing is granted to any.
fn installed(server: &Server) -> Home {
    let home = Home::new();
    home.key("acme");
    home.trust("acme", &["*"]);
    for (language, component) in LANGUAGES {
        let component = home.file(&format!("{language}.component.wasm"), component());
        let manifest = home.file(
            &format!("{language}.toml"),
            format!(
                "name = \"{language}\"\nversion = \"1.0.0\"\npublisher = \"acme\"\ndescription = \"Trials.\"\n\
                 license = \"MIT\"\n[capabilities]\nenv = [\"LANG\", \"HOME\"]\n[[capabilities.http]]\nurl = \"{}\"\n",
                server.url("/**")
            ),
        );
        let package = home.path().join(format!("{language}.wasm"));
        let [component, manifest, out] = [&component, &manifest, &package].map(|path| path.to_str().unwrap());
        home.args(&["pack", component, "--manifest", manifest, "-o", out]).ok();
        home.sign(&package, "acme");
        home.args(&["install", out]).ok();
    }
    home
}

/// A host over the state of `home`, under `config`.
async fn host(home: &Home, config: &str) -> Ringfence {
    let config: Config = toml::from_str(&format!("{config}\n[rate]\nunlimited = true\n")).unwrap();
    Ringfence::builder(ringfence::Home::at(&home.path().join("home"))).config(config).open().await.unwrap()
}

async fn call(host: &Ringfence, language: &str, params: &Value) -> Result<ToolOutput, CallError> {
    host.call(&format!("{language}__run"), params.clone(), Caller::default()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn guests_of_every_language_run_under_the_same_limits() {
    let server = Server::echo();
    let home = installed(&server);
    nothing_is_reached_that_was_not_granted(&home, &server).await;
    for (language, _) in LANGUAGES {
        let rule = format!("GET {}", server.url("/api/**"));
        home.args(&["grant", language, "--http", &rule, "--address", "127.0.0.1/32", "--env", "LANG=en"]).ok();
    }
    every_case_has_its_end(&home, &server).await;
    a_deadline_ends_a_busy_guest(&home).await;
}

async fn nothing_is_reached_that_was_not_granted(home: &Home, server: &Server) {
    let host = host(home, "").await;
    for (language, _) in LANGUAGES {
        let error = call(&host, language, &json!({"what": "get", "text": server.url("/api/x")})).await.unwrap_err();
        let text = error.for_operator();
        assert_eq!(error.code(), "unavailable", "{language}: {text}");
        assert!(text.contains("needs to send requests") && text.contains("`ringfence grant`"), "{language}: {text}");
    }
    assert_eq!(server.seen().len(), 0);
    host.close().unwrap();
}

async fn every_case_has_its_end(home: &Home, server: &Server) {
    let host = host(home, &format!("[limits]\nresult_bytes = {RESULT}\n")).await;
    for (params, end) in cases(server) {
        for (language, _) in LANGUAGES {
            let ended = call(&host, language, &params).await;
            let case = format!("{language}, {:.60}", params.to_string());
            match (&end, ended) {
                (End::Result(expected), Ok(output)) => assert_eq!(output.structured.as_ref(), Some(expected), "{case}"),
                (End::Error(code, text), Err(error)) => {
                    let said = error.tool_code().map_or_else(|| error.code(), Cow::from);
                    assert_eq!(said, *code, "{case}: {error}");
                    assert!(error.to_string().contains(text), "{case}: {error}");
                    let retry = error.retry_after().map(|wait| wait.as_millis());
                    assert_eq!(retry, (*code == "unavailable").then_some(9_007_199_254_740_993), "{case}");
                }
                (_, ended) => panic!("{case}: {ended:?}"),
            }
        }
    }
    host.close().unwrap();
}

async fn a_deadline_ends_a_busy_guest(home: &Home) {
    let host = host(home, "[limits]\nfuel = 1000000000000\ndeadline_ms = 500\n").await;
    for (language, _) in LANGUAGES {
        let error = call(&host, language, &json!({"what": "loop"})).await.unwrap_err();
        assert_eq!(error.code(), "limit.deadline", "{language}: {error}");
    }
    host.close().unwrap();
}
