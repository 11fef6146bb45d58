//! What holds for every text, however hostile.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::finish::scrub::redactor::Redactor;

/// Each of these takes minutes where the work grows with the square of the length.
#[test]
fn hostile_texts_take_linear_time() {
    let repeat = |unit: &str, length: usize| unit.repeat(length / unit.len());
    for unit in ["sk-", "\"password\":\"", "eyJ"] {
        scrubber().text(&repeat(unit, 1 << 20));
    }
    for unit in [
        "-sk-proj-",
        "-eyJ",
        ".eyJhbGciOiJIUzI1NiJ9",
        "token=",
        "password='\\\"",
        "key",
        "://a:",
        "AKIA",
        "[",
        "\"",
        "cookie:",
        "-----BEGIN PRIVATE KEY-----",
        "SG.aaaaaaaaaaaaaaaa-",
        "1234567:AA",
        "{\"token\":",
        "\\\"password\\\":\\\\\"",
        "bearer ",
        "Bearer aB3dE6gH9jK2mN5pQ8sT1vW4",
        "Basic dXNlcjpwYXNzd29yZA==",
        "[REDACTED:token#1]token=",
        "token=abcd1234 ",
    ] {
        scrubber().text(&repeat(unit, 1 << 17));
    }
}

/// Keys, in order, at every depth.
fn keys(value: &Value) -> Vec<String> {
    match value {
        Value::Object(members) => {
            members.iter().flat_map(|(key, value)| [vec![key.clone()], keys(value)].concat()).collect()
        }
        Value::Array(items) => items.iter().flat_map(keys).collect(),
        _ => Vec::new(),
    }
}

/// Texts in which the parts of credentials, marks and JSON meet by chance.
fn fragments() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        proptest::sample::select(vec![
            "password",
            "token",
            "=",
            ": ",
            "\"",
            "'",
            "\\",
            "sk-",
            "ghp_",
            "AKIA",
            "Bearer ",
            "Authorization: ",
            "eyJhbGciOiJIUzI1NiJ9",
            ".",
            "://",
            "u:p@",
            "abc123def456",
            "hunter2",
            "[REDACTED:token#1]",
            "[REDACTED:",
            "]",
            "#1",
            "svc",
            "{",
            "}",
            "[",
            ",",
            ":",
            "-----BEGIN PRIVATE KEY-----",
            "-----END PRIVATE KEY-----",
            "\n",
            " ",
            "is",
            "%3D",
            "ä",
            "letmein1",
            "Cookie: a=b",
        ])
        .prop_map(str::to_owned),
        "[a-zA-Z0-9]{1,40}",
        "\\PC{0,6}",
    ];
    proptest::collection::vec(part, 0..24).prop_map(|parts| parts.concat())
}

fn json_values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        fragments().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        let key = prop_oneof![
            proptest::sample::select(vec!["password", "token", "a", "type"]).prop_map(str::to_owned),
            fragments()
        ];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::vec((key, inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn scrubbing_twice_is_scrubbing_once(text in fragments()) {
        let scrubber = knowing(&[("svc", SECRET), ("token#1", "letmein1"), ("x", "]abc123")]);
        let once = scrubber.text(&text).into_owned();
        prop_assert_eq!(scrubber.text(&once), once.clone());
    }

    #[test]
    fn json_stays_json_with_the_same_keys(value in json_values()) {
        let scrubber = scrubber();
        let text = value.to_string();
        let clean: Value = serde_json::from_str(&scrubber.text(&text)).unwrap();
        prop_assert_eq!(keys(&clean), keys(&value));
        let mut tree = value.clone();
        let changed = Redactor::new(&scrubber.known).tree(&mut tree);
        prop_assert_eq!(changed, tree != value);
        prop_assert_eq!(keys(&tree), keys(&value));
        prop_assert_eq!(clean, tree.clone());
        prop_assert!(!Redactor::new(&scrubber.known).tree(&mut tree));
    }

    #[test]
    fn no_spelling_of_a_secret_survives(secret in "[ -~äß€]{6,40}", before in fragments(), after in fragments()) {
        let scrubber = knowing(&[("svc", &secret)]);
        let hex: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
        let percent: String = secret.bytes().map(|byte| match byte {
            b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
            _ if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
            _ => format!("%{byte:02X}"),
        }).collect();
        let quoted = Value::from(secret.as_str()).to_string();
        for form in [&secret, &hex.to_uppercase(), &hex, &percent, &quoted[1..quoted.len() - 1]] {
            let clean = scrubber.text(&format!("{before}{form}{after}")).into_owned();
            prop_assert!(!clean.contains(form), "{}", clean);
        }
        // The characters of base64 that hold bits of the secret alone.
        let own = (before.len() * 8).div_ceil(6)..(before.len() + secret.len()) * 8 / 6;
        for encoding in [STANDARD, URL_SAFE_NO_PAD] {
            let encoded = encoding.encode(format!("{before}{secret}{after}"));
            let clean = scrubber.text(&encoded).into_owned();
            prop_assert!(!clean.contains(&encoded[own.clone()]), "{}", clean);
        }
    }
}
