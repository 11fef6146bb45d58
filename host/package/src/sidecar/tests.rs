use proptest::prelude::*;
use ringfence_core::grant::{HttpTarget, RuleSet};
use ringfence_egress::{Placement, Request};
use serde_json::{Value, json};

use super::*;

fn read(file: Value) -> Imported {
    import(file.to_string().as_bytes()).unwrap()
}

/// Whether the manifest would let a request pass.
fn allows<R: Clone + Into<HttpRule>>(rules: &[R], method: &str, url: &str) -> bool {
    let rules = rules.iter().cloned().map(Into::into).collect();
    target(method, url).is_some_and(|target| RuleSet::new(rules).decide(&target, method).is_ok())
}

fn target(method: &str, url: &str) -> Option<HttpTarget> {
    Some(Request::new(method, url, [], "").ok()?.target().seen().clone())
}

#[track_caller]
fn entry(imported: &Imported, field: &str) -> Entry {
    let found = imported.report.iter().find(|entry| entry.field == field);
    found.unwrap_or_else(|| panic!("nothing is said of {field}: {:#?}", imported.report)).clone()
}

fn api(more: Value) -> Value {
    let mut http = json!({"allowlist": [{"host": "api.example.org"}]});
    http.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"http": http})
}

#[test]
fn an_endpoint_becomes_a_rule() {
    let imported = read(json!({"http": {"allowlist": [
        {"host": "api.example.org", "path_prefix": "/v1/", "methods": ["get", "POST", "BREW"]},
        {"host": "*.example.net", "path_prefix": "/a"},
    ]}}));
    let rules = &imported.capabilities.http;
    for (method, url, expected) in [
        ("GET", "https://api.example.org/v1/x", true),
        ("POST", "https://api.example.org/v1/x/y", true),
        ("GET", "https://api.example.org/v1/", true),
        ("GET", "https://api.example.org/v1", false),
        ("GET", "https://api.example.org/v2/x", false),
        ("PUT", "https://api.example.org/v1/x", false),
        ("GET", "http://api.example.org/v1/x", false),
        ("GET", "https://api.example.org:8443/v1/x", false),
        ("DELETE", "https://a.example.net/a", true),
        ("GET", "https://a.b.example.net/a/x", true),
        // A raw prefix there.
        ("GET", "https://a.example.net/apikeys", false),
        ("GET", "https://example.net/a", false),
        ("OPTIONS", "https://a.example.net/a", false),
    ] {
        assert_eq!(allows(rules, method, url), expected, "{method} {url}");
    }
    assert_eq!(entry(&imported, "http.allowlist[0]").outcome, Outcome::Mapped);
}

#[test]
fn an_endpoint_that_matches_nothing_there_is_left_out() {
    for endpoint in [
        json!({"host": "API.example.org"}),
        json!({"host": "api.example.org:8443"}),
        json!({"host": "*"}),
        json!({"host": "*.com"}),
        json!({"host": "a.*.example.org"}),
        json!({"host": ""}),
        json!({"host": "api.example.org", "path_prefix": "v1"}),
        json!({"host": "api.example.org", "path_prefix": "/v1*"}),
        json!({"host": "api.example.org", "path_prefix": "/v1/../x"}),
        json!({"host": "api.example.org", "path_prefix": "/a%20b"}),
        json!({"host": "api.example.org", "path_prefix": "/a//b"}),
        json!({"host": "api.example.org", "methods": ["BREW"]}),
    ] {
        let imported = read(json!({"http": {"allowlist": [endpoint.clone()]}}));
        assert!(imported.capabilities.is_empty(), "{endpoint}: {:?}", imported.capabilities);
        assert_eq!(entry(&imported, "http.allowlist[0]").outcome, Outcome::NotSupported, "{endpoint}");
    }
}

#[test]
fn the_limits_of_requests_become_those_of_each_rule() {
    let limits = json!({"max_request_bytes": 1000, "max_response_bytes": 2000, "timeout_secs": 3});
    let imported = read(api(limits));
    let rule = &imported.capabilities.http[0];
    let numbers = [rule.request_bytes, rule.response_bytes, rule.time_ms].map(|limit| limit.unwrap().get());
    assert_eq!(numbers, [1000, 2000, 3000]);
    for (field, enforced) in [("max_request_bytes", false), ("max_response_bytes", true), ("timeout_secs", false)] {
        let entry = entry(&imported, &format!("http.{field}"));
        assert_eq!((entry.outcome, entry.enforced_there), (Outcome::Mapped, enforced), "{field}");
    }
    assert_eq!(read(api(json!({"max_response_bytes": 0}))).capabilities.http[0].response_bytes.unwrap().get(), 1);
    let rate = read(api(json!({"rate_limit": {"requests_per_minute": 5, "requests_per_hour": 6}})));
    for field in ["http.rate_limit.requests_per_minute", "http.rate_limit.requests_per_hour"] {
        let entry = entry(&rate, field);
        assert_eq!((entry.outcome, entry.enforced_there), (Outcome::NotSupported, false), "{field}");
    }
}

fn credential(location: Value, more: Value) -> Imported {
    let mut credential =
        json!({"secret_name": "Api_Token", "location": location, "host_patterns": ["api.example.org"]});
    credential.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    read(api(json!({"credentials": {"key": credential}})))
}

#[test]
fn a_credential_goes_where_it_went() {
    for (location, place) in [
        (json!({"type": "bearer"}), Placement::Bearer),
        (json!({"type": "basic", "username": "ada"}), Placement::Basic { username: "ada".into() }),
        (
            json!({"type": "header", "name": "X-Key", "prefix": "Token "}),
            Placement::Header { name: "X-Key".into(), prefix: "Token ".into() },
        ),
        (
            json!({"type": "header", "header_name": "X-Key"}),
            Placement::Header { name: "X-Key".into(), prefix: String::new() },
        ),
        (json!({"type": "query_param", "name": "key"}), Placement::Query("key".into())),
        (json!({"type": "url_path", "placeholder": "{BOT_TOKEN}"}), Placement::Path("BOT_TOKEN".into())),
    ] {
        let imported = credential(location.clone(), json!({}));
        let credential = &imported.capabilities.credentials["api_token"];
        assert_eq!(credential.place, place, "{location}");
        assert!(!credential.optional && allows(&credential.requests, "GET", "https://api.example.org/x"));
        assert_eq!(imported.grant.credentials["api_token"].secret, "api_token");
        let entry = entry(&imported, "http.credentials.key");
        assert_eq!(entry.enforced_there, !matches!(place, Placement::Path(_)), "{location}");
    }
    assert!(
        credential(json!({"type": "bearer"}), json!({"optional": true})).capabilities.credentials["api_token"].optional
    );
}

#[test]
fn a_credential_is_bound_to_its_hosts_and_paths() {
    let imported = credential(json!({"type": "bearer"}), json!({"path_patterns": ["/v1", "/v2/x", "%"]}));
    let requests = &imported.capabilities.credentials["api_token"].requests;
    for (url, expected) in [
        ("https://api.example.org/v1/x", true),
        ("https://api.example.org/v2/x", true),
        ("https://api.example.org/v2/y", false),
        ("https://other.example.org/v1/x", false),
    ] {
        assert_eq!(allows(requests, "POST", url), expected, "{url}");
    }
    assert_eq!(entry(&imported, "http.credentials.key.path_patterns[2]").outcome, Outcome::NotSupported);
}

#[test]
fn a_credential_that_cannot_be_placed_is_left_out() {
    for imported in [
        credential(json!({"type": "cookie"}), json!({})),
        credential(json!({"type": "basic", "username": "a:b"}), json!({})),
        credential(json!({"type": "bearer"}), json!({"host_patterns": []})),
        credential(json!({"type": "bearer"}), json!({"secret_name": "7 of 9"})),
    ] {
        assert!(imported.capabilities.credentials.is_empty() && imported.grant.credentials.is_empty());
        assert_eq!(entry(&imported, "http.credentials.key").outcome, Outcome::NotSupported);
    }
}

#[test]
fn two_credentials_with_one_secret_are_two() {
    let of = |host| json!({"secret_name": "token", "location": {"type": "bearer"}, "host_patterns": [host]});
    let imported = read(json!({"http": {"credentials": {"a": of("a.example.org"), "b": of("b.example.org")}}}));
    let names: Vec<_> =
        imported.grant.credentials.iter().map(|(name, given)| (name.as_str(), given.secret.as_str())).collect();
    assert_eq!(names, [("token", "token"), ("token:b", "token")]);
}

#[test]
fn names_of_secrets_may_be_asked_about() {
    let imported = read(json!({"secrets": {"allowed_names": ["Github_Token", "slack_*", "*"]}}));
    let names: Vec<_> = imported.capabilities.secrets.test.iter().map(ToString::to_string).collect();
    assert_eq!(names, ["github_token", "slack_*"]);
    assert_eq!(entry(&imported, "secrets.allowed_names[2]").outcome, Outcome::NotSupported);
    assert_eq!(imported.grant.secrets, imported.capabilities.secrets);
}

#[test]
fn prefixes_of_the_workspace_are_files_that_may_be_read() {
    let imported = read(json!({"workspace": {"allowed_prefixes": ["context/", "daily", "/etc", "../x"]}}));
    let files: Vec<_> = imported.capabilities.workspace.read.iter().map(ToString::to_string).collect();
    assert_eq!(files, ["context/*/**", "daily/**"]);
    for place in [2, 3] {
        let entry = entry(&imported, &format!("workspace.allowed_prefixes[{place}]"));
        assert_eq!((entry.outcome, entry.enforced_there), (Outcome::NotSupported, false));
    }
    // All files there.
    assert!(read(json!({"workspace": {"allowed_prefixes": []}})).capabilities.is_empty());
}

#[test]
fn what_people_read_becomes_the_description_of_the_credential() {
    let mut file = api(json!({"credentials": {
        "key": {"secret_name": "token", "location": {"type": "bearer"}, "host_patterns": ["api.example.org"]},
    }}));
    file["auth"] = json!({
        "secret_name": "token", "display_name": "Example", "instructions": "Log in\nand copy it.",
        "setup_url": "https://example.org/keys", "token_hint": "Begins with ex_", "env_var": "EXAMPLE_TOKEN",
        "provider": "example", "validation_endpoint": {"url": "https://api.example.org/me"},
        "oauth": {"authorization_url": "https://example.org/a", "token_url": "https://example.org/t"},
    });
    file["setup"] = json!({
        "required_secrets": [
            {"name": "token", "prompt": "The token of your account", "optional": true}, {"name": "other", "prompt": "?"},
        ],
        "required_fields": [{"name": "region", "prompt": "Region"}],
    });
    let imported = read(file);
    assert_eq!(
        imported.capabilities.credentials["token"].description,
        "Example. Log in and copy it. https://example.org/keys. Begins with ex_. The token of your account"
    );
    for field in
        ["auth.display_name", "auth.instructions", "auth.setup_url", "auth.token_hint", "setup.required_secrets[0]"]
    {
        assert_eq!(entry(&imported, field).outcome, Outcome::Mapped, "{field}");
    }
    for field in [
        "auth.env_var",
        "auth.provider",
        "auth.validation_endpoint.url",
        "auth.oauth.authorization_url",
        "auth.oauth.token_url",
        "setup.required_secrets[0].optional",
        "setup.required_secrets[1]",
        "setup.required_fields[0]",
    ] {
        assert_eq!(entry(&imported, field).outcome, Outcome::NotSupported, "{field}");
    }
}

#[test]
fn aliases_of_tools_are_asked_for() {
    let imported = read(json!({"tool_invoke": {"aliases": {"search": "web_search"}}}));
    assert!(imported.capabilities.tools["search"].contains("`web_search`"));
    assert!(imported.grant.tools.is_empty(), "which tool that is, the operator says");
    assert_eq!(entry(&imported, "tool_invoke.aliases.search").outcome, Outcome::Mapped);
}

#[test]
fn what_has_no_equivalent_says_why() {
    let imported = read(json!({
        "discovery_summary": {}, "websocket": {"url": "wss://example.org"}, "wit_version": "0.3.0", "config": {},
        "tool_invoke": {"rate_limit": {"requests_per_minute": 1}},
        "webhook": {"secret_header": "x", "hmac_secret_name": "y"},
    }));
    assert!(imported.capabilities.is_empty());
    for (field, enforced) in [
        ("discovery_summary", true),
        ("websocket", true),
        ("wit_version", true),
        ("config", false),
        ("tool_invoke.rate_limit.requests_per_minute", false),
        ("webhook.secret_header", true),
        ("webhook.hmac_secret_name", true),
    ] {
        let entry = entry(&imported, field);
        assert_eq!((entry.outcome, entry.enforced_there), (Outcome::NotSupported, enforced), "{field}");
        assert!(!entry.text.is_empty());
    }
}

#[test]
fn the_outer_of_two_levels_wins() {
    let imported = read(json!({
        "version": "1.2.0", "description": "outer", "secrets": {"allowed_names": ["a"]},
        "capabilities": {
            "description": "inner", "secrets": {"allowed_names": ["b"]},
            "capabilities": {"http": {"allowlist": [{"host": "api.example.org"}]}},
        },
    }));
    assert_eq!((imported.version.as_deref(), imported.description.as_deref()), (Some("1.2.0"), Some("outer")));
    assert_eq!(imported.capabilities.secrets.test.len(), 1);
    assert_eq!(imported.capabilities.http.len(), 1);
    assert_eq!(entry(&imported, "capabilities.description").outcome, Outcome::NotSupported);
    let deep = (0..20).fold(json!({"secrets": {"allowed_names": ["a"]}}), |inner, _| json!({"capabilities": inner}));
    assert!(read(deep).capabilities.is_empty());
}

#[test]
fn a_file_that_cannot_be_read_says_where() {
    let error = |text: &str| import(text.as_bytes()).unwrap_err().to_string();
    assert!(error("{").contains("not JSON"));
    assert!(error("[]").contains("the file"));
    assert!(error(r#"{"http": {"allowlist": [{}]}}"#).contains("`http.allowlist[0].host` is missing"));
    assert!(error(r#"{"http": {"allowlist": {}}}"#).contains("`http.allowlist` has to be a list"));
    assert!(error(r#"{"http": {"timeout_secs": -1}}"#).contains("`http.timeout_secs` has to be a number"));
    assert!(error(r#"{"secrets": {"allowed_names": [1]}}"#).contains("`secrets.allowed_names[0]` has to be a text"));
    assert!(error(&format!("{}{{}}", " ".repeat(MAX_BYTES))).contains("at most"));
}

/// IronClaw's own decision, from its description: https, the host with `*.` for any depth, a raw prefix of the decoded and
/// resolved path, the methods that it can send.
mod model {
    use ringfence_core::grant::{HttpTarget, Scheme};

    #[derive(Debug)]
    pub(super) struct Endpoint {
        pub(super) host: String,
        pub(super) prefix: Option<String>,
        pub(super) methods: Vec<String>,
    }

    impl Endpoint {
        pub(super) fn allows(&self, target: &HttpTarget, method: &str) -> bool {
            let host = target.host().to_string();
            let below = self
                .host
                .strip_prefix("*.")
                .is_some_and(|domain| host.strip_suffix(domain).is_some_and(|labels| labels.ends_with('.')));
            target.scheme() == Scheme::Https
                && (host == self.host || below)
                && resolved(target.path()).starts_with(self.prefix.as_deref().unwrap_or(""))
                && ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"].contains(&method)
                && (self.methods.is_empty() || self.methods.iter().any(|own| own.eq_ignore_ascii_case(method)))
        }
    }

    fn resolved(segments: &[String]) -> String {
        let mut path: Vec<&str> = Vec::new();
        for segment in segments {
            match segment.as_str() {
                "" | "." => {}
                ".." => drop(path.pop()),
                segment => path.push(segment),
            }
        }
        let end = if segments.len() > 1 && segments.last().is_some_and(String::is_empty) && !path.is_empty() {
            "/"
        } else {
            ""
        };
        format!("/{}{end}", path.join("/"))
    }
}

/// Hosts, prefixes and URLs of few letters, so that they meet.
fn endpoint() -> impl Strategy<Value = model::Endpoint> {
    let method = prop::sample::select(vec!["GET", "get", "POST", "DELETE", "OPTIONS", "BREW"]).prop_map(str::to_owned);
    (
        "(\\*\\.)?(a|b|A)(\\.a|\\.b){0,2}(\\*)?",
        prop::option::of("(/(a|b|api|\\.\\.|%61|a\\*|\\*|;)?){0,3}"),
        prop::collection::vec(method, 0..3),
    )
        .prop_map(|(host, prefix, methods)| model::Endpoint { host, prefix, methods })
}

fn url() -> impl Strategy<Value = String> {
    "(https|http)://(a|b)(\\.a|\\.b){0,3}(:443|:80)?(/(a|b|api|apikeys|%61|%2a|\\*|;|\\.\\.)?){0,4}"
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn no_request_passes_that_did_not_pass_there(endpoints in prop::collection::vec(endpoint(), 1..4), url in url(), method in "(GET|POST|DELETE|OPTIONS|HEAD)") {
        let list: Vec<_> = endpoints
            .iter()
            .map(|e| json!({"host": e.host, "path_prefix": e.prefix, "methods": e.methods}))
            .collect();
        let imported = read(json!({"http": {"allowlist": list}}));
        if let Some(target) = target(&method, &url) && allows(&imported.capabilities.http, &method, &url) {
            prop_assert!(endpoints.iter().any(|e| e.allows(&target, &method)), "{method} {url} {list:?}");
        }
    }

    #[test]
    fn no_credential_goes_where_it_did_not_go(host in "(\\*\\.)?(a|b)(\\.a|\\.b){0,2}", path in "(/(a|b|api)?){0,3}", url in url()) {
        let credential = json!({"secret_name": "t", "location": {"type": "bearer"}, "host_patterns": [host], "path_patterns": [path]});
        let imported = read(json!({"http": {"credentials": {"t": credential}}}));
        let there = model::Endpoint { host, prefix: Some(path), methods: Vec::new() };
        for credential in imported.capabilities.credentials.values() {
            if let Some(target) = target("GET", &url) && allows(&credential.requests, "GET", &url) {
                prop_assert!(there.allows(&target, "GET"), "{url}");
            }
        }
    }

    #[test]
    fn no_file_is_read_that_could_not_be_read_there(prefix in "(a|b|\\.\\.|\\*){0,2}(/(a|b)?){0,2}", path in "(a|b|ab)(/(a|b|ab)){0,3}") {
        let imported = read(json!({"workspace": {"allowed_prefixes": [prefix]}}));
        let segments: Vec<&str> = path.split('/').collect();
        if imported.capabilities.workspace.read.iter().any(|pattern| pattern.matches(&segments)) {
            prop_assert!(path.starts_with(&prefix), "{prefix} {path}");
        }
    }

    #[test]
    fn no_secret_is_asked_about_that_could_not_be_asked_about_there(pattern in "[ab_*]{0,3}", name in "[ab_]{1,4}") {
        let imported = read(json!({"secrets": {"allowed_names": [pattern]}}));
        if imported.capabilities.secrets.test.iter().any(|own| own.matches(&name)) {
            let there = pattern.strip_suffix('*').map_or(name == pattern, |start| name.starts_with(start));
            prop_assert!(there, "{pattern} {name}");
        }
    }

    #[test]
    fn no_file_makes_it_panic(text in "\\PC{0,200}") {
        let _ = import(text.as_bytes());
    }

    #[test]
    fn what_is_imported_reads_back_as_a_manifest(endpoints in prop::collection::vec(endpoint(), 0..4), names in prop::collection::vec("[a-z_*]{1,5}", 0..3)) {
        let list: Vec<_> = endpoints.iter().map(|e| json!({"host": e.host, "path_prefix": e.prefix, "methods": e.methods})).collect();
        let imported = read(json!({"http": {"allowlist": list}, "secrets": {"allowed_names": names}}));
        let text = toml::to_string(&imported.capabilities).unwrap();
        prop_assert_eq!(toml::from_str::<Capabilities>(&text).unwrap(), imported.capabilities);
        let text = toml::to_string(&imported.grant).unwrap();
        prop_assert_eq!(toml::from_str::<Granted>(&text).unwrap(), imported.grant);
    }
}
