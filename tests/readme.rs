//! Every command in the README runs.

use crate::support::binary::Home;
use crate::support::{guests, packages, repository};

/// The lines of a README's blocks of this kind.
pub fn blocks(readme: &str, kind: &str) -> Vec<String> {
    let text = std::fs::read_to_string(repository().join(readme)).unwrap();
    let mut lines = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        match line.strip_prefix("```") {
            Some(language) => inside = language == kind,
            None if inside => lines.push(line.to_owned()),
            None => {}
        }
    }
    lines
}

/// Splits a command at spaces, but for what stands between single quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            c => words.last_mut().unwrap().push(c),
        }
    }
    words
}

#[test]
fn every_command_runs_in_the_order_it_stands() {
    let home = Home::new();
    // What the reader has: two packages by acme and acme's key.
    home.key("acme");
    let asks = blocks("README.md", "manifest").join("\n");
    let file = home.file("weather.wasm", guests::package_with("fetcher", "weather", &asks));
    home.sign(&file, "acme");
    home.sign(&home.file("github.wasm", guests::own_package("github")), "acme");
    let mut folder = home.path().to_owned();
    let mut ran = 0;
    for line in blocks("README.md", "console") {
        let words = words(&line);
        match words[0].as_str() {
            // The two commands: the demo has a test of its own, and this is a part of the other one.
            "cargo" | "tests/run" => {}
            "cd" => {
                folder = folder.join(&words[1]);
                // What else the reader has: a tool of another host, and what came with it.
                std::fs::write(folder.join("slack.wasm"), guests::component("agent_030")).unwrap();
                std::fs::write(folder.join("slack.capabilities.json"), "{}").unwrap();
            }
            "ringfence" => {
                ran += 1;
                let mut command = home.command();
                command.args(&words[1..]).current_dir(&folder);
                // What a reader would type at the prompt.
                let run = Home::feed(command, "a value that is secret\n");
                assert_eq!(run.code, 0, "{line}: {}", run.err);
            }
            other => panic!("what is `{other}`?"),
        }
    }
    assert!(ran >= 12, "{ran} commands");
}

#[test]
fn the_configuration_in_the_readme_can_be_used() {
    let home = Home::new();
    packages::install_unsigned(&home, "mirror");
    let config = blocks("README.md", "toml").join("\n").replace("weather", "mirror");
    home.file("home/config.toml", config);
    home.run("config --check").ok();
    home.run("tools").ok();
}

#[test]
fn the_tool_in_the_readme_is_the_one_that_new_writes() {
    let home = Home::new();
    home.run("new hello").ok();
    let written = std::fs::read_to_string(home.path().join("hello/src/lib.rs")).unwrap();
    let squeeze = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown = squeeze(&blocks("README.md", "rust").join("\n"));
    assert!(squeeze(&written).contains(&shown), "{written}");
}
