//! The example of a program that embeds ringfence.

use std::process::Command;

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
