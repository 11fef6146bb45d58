//! What tests/languages tries with guests in every language. Those in JavaScript and Python are there.

use std::collections::VecDeque;
use std::time::Duration;

use ringfence_sdk::IntoOutput as _;
use ringfence_sdk::prelude::*;
use ringfence_sdk::serde_json::{Value, json};

#[derive(Deserialize, JsonSchema)]
struct Trial {
    /// What to do.
    what: String,
    /// A text.
    #[serde(default)]
    text: String,
    /// An integer.
    #[serde(default)]
    a: u64,
    /// An integer.
    #[serde(default)]
    b: u64,
}

/// Does what it is told.
#[tool]
fn run(args: Trial) -> Result<Output, Failure> {
    let Trial { what, text, a, b } = args;
    match what.as_str() {
        "count" => Json(counted(&text)).into_output(),
        "add" => Json(json!({"sum": a + b})).into_output(),
        "fail" => {
            Err(Failure::unavailable("Come back later.").with_code("later").with_retry_after(Duration::from_millis(a)))
        }
        "crash" => panic!("a lemon"),
        "loop" => loop {
            std::hint::black_box(());
        },
        "allocate" => {
            let mut taken = VecDeque::new();
            loop {
                taken.push_back(vec![1_u8; 1 << 20]);
            }
        }
        "log" => loop {
            log::info("All is well.");
        },
        "result" => "a".repeat(usize::try_from(a).map_err(Failure::failed)?).into_output(),
        "environment" => Json(json!({"value": variable(&text)})).into_output(),
        "get" => Json(json!({"status": http::get(text).send()?.status})).into_output(),
        other => Err(Failure::invalid_params(format!("what is `{other}`?"))),
    }
}

/// How often each word occurs, in the order of their first occurrence.
fn counted(text: &str) -> Value {
    let mut words: Vec<(&str, u64)> = Vec::new();
    for word in text.split(' ') {
        match words.iter_mut().find(|(known, _)| *known == word) {
            Some((_, count)) => *count += 1,
            None => words.push((word, 1)),
        }
    }
    json!({"words": words})
}

#[expect(clippy::disallowed_methods, reason = "a guest's environment is what it was granted")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

export_tools!(run);
