//! Our own tools, as components in the sandbox: real work on empty, large and non-ASCII input.

use ringfence::{CallError, ToolOutput};
use serde_json::{Value, json};

use crate::support::host::{TestHost, with_guests};

const MIB: usize = 1 << 20;

async fn host() -> TestHost {
    with_guests(&["calc", "text"], "").await
}

/// The text of the first content.
fn text(output: &ToolOutput) -> String {
    match &output.content[0] {
        ringfence::Content::Text { text } => text.clone(),
        other => panic!("not a text: {other:?}"),
    }
}

async fn calc(host: &TestHost, expression: &str) -> Result<String, CallError> {
    host.call("calc__evaluate", json!({"expression": expression})).await.map(|output| text(&output))
}

#[tokio::test]
async fn calc_is_exact() {
    let host = host().await;
    for (expression, value) in [
        ("0.1 + 0.2", "0.3"),
        ("1 / 3 * 3", "0.9999999999999999999999999999"),
        ("-2 ^ 2", "-4"),
        ("round(19.99 * 3 * 1.19, 2)", "71.36"),
        ("max(1, 2, 3) % 2", "1"),
    ] {
        assert_eq!(calc(&host, expression).await.unwrap(), value, "{expression}");
    }
    let output = host.call("calc__evaluate", json!({"expression": "0.1 + 0.2"})).await.unwrap();
    assert_eq!(output.structured, Some(json!({"value": "0.3"})));
}

#[tokio::test]
async fn calc_explains_what_it_cannot_do() {
    let host = host().await;
    for (expression, part) in [
        ("", "is empty"),
        ("1 +", "ends too early"),
        ("1 / 0", "zero"),
        ("1 +* 2", "character 4"),
        ("ä", "character 1"),
    ] {
        let error = calc(&host, expression).await.unwrap_err();
        assert_eq!(error.code(), "invalid_params", "{expression}");
        assert!(error.to_string().contains(part), "{expression}: {error}");
    }
    let deep = format!("{}1{}", "(".repeat(100_000), ")".repeat(100_000));
    assert_eq!(calc(&host, &deep).await.unwrap_err().code(), "invalid_params");
}

#[tokio::test]
async fn text_tools_take_empty_and_foreign_texts() {
    let host = host().await;
    for sample in ["", "Grüße, 世界! 👩‍👩‍👧‍👦", "\u{202e}abc\u{0}\n\n", "ﬁ İ ß"] {
        for (tool, params) in [
            ("text__count", json!({"text": sample})),
            ("text__slug", json!({"text": sample})),
            ("text__diff", json!({"old": sample, "new": format!("{sample}x")})),
            ("text__extract", json!({"text": sample, "pattern": r"\w+"})),
            ("text__case", json!({"text": sample, "to": "upper"})),
        ] {
            host.call(tool, params.clone()).await.unwrap_or_else(|error| panic!("{tool} {params}: {error}"));
        }
    }
    let counted = host.call("text__count", json!({"text": "Grüße 世界"})).await.unwrap().structured.unwrap();
    assert_eq!(counted["characters"], 8);
    assert_eq!(counted["words"], 2);
    assert_eq!(text(&host.call("text__slug", json!({"text": "Grüße, Welt!"})).await.unwrap()), "grusse-welt");
}

#[tokio::test]
async fn text_tools_take_a_mebibyte() {
    let host = host().await;
    let samples = [
        "a".repeat(MIB),
        "word and word. ".repeat(MIB / 15),
        "é\n".repeat(MIB / 3),
        "Größe und Maß: ".repeat(MIB / 18),
    ];
    for sample in &samples {
        for (tool, params) in [
            ("text__count", json!({"text": sample})),
            ("text__slug", json!({"text": sample})),
            ("text__diff", json!({"old": sample, "new": sample.replace('a', "b")})),
            ("text__extract", json!({"text": sample, "pattern": "word"})),
        ] {
            taken(&host, tool, params, sample).await;
        }
        for to in ["lower", "upper", "title", "snake", "constant", "kebab", "camel", "pascal"] {
            taken(&host, "text__case", json!({"text": sample, "to": to}), sample).await;
        }
    }
    let counted = host.call("text__count", json!({"text": samples[0]})).await.unwrap().structured.unwrap();
    assert_eq!(counted["bytes"], Value::from(MIB));
}

#[tokio::test]
async fn prose_of_a_mebibyte_is_compared_however_different_it_is() {
    let host = host().await;
    let numbered = |line: fn(usize) -> String| {
        (0..).map(line).scan(0, |bytes, line: String| {
            *bytes += line.len();
            (*bytes <= MIB).then_some(line)
        })
    };
    let prose: Vec<String> = numbered(|n| format!("Line {n} says that {} is a number.\n", n * 7)).collect();
    let reversed = |lines: &[String]| lines.iter().rev().map(String::as_str).collect::<String>();
    let changed = |lines: &[String]| {
        lines.iter().enumerate().map(|(n, line)| if n % 5 == 0 { "-\n" } else { line.as_str() }).collect::<String>()
    };
    for (old, new) in [(prose.concat(), changed(&prose)), (prose.concat(), reversed(&prose))] {
        taken(&host, "text__diff", json!({"old": old, "new": new}), &new).await;
    }
}

/// The call has an output, whatever `sample` is.
async fn taken(host: &TestHost, tool: &str, params: Value, sample: &str) {
    let refused = host.call(tool, params).await.err();
    assert!(refused.is_none(), "{tool} of {:?}…: {refused:?}", sample.chars().take(20).collect::<String>());
}
