//! A component that lies about its tools, or takes a name that is not its own, is not installed, and whoever runs beside
//! it meanwhile does not notice.

use std::path::Path;
use std::thread;

use ringfence::author::package;
use ringfence::{LimitSet, Ringfence};
use ringfence_package::{Component, Manifest, section};
use serde_json::{Value, json};

use crate::mcp::{Lines, home_with};
use crate::support::binary::{Home, Run};
use crate::support::guests;
use crate::support::host::with_guests;

/// Why a host with the guest `name` under these limits cannot be opened. Another host of this process serves 64
/// neighbours until then, and the first of them are answered before it is known.
async fn refusal_under(name: &str, config: &str, limits: LimitSet) -> String {
    let neighbours = with_guests(&["mirror"], "").await;
    // Its code is loaded by now.
    neighbours.sixty_four_neighbours().await;
    let folder = tempfile::tempdir().unwrap();
    let hostile = Ringfence::builder(ringfence::Home::at(folder.path()))
        .config(toml::from_str(config).unwrap())
        .register_wasm("hostile", &guests::component(name), limits)
        .open();
    let opening = tokio::spawn(hostile);
    neighbours.sixty_four_neighbours().await;
    assert!(!opening.is_finished(), "`{name}` was refused before the neighbours were answered");
    while !opening.is_finished() {
        neighbours.sixty_four_neighbours().await;
    }
    opening.await.unwrap().err().unwrap_or_else(|| panic!("`{name}` was taken in")).to_string()
}

async fn refusal(name: &str) -> String {
    refusal_under(name, "", LimitSet::default()).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_schema_that_is_not_json_is_refused() {
    let error = refusal("schema_not_json").await;
    assert!(error.contains("`parameters` of the tool `run` is not JSON"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_schema_that_takes_for_ever_to_compile_is_refused_before_it_is_compiled() {
    let error = refusal("endless_schema").await;
    assert!(error.contains("`unevaluatedProperties` is not supported; use `additionalProperties`"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn taken_names_are_refused() {
    let error = refusal("taken_names").await;
    assert!(error.contains("`echo`") && error.contains("belongs to a built-in"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_tools_are_too_many() {
    let error = refusal("many_tools").await;
    assert!(error.contains("it defines 10000 tools; at most 256"), "{error}");
}

#[tokio::test]
async fn no_tools_are_too_few() {
    let folder = tempfile::tempdir().unwrap();
    let opened = Ringfence::builder(ringfence::Home::at(folder.path()))
        .register_wasm("hostile", &guests::component("no_tools"), LimitSet::default())
        .open()
        .await;
    assert!(opened.err().unwrap().to_string().contains("no tools"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_start_function_that_loops_ends_with_its_fuel() {
    let error = refusal("start_loops").await;
    assert!(error.contains("limit of fuel"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_start_function_that_loops_ends_at_the_deadline_where_fuel_is_off() {
    let limits = LimitSet::default().with(ringfence::LimitKind::Deadline, 2000);
    let error = refusal_under("start_loops", "[engine]\nmetering = \"epoch\"\n", limits).await;
    assert!(error.contains("limit of time"), "{error}");
}

/// The tools of `bad_schema`, each with what is said of it.
const BAD_SCHEMAS: [(&str, &str); 8] = [
    ("not_a_schema", "the root: a parameter schema is a JSON object"),
    ("no_object", "the root: `type` has to be \"object\""),
    ("no_properties", "the root: `properties` has to be there, as an object"),
    ("unknown_required", "the root: `absent` is required but not among `properties`"),
    ("nested_without_properties", "/properties/inner: `properties` has to be there, as an object"),
    ("remote_reference", "https://example.com/schema.json"),
    ("file_reference", "file:///etc/passwd"),
    ("bad_pattern", "it cannot be compiled"),
];

#[tokio::test]
async fn bad_schemas_are_refused_all_at_once_with_their_places() {
    let component = guests::component("bad_schema");
    let tools = package::definitions(&component, &LimitSet::default()).await.unwrap();
    let info = ringfence_package::PackageInfo::parse(&guests::manifest("bad", "1.0.0")).unwrap();
    let contract = Component::read(&component).unwrap().contract().unwrap();
    let manifest = Manifest::new(info, contract, tools).unwrap().to_bytes().unwrap();
    let home = home_with(&[]);
    let file = home.file("bad.wasm", section::embed(&component, &manifest, true).unwrap());
    let run = home.args(&["install", file.to_str().unwrap(), "--allow-unsigned"]);
    for (tool, problem) in BAD_SCHEMAS {
        let said = run.err.split("; ").any(|part| part.contains(&format!("`{tool}`: ")) && part.contains(problem));
        assert!(said, "{tool}, {problem}: {run:#?}");
    }
    // Only a warning, which keeps no tool out.
    assert!(!run.err.contains("array_without_items"), "{run:#?}");
    run.fails(3, &["the author has to correct them"]);
}

/// Installs `package` at a running server whose client makes 64 calls of a neighbour at once, again and again: all of them
/// are answered rightly, and the first before the installation ends.
fn installed_beside_neighbours(config: &str, package: &[u8]) -> Run {
    let home = home_with(&["mirror"]);
    let settings = std::fs::read_to_string(home.path().join("home/config.toml")).unwrap();
    home.file("home/config.toml", settings + config);
    let file = home.file("liar.wasm", package);
    let mut server = Lines::start(&home);
    server.initialize("2025-06-18");
    sixty_four_calls(&mut server);
    let run = thread::scope(|scope| {
        let install = scope.spawn(|| install(&home, &file));
        sixty_four_calls(&mut server);
        assert!(!install.is_finished(), "it ended before the neighbours were answered");
        while !install.is_finished() {
            sixty_four_calls(&mut server);
        }
        install.join().unwrap()
    });
    assert_eq!(home.run("list --json").json().as_array().unwrap().len(), 1, "nothing of it is left");
    run
}

fn install(home: &Home, file: &Path) -> Run {
    home.args(&["install", file.to_str().unwrap(), "--allow-unsigned"])
}

fn sixty_four_calls(server: &mut Lines) {
    for n in 0..64 {
        let params = json!({"name": "mirror__run", "arguments": {"n": n}});
        server.send(&json!({"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": params}));
    }
    let mut answered: Vec<Value> = (0..64).map(|_| server.receive()).collect();
    answered.sort_by_key(|answer| answer["id"].as_u64());
    for (n, answer) in answered.iter().enumerate() {
        assert_eq!(answer["result"]["structuredContent"], json!({"n": n}), "{answer}");
    }
}

/// The component of `guest` with the manifest of the package of `honest`, and `more` in it.
fn lying(guest: &str, honest: &str, more: &str) -> Vec<u8> {
    let package = guests::package_with(honest, "liar", more);
    let manifest = section::find(&package).unwrap().unwrap();
    section::embed(&guests::component(guest), manifest, true).unwrap()
}

#[test]
fn a_component_that_lies_is_not_installed_and_disturbs_nobody() {
    for (guest, error) in [
        ("schema_not_json", "is not JSON"),
        ("bad_schema", "defines other tools than its manifest"),
        ("taken_names", "defines other tools than its manifest"),
        ("many_tools", "it defines 10000 tools"),
    ] {
        installed_beside_neighbours("", &lying(guest, "mirror", "")).fails(3, &[error]);
    }
}

#[test]
fn a_component_that_never_starts_is_not_installed_and_disturbs_nobody() {
    let package = lying("start_loops", "big_table_ok", "[limits]\ndeadline_ms = 3000\n");
    installed_beside_neighbours("[engine]\nmetering = \"epoch\"\n", &package).fails(3, &["limit of time"]);
}

#[test]
fn an_installed_component_defines_what_its_manifest_says() {
    let (home, file) = crate::support::packages::signed("mirror", "1.0.0");
    // The manifest of another guest in its place, signed like any other.
    std::fs::write(&file, lying("mirror", "slow", "")).unwrap();
    home.sign(&file, "acme");
    home.args(&["install", file.to_str().unwrap()])
        .fails(3, &["defines other tools than its manifest", "build it again"]);
    assert_eq!(home.run("list --json").json(), json!([]));
}
