//! Values of the environment, which the C library of a guest takes over from the host and frees: of every length.

use serde_json::json;

use super::{home, open};
use crate::support::binary::Home;

/// All that could fit into a hole of the C library's heap, and some that cannot.
fn lengths() -> impl Iterator<Item = usize> {
    (0..=64).chain([127, 128, 1000, 4096])
}

/// A name of `length`, and a value of `length` that is told apart from all others.
fn name(length: usize) -> String {
    "N".repeat(length.max(1))
}

fn value(length: usize) -> String {
    format!("{length}|").chars().cycle().take(length).collect()
}

/// A home with a guest that may be given values under names of all lengths.
fn surroundings() -> Home {
    let names: Vec<String> = lengths().map(name).collect();
    home("surroundings", &format!("[capabilities]\nenv = {names:?}\n"), "")
}

/// What the guest sees under `name`, where all of `values` are granted to it.
async fn seen(home: &Home, values: &[(String, String)], names: &[&str]) -> Vec<Option<String>> {
    let grant: String = values.iter().map(|(name, value)| format!("{name} = {value:?}\n")).collect();
    home.file("home/grants/reach.toml", format!("[env]\n{grant}"));
    let host = open(home, vec![]).await;
    let mut seen = Vec::new();
    for name in names {
        let output =
            host.call("reach__environment", json!({"name": name}), ringfence::Caller::default()).await.unwrap();
        seen.push(output.structured.unwrap().as_str().map(str::to_owned));
    }
    host.close().unwrap();
    seen
}

#[tokio::test(flavor = "multi_thread")]
async fn a_value_of_any_length_arrives() {
    let home = surroundings();
    for length in lengths().chain([65_536, 300_000]) {
        for name in [name(1), name(length.min(4096))] {
            let values = [(name.clone(), value(length))];
            assert_eq!(seen(&home, &values, &[&name]).await, [Some(value(length))], "{length} {}", name.len());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_values_arrive_together() {
    let home = surroundings();
    let values: Vec<_> = lengths().filter(|length| *length > 0).map(|length| (name(length), value(length))).collect();
    let names: Vec<&str> = values.iter().map(|(name, _)| name.as_str()).collect();
    let expected: Vec<_> = values.iter().map(|(_, value)| Some(value.clone())).collect();
    assert_eq!(seen(&home, &values, &names).await, expected);
}
