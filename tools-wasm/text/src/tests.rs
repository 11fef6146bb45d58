//! What all text tools have to take.

use ringfence_sdk::serde_json::{Value, from_str, json};
use ringfence_sdk::testing::TestHost;

use crate::TOOLS;

#[test]
fn examples_show_what_tools_give() {
    for tool in TOOLS {
        for example in (tool.define)().examples {
            let input: Value = from_str(&example.input).unwrap();
            assert_eq!(Some(TestHost::new(TOOLS).call(tool.name, input).text()), example.output, "{}", tool.name);
        }
    }
}

#[test]
fn any_text_of_any_size_is_taken() {
    for text in [
        "",
        "\n",
        "no newline",
        "🦀 ñandú\r\n東京",
        "\u{0}\u{feff}\u{202e}",
        &"a longer line of wörds\n".repeat(43_000),
    ] {
        for (tool, parameters) in [
            ("case", json!({ "text": text, "to": "upper" })),
            ("count", json!({ "text": text })),
            ("diff", json!({ "old": text, "new": "other\n" })),
            ("extract", json!({ "text": text, "pattern": r"\w+", "limit": 5 })),
            ("slug", json!({ "text": text })),
        ] {
            let call = TestHost::new(TOOLS).call(tool, parameters);
            let large = call.outcome.as_ref().is_err_and(|failure| failure.code == "result_too_large");
            assert!(call.outcome.is_ok() || large, "{tool}: {:?}", call.failure());
        }
    }
}

#[test]
fn unknown_arguments_are_named() {
    let call = TestHost::new(TOOLS).call("count", json!({ "text": "", "extra": 1 }));
    assert!(call.failure().message.contains("unknown field `extra`"), "{}", call.failure().message);
}
