//! Components of IronClaw's contract `near:agent`, both versions: packed with what their sidecar asks for, signed, installed,
//! granted and called, as they were built.

use serde_json::{Value, json};

use crate::support::binary::{Home, Run};
use crate::support::guests;
use crate::support::server::Server;

const SECRET: &str = "s3cret+value/of=38~chars";

/// What stands at the top of the manifests.
const HEAD: &str =
    "name = \"agent\"\nversion = \"1.0.0\"\npublisher = \"acme\"\ndescription = \"A tool.\"\nlicense = \"MIT\"\n";

/// What came with the tool.
fn sidecar() -> Value {
    json!({
        "version": "1.0.0",
        "http": {
            "allowlist": [{"host": "api.example.org", "path_prefix": "/v1/", "methods": ["GET", "POST"]}],
            "credentials": {"token": {
                "secret_name": "example_token", "location": {"type": "bearer"}, "host_patterns": ["api.example.org"],
            }},
            "rate_limit": {"requests_per_minute": 10},
        },
        "secrets": {"allowed_names": ["example_*"]},
        "workspace": {"allowed_prefixes": ["docs/"]},
        "tool_invoke": {"aliases": {"clock": "time", "search": "web_search"}},
    })
}

/// A home in which the guest is installed as `agent`, signed, with the manifest that its sidecar gives. A sidecar means
/// https and port 443; the test has put the server in that place.
fn installed(guest: &str, server: &Server, config: &str) -> Home {
    let home = Home::new();
    home.file("home/config.toml", format!("{config}\n[rate]\nunlimited = true\n"));
    home.file("agent.capabilities.json", sidecar().to_string());
    let imported = home.run("import-capabilities agent.capabilities.json").ok();
    home.file("ringfence.toml", format!("{HEAD}{imported}").replace("https://api.example.org/", &server.url("/")));
    home.file("agent.wasm", guests::component(guest));
    let packed = home.run("pack agent.wasm --manifest ringfence.toml -o packed.wasm --json").json();
    assert_eq!(packed["tools"], json!(["execute"]));
    home.key("acme");
    home.trust("acme", &["agent"]);
    home.sign("packed.wasm".as_ref(), "acme");
    home.run("install packed.wasm").ok();
    home
}

/// The same, granted what it asks for, with the secret behind its credential.
fn granted(guest: &str, server: &Server, config: &str) -> Home {
    let home = installed(guest, server, config);
    home.fed(&["secret", "set", "our_key", "--place", "file"], &format!("{SECRET}\n")).ok();
    home.run("grant agent --all --address 127.0.0.1/32 --credential example_token=our_key").ok();
    home
}

fn call(home: &Home, params: Value) -> Run {
    home.args(&["call", "agent__execute", &params.to_string()])
}

fn output(home: &Home, params: Value) -> Value {
    call(home, params).json()
}

#[test]
fn a_tool_of_0_3_0_sends_with_a_credential_that_it_never_sees() {
    let server = Server::echo();
    let send = |path: &str| json!({"step": "send", "method": "post", "url": server.url(path), "headers": "{\"x-a\": \"b\"}", "body": "text"});
    let home = installed("agent_030", &server, "");
    // The interface is there for every such component; the function says what was not granted.
    call(&home, send("/v1/x")).fails(1, &["nothing was granted to this tool"]);
    home.run("grant agent --all --address 127.0.0.1/32").ok();
    call(&home, send("/v1/x")).fails(1, &["needs the credential `example_token`"]);
    assert!(server.seen().is_empty());

    let home = granted("agent_030", &server, "");
    let out = call(&home, send("/v1/x")).ok();
    let seen = server.seen().pop().unwrap();
    for part in ["POST /v1/x", "authorization: Bearer s3cret+value/of=38~chars", "x-a: b", "\r\n\r\ntext"] {
        assert!(seen.contains(part), "{part}: {seen}");
    }
    assert!(out.contains("[REDACTED:our_key]") && !out.contains("s3cret"), "{out}");
    assert!(out.contains("content-type") && out.contains("200"), "{out}");
    for wrong in [
        send("/v2/x"),
        json!({"step": "send", "method": "GET", "url": "https://other.example.org/v1/x"}),
        json!({"step": "send", "method": "DELETE", "url": server.url("/v1/x")}),
        json!({"step": "send", "method": "GET", "url": server.url("/v1/x"), "headers": "{\"authorization\": \"x\"}"}),
        json!({"step": "send", "method": "GET", "url": server.url("/v1/x"), "headers": "[]"}),
        json!({"step": "send", "method": "GET", "url": "not a URL"}),
    ] {
        assert_eq!(call(&home, wrong.clone()).code, 1, "{wrong}");
    }
    assert_eq!(server.seen().len(), 1, "{:?}", server.seen());
}

#[test]
fn a_tool_of_0_3_0_gets_what_its_contract_promises() {
    let server = Server::echo();
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in [("docs/a.txt", &b"text"[..]), ("docs/b.bin", b"\xff"), ("c.txt", b"private")] {
        std::fs::create_dir_all(folder.path().join(name).parent().unwrap()).unwrap();
        std::fs::write(folder.path().join(name), content).unwrap();
    }
    let home = granted("agent_030", &server, &format!("[workspace]\nroot = \"{}\"", folder.path().display()));
    for (path, content) in [
        ("docs/a.txt", json!("text")),
        ("docs/b.bin", json!(null)),
        ("c.txt", json!(null)),
        ("docs/../c.txt", json!(null)),
    ] {
        assert_eq!(output(&home, json!({"step": "file", "path": path}))["content"], content, "{path}");
    }
    home.fed(&["secret", "set", "example_other"], "0123456789").ok();
    home.fed(&["secret", "set", "unrelated"], "0123456789").ok();
    // The tool knows its credential by its own name; the operator's name for it is not among what may be asked about.
    for (name, there) in [
        ("example_token", true),
        ("Example_Other", true),
        ("example_none", false),
        ("our_key", false),
        ("unrelated", false),
    ] {
        assert_eq!(output(&home, json!({"step": "secret", "name": name}))["there"], there, "{name}");
    }
    assert!(output(&home, json!({"step": "now"}))["now"].as_u64().unwrap() > 1_700_000_000_000);
    let context = output(&home, json!({"step": "context"}))["context"].clone();
    assert_eq!(context, json!("{\"capability_id\":\"agent.execute\"}"));
    assert_eq!(call(&home, json!({"step": "text"})).ok(), "no object\n");
    home.run("grant agent --tool clock=time").ok();
    let now = output(&home, json!({"step": "tool", "alias": "clock"}))["output"].to_string();
    assert!(now.contains("20"), "{now}");
    call(&home, json!({"step": "tool", "alias": "search"})).fails(1, &["did not grant", "search"]);
    call(&home, json!({"step": "nothing"})).fails(1, &["neither output nor error"]);
    call(&home, json!({"step": "log", "text": "one\ntwo"})).ok();
    call(&home, json!({"step": "log", "text": "x", "times": 1001})).fails(4, &["log"]);
    // Its schema was a choice without a type, and is held to all the same.
    call(&home, json!({"other": 1})).fails(2, &["not valid"]);
}

#[test]
fn the_limits_of_a_request_end_the_call() {
    let server = Server::new(|request| {
        if request.contains("/v1/slow") {
            std::thread::sleep(std::time::Duration::from_millis(600));
        }
        ("200 OK".into(), vec![b'x'; 1000])
    });
    let home = granted("agent_030", &server, "[limits]\nhttp_response_bytes = 500");
    let send = |path: &str| json!({"step": "send", "method": "GET", "url": server.url(path), "timeout_ms": 100});
    call(&home, send("/v1/x")).fails(4, &["HTTP response"]);
    // The tool's own limit is an answer to the tool.
    call(&home, send("/v1/slow")).fails(1, &["no answer within the 100 ms"]);
}

#[test]
fn failures_of_0_4_1_have_a_kind() {
    let server = Server::echo();
    let home = installed("agent_041", &server, "");
    let send = |method: &str, url: String| json!({"step": "send", "method": method, "url": url});
    let failure = |home: &Home, params: Value| {
        let failure = output(home, params);
        (failure["kind"].clone(), failure["code"].clone(), failure["sent"].clone())
    };
    let denied = (json!("NetworkDenied"), json!("denied"), json!(false));
    assert_eq!(failure(&home, send("GET", server.url("/v1/x"))), denied);
    home.run("grant agent --all --address 127.0.0.1/32").ok();
    let login = (json!("AuthRequired"), json!("auth_required"), json!(false));
    assert_eq!(failure(&home, send("GET", server.url("/v1/x"))), login);
    assert_eq!(failure(&home, send("GET", server.url("/v2/x"))), denied);
    let invalid = (json!("Input"), json!("invalid"), json!(false));
    assert_eq!(failure(&home, send("GET /", server.url("/v1/x"))), invalid);
    home.fed(&["secret", "set", "our_key", "--place", "file"], SECRET).ok();
    home.run("grant agent --credential example_token=our_key").ok();
    assert_eq!(output(&home, send("GET", server.url("/v1/x")))["status"], 200);
    assert!(server.seen().pop().unwrap().contains(SECRET));

    for (kind, code, part) in [
        ("auth", "auth_required", "needs a login"),
        ("input", "failed", "cannot use these parameters"),
        ("large", "failed", "too large"),
        ("executor", "failed", "did not work"),
        ("denied", "failed", "may not reach"),
        ("client", "failed", "the service"),
        ("other", "failed", "did not succeed"),
    ] {
        let params = json!({"step": "fail", "kind": kind}).to_string();
        let run = home.args(&["--json", "call", "agent__execute", &params]);
        let error: Value = serde_json::from_str(&run.out).unwrap();
        let message = error["error"]["message"].as_str().unwrap();
        assert!(message.contains(part), "{kind}: {error}");
        let expected = if kind == "input" { "invalid_params" } else { code };
        assert_eq!(error["error"]["code"], expected, "{error}");
    }
    call(&home, json!({"step": "fail", "kind": "client", "message": "401 from there"})).fails(1, &["401 from there"]);
    assert_eq!(call(&home, json!({"step": "log", "text": "hello"})).ok(), "not JSON\n");
    // It was asked what it is in a world that stands still.
    let shown = home.run("tools agent__execute --json").json();
    assert_eq!(shown["spec"]["description"], "Takes a step. The clock says 0.");
}

#[test]
fn what_this_host_does_not_have_is_named() {
    let home = Home::new();
    home.file("ringfence.toml", HEAD);
    for (guest, parts) in [
        ("agent_extra_import", &["nostr-sign-event", "near:agent 0.3.0 and 0.4.1"][..]),
        ("agent_040", &["version 0.4.0", "`near:agent`", "0.3.0 and 0.4.1"]),
        ("core_module", &["core module, expected a component"]),
        ("no_tools", &["no tools"]),
    ] {
        home.file("in.wasm", guests::component(guest));
        home.run("pack in.wasm -o out.wasm").fails(1, parts);
        assert!(!home.path().join("out.wasm").exists(), "{guest}");
    }
    home.file("in.wasm", "text");
    home.run("pack in.wasm -o out.wasm").fails(1, &["not WebAssembly"]);
    home.run("pack in.wasm --manifest none.toml -o out.wasm").fails(2, &["none.toml"]);
}

#[test]
fn any_finished_component_can_be_packed() {
    let home = Home::new();
    home.file("ringfence.toml", HEAD);
    for (guest, contract, tool, params) in [
        ("plain", "plain", "add", "{\"a\": 1, \"b\": 2}"),
        ("mirror", "0.1.0", "run", "{\"n\": 1}"),
        ("agent_030", "near:agent@0.3.0", "execute", "{\"step\": \"now\"}"),
        ("agent_041", "near:agent@0.4.1", "execute", "{\"step\": \"log\", \"text\": \"x\"}"),
    ] {
        home.file("in.wasm", guests::component(guest));
        let packed = home.run("pack in.wasm -o out.wasm --json").json();
        assert_eq!((&packed["contract"], &packed["tools"]), (&json!(contract), &json!([tool])));
        home.args(&["install", "out.wasm", "--allow-unsigned", "--as", guest.replace('_', "-").as_str()]).ok();
        home.args(&["call", &format!("{}__{tool}", guest.replace('_', "-")), params]).ok();
    }
    home.run("pack out.wasm -o again.wasm").fails(1, &["has a manifest already", "--replace"]);
    home.run("pack out.wasm -o again.wasm --replace").ok();
    assert_eq!(
        std::fs::read(home.path().join("again.wasm")).unwrap(),
        std::fs::read(home.path().join("out.wasm")).unwrap()
    );
}

#[test]
fn an_import_says_what_became_of_each_field() {
    let home = Home::new();
    let file = home.file("agent.capabilities.json", sidecar().to_string());
    let imported = home.args(&["import-capabilities", file.to_str().unwrap(), "--json"]).json();
    assert_eq!(imported["version"], "1.0.0");
    assert_eq!(imported["capabilities"]["workspace"]["read"], json!(["docs/*/**"]));
    let report = imported["report"].as_array().unwrap();
    let rate = report.iter().find(|entry| entry["field"] == "http.rate_limit.requests_per_minute").unwrap();
    assert_eq!((&rate["outcome"], &rate["enforced_there"]), (&json!("not_supported"), &json!(false)));
    assert!(imported["grant"].as_str().unwrap().contains("secret = \"example_token\""), "{imported}");
    // What is printed is a part of a manifest.
    let text = home.run("import-capabilities agent.capabilities.json").ok();
    let manifest = ringfence_package::PackageInfo::parse(&format!("{HEAD}{text}")).unwrap();
    assert_eq!(serde_json::to_value(&manifest.capabilities).unwrap(), imported["capabilities"]);
    home.file("agent.capabilities.json", "{\"http\": 1}");
    home.run("import-capabilities agent.capabilities.json").fails(1, &["`http` has to be an object"]);
    home.run("import-capabilities none.json").fails(2, &["none.json"]);
}

/// Later tools of the contract hold several capabilities; which ones there are stands beside the component.
#[test]
fn a_component_that_holds_several_tools_is_told_which_is_meant() {
    let home = Home::new();
    home.file("ringfence.toml", HEAD);
    home.file("in.wasm", guests::component("agent_030"));
    let tool = |name: &str| {
        let parameters = json!({"type": "object", "properties": {"step": {"const": "context"}}, "required": ["step"]});
        json!({"name": name, "description": "Gives back its context.", "parameters": parameters})
    };
    home.file("tools.json", json!([tool("read_values"), tool("write_values")]).to_string());
    let packed = home.run("pack in.wasm --tools tools.json -o out.wasm --json").json();
    assert_eq!(packed["tools"], json!(["read_values", "write_values"]));
    // It knows the name that its author gave it.
    home.run("install out.wasm --allow-unsigned --as sheets").ok();
    let params = json!({"step": "context"}).to_string();
    let context = home.args(&["call", "sheets__write_values", &params]).json()["context"].clone();
    assert_eq!(context, json!("{\"capability_id\":\"agent.write_values\"}"));
    home.args(&["call", "sheets__read_values", "{\"step\": \"now\"}"]).fails(2, &["not valid"]);
    home.file("in.wasm", guests::component("mirror"));
    home.run("pack in.wasm --tools tools.json -o out.wasm").fails(1, &["which tools it has"]);
    home.file("tools.json", "[{}]");
    home.run("pack in.wasm --tools tools.json -o out.wasm").fails(1, &["tools.json", "`name`"]);
}
