//! Structured data.

use serde_json::{Value, json};

use super::*;
use crate::finish::scrub::redactor::Redactor;

fn json_of(scrubber: &Scrubber, text: &str) -> Value {
    serde_json::from_str(&scrubber.text(text)).unwrap()
}

#[test]
fn json_keeps_its_keys_and_stays_json() {
    let scrubber = knowing(&[("q", "pa\"ss_tail_9871")]);
    let check = |text: &str, expected: Value| assert_eq!(json_of(&scrubber, text), expected);
    check(
        r#"{"user":"u1","password":"pa\"ss_tail_9871","seq":41}"#,
        json!({"user": "u1", "password": "[REDACTED:q]", "seq": 41}),
    );
    check(
        r#"{"req":{"cookie":{"sid":"s-4477-aa","theme":"dark"},"method":"PUT"},"after":"yes"}"#,
        json!({"req": {"cookie": {"sid": "[REDACTED:cookie#1]", "theme": "[REDACTED:cookie#2]"}, "method": "PUT"}, "after": "yes"}),
    );
    check(
        r#"{"req":{"authorization":["Bearer zz11yy22xx33","Basic dTpw"],"n":2},"after":"yes"}"#,
        json!({"req": {"authorization": ["[REDACTED:authorization#1]", "[REDACTED:authorization#2]"], "n": 2}, "after": "yes"}),
    );
    check(
        r#"{"x-api-key":777123,"after":{"deep":[1,2]}}"#,
        json!({"x-api-key": "[REDACTED:key#1]", "after": {"deep": [1, 2]}}),
    );
    check(
        r#"[{"link":"https://h.test/cb?access_token=tt55tt55tt55"},{"after":"yes"}]"#,
        json!([{"link": "https://h.test/cb?access_token=[REDACTED:token#1]"}, {"after": "yes"}]),
    );
    check(
        r#"{"line":"{\"password\":\"correct-horse-9\"}","seq":42}"#,
        json!({"line": "{\"password\":\"[REDACTED:password#1]\"}", "seq": 42}),
    );
}

#[test]
fn json_text_keeps_its_spelling() {
    check(
        "{\n  \"n\": 1.10,\n  \"token\": \"x\",  \"big\": 12345678901234567890123, \"a\": \"\\u00e4\"\n}\n",
        "{\n  \"n\": 1.10,\n  \"token\": \"[REDACTED:token#1]\",  \"big\": 12345678901234567890123, \"a\": \"\\u00e4\"\n}\n",
    );
    check(r#"{"password":"one1","password":""}"#, r#"{"password":"[REDACTED:password#1]","password":""}"#);
    check_stays(
        r#"{"usage":{"max_tokens":1,"token_count":2,"tokens":3},"primary_key":"id","token":null,"secret":true}"#,
    );
    check_stays(
        r##"{"token":{"type":"string","description":"The token."},"secret":{"$ref":"#/x"},"next_page_token":"CAUQ"}"##,
    );
}

#[test]
fn known_values_go_from_numbers_and_names() {
    let scrubber = knowing(&[("pin", "12345678")]);
    let text = r#"{"n": 12345678, "12345678": [912345678.5, 1234567]}"#;
    let expected = r#"{"n": "[REDACTED:pin]", "[REDACTED:pin]": ["[REDACTED:pin]", 1234567]}"#;
    assert_eq!(scrubber.text(text), expected);
    let mut tree = serde_json::from_str(text).unwrap();
    assert!(Redactor::new(&scrubber.known).tree(&mut tree));
    assert_eq!(tree, serde_json::from_str::<Value>(expected).unwrap());
    let spread = knowing(&[("odd", "1,2,3,4")]);
    assert_eq!(spread.text("[0,1,2,3,4]"), "[0,[REDACTED:odd]]");
}

#[test]
fn deep_nesting_is_no_harm() {
    let mut tree = json!({"password": "hunter2"});
    for _ in 0..2000 {
        tree = Value::Array(vec![tree]);
    }
    assert!(Redactor::new(&scrubber().known).tree(&mut tree));
    let text = format!("{}{{\"password\":\"x\"}}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(scrubber().text(&text).len(), text.len() - 1 + "[REDACTED:password#1]".len());
}
