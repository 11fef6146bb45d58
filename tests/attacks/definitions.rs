//! A component that lies about its tools, or takes a name that is not its own, is not installed.

use ringfence::{Home, LimitSet, Ringfence};

use crate::support::guests;

/// Why a host with the guest `name` cannot be opened.
async fn refusal(name: &str, config: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let opened = Ringfence::builder(Home::at(folder.path()))
        .config(toml::from_str(config).unwrap())
        .register_wasm("hostile", &guests::component(name), LimitSet::default())
        .open()
        .await;
    opened.err().unwrap_or_else(|| panic!("`{name}` was taken in")).to_string()
}

#[tokio::test]
async fn bad_schemas_are_refused_with_their_places() {
    let error = refusal("bad_schema", "").await;
    assert!(error.contains("`not_json` is not JSON"), "{error}");
}

#[tokio::test]
async fn a_schema_that_takes_for_ever_to_compile_is_refused_before_it_is_compiled() {
    let error = refusal("endless_schema", "").await;
    assert!(error.contains("`unevaluatedProperties` is not supported; use `additionalProperties`"), "{error}");
}

#[tokio::test]
async fn taken_names_are_refused() {
    let error = refusal("taken_names", "").await;
    assert!(error.contains("belongs to a built-in"), "{error}");
}

#[tokio::test]
async fn ten_thousand_tools_are_too_many() {
    let error = refusal("many_tools", "").await;
    assert!(error.contains("10000") || error.contains("data in one host call"), "{error}");
}

#[tokio::test]
async fn no_tools_are_too_few() {
    assert!(refusal("no_tools", "").await.contains("no tools"));
}

#[tokio::test]
async fn a_start_function_that_loops_ends_with_its_fuel() {
    let error = refusal("start_loops", "").await;
    assert!(error.contains("limit of fuel"), "{error}");
}

#[tokio::test]
async fn a_start_function_that_loops_ends_at_the_deadline_where_fuel_is_off() {
    let folder = tempfile::tempdir().unwrap();
    let opened = Ringfence::builder(Home::at(folder.path()))
        .config(toml::from_str("[engine]\nmetering = \"epoch\"\n").unwrap())
        .register_wasm(
            "hostile",
            &guests::component("start_loops"),
            LimitSet::default().with(ringfence::LimitKind::Deadline, 300),
        )
        .open()
        .await;
    assert!(opened.err().unwrap().to_string().contains("limit of time"));
}

#[test]
fn an_installed_component_defines_what_its_manifest_says() {
    let (home, file) = crate::support::packages::signed("mirror", "1.0.0");
    let bytes = std::fs::read(&file).unwrap();
    // The manifest of another guest in its place, signed like any other.
    let other = guests::package("slow", "mirror", "1.0.0");
    let manifest = ringfence_package::section::find(&other).unwrap().unwrap();
    std::fs::write(&file, ringfence_package::section::embed(&bytes, manifest, true).unwrap()).unwrap();
    home.sign(&file, "acme");
    home.args(&["install", file.to_str().unwrap()])
        .fails(3, &["defines other tools than its manifest", "build it again"]);
    assert_eq!(home.run("list --json").json(), serde_json::json!([]));
}
