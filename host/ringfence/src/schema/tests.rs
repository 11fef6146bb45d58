#[path = "../../../../tests/support/leaves.rs"]
mod leaves;

use proptest::prelude::*;
use ringfence_core::limit::LimitKind;
use ringfence_package::reading::from_toml;
use serde_json::json;

use super::*;
use crate::grants::GrantFile;

/// A file with every field, by what reads it.
struct Case {
    file: File,
    /// The text, in which `LIMITS` stands for a line with each limit.
    text: &'static str,
    /// The types alone.
    types: fn(&str) -> bool,
    /// All that is checked when the file is read.
    whole: fn(&str) -> bool,
}

impl Case {
    fn text(&self) -> String {
        let limits: String = LimitKind::all().map(|kind| format!("{} = 5\n", kind.key())).collect();
        self.text.replace("LIMITS\n", &limits)
    }
}

const CASES: [Case; 3] = [
    Case {
        file: File::Manifest,
        text: MANIFEST,
        types: |text| from_toml::<PackageInfo>(text).is_ok(),
        whole: |text| PackageInfo::parse(text).is_ok(),
    },
    Case {
        file: File::Grant,
        text: GRANT,
        types: |text| from_toml::<Granted>(text).is_ok(),
        whole: |text| GrantFile::parse("grant.toml".into(), text.into()).is_ok(),
    },
    Case {
        file: File::Config,
        text: CONFIG,
        types: |text| from_toml::<Config>(text).is_ok(),
        whole: |text| Config::parse("config.toml".as_ref(), text).is_ok(),
    },
];

const MANIFEST: &str = r#"
name = "weather"
version = "1.2.3"
publisher = "acme"
description = "Tells the weather."
license = "MIT"
homepage = "https://example.org/weather"
[limits]
LIMITS
[capabilities]
env = ["LANG"]
secrets = { test = ["hook_*"], sign = ["hook_key"] }
workspace = { read = ["docs/**"], write = ["out/*"] }
[[capabilities.http]]
url = "https://api.example.org/v1/**"
methods = ["GET"]
requests = 1
request_bytes = 2
response_bytes = 3
time_ms = 4
[capabilities.credentials.a]
place = "bearer"
requests = [{ url = "https://api.example.org/v1/**", methods = ["GET"] }]
optional = true
description = "A key."
[capabilities.credentials.b]
place = { basic = { username = "ada" } }
requests = []
[capabilities.credentials.c]
place = { header = { name = "x-key", prefix = "Token " } }
requests = []
[capabilities.credentials.d]
place = { query = "key" }
requests = []
[capabilities.credentials.e]
place = { path = "KEY" }
requests = []
[capabilities.credentials.f]
place = { json = "/auth" }
requests = []
[capabilities.credentials.g]
place = "bearer"
requests = []
[capabilities.credentials.g.oauth2]
token_url = "https://login.example.org/token"
grant = "client_credentials"
scopes = ["read"]
audience = "https://api.example.org"
client_auth = "client_secret_post"
[capabilities.tools]
calculator = "evaluates arithmetic expressions"
[capabilities.state]
bytes = 1000
keys = 10
"#;

const GRANT: &str = r#"
expires = "2999-01-01T00:00:00Z"
addresses = ["127.0.0.0/8"]
env = { LANG = "en" }
secrets = { test = ["hook_*"], sign = ["hook_key"] }
workspace = { read = ["docs/**"], write = ["out/*"] }
rate = { per_minute = 1, per_hour = 2 }
tools = { calculator = "calc__evaluate" }
state = { bytes = 1000, keys = 10 }
[limits]
LIMITS
[[http]]
url = "https://api.example.org/v1/**"
methods = ["GET"]
requests = 1
request_bytes = 2
response_bytes = 3
time_ms = 4
[credentials.token]
secret = "weather_token"
requests = [{ url = "https://api.example.org/v1/**", methods = ["GET"] }]
[credentials.token.oauth2]
client_id = "ada"
refresh_token = "weather_refresh"
token_url = "https://login.example.org/token"
scopes = ["read"]
audience = "https://api.example.org"
"#;

const CONFIG: &str = r#"
[engine]
profile = "large"
metering = "fuel"
stack_bytes = 524288
instances = 100
pooling = false
[concurrency]
per_caller_and_tool = 16
per_tool = 8
wait_ms = 100
[limits]
LIMITS
[rate]
per_minute = 60
per_hour = 1000
unlimited = false
[tools.calc.limits]
LIMITS
[tools.calc.rate]
unlimited = true
[tools.text.rate]
per_minute = 60
per_hour = 1000
[policy]
allow = ["echo"]
deny = ["time"]
[network]
authorities = "own.pem"
connect_ms = 10
hosts = { "api.example.org" = "127.0.0.1:8443" }
[secrets]
reveal = ["a_*"]
[distribution]
addresses = ["10.0.0.0/8"]
plain_http = ["registry.example.org:5000"]
[indexes]
acme = "https://packages.acme.example/index.json"
[workspace]
root = "/files"
[audit]
durability = "power"
"#;

/// A change of one value: another one in its place, none at all, or one more beside those that are in it.
#[derive(Clone, Debug)]
enum Change {
    Replace(Value),
    Remove,
    Add(&'static str),
}

fn change() -> impl Strategy<Value = Change> {
    let values = [json!(true), json!(17), json!(0), json!(-1), json!([]), json!([1]), json!({}), json!({"zzz": 1})];
    prop_oneof![
        proptest::sample::select(values.to_vec()).prop_map(Change::Replace),
        Just(Change::Remove),
        Just(Change::Add("zzz")),
    ]
}

/// Pointers to all values in `value`.
fn pointers(value: &Value) -> Vec<String> {
    let below = |key: String, inner: &Value| {
        let inner = pointers(inner).into_iter().map(|rest| format!("/{key}{rest}"));
        [format!("/{key}")].into_iter().chain(inner).collect::<Vec<_>>()
    };
    let all: Vec<Vec<String>> = match value {
        Value::Object(fields) => fields.iter().map(|(key, inner)| below(key.clone(), inner)).collect(),
        Value::Array(list) => list.iter().enumerate().map(|(i, inner)| below(i.to_string(), inner)).collect(),
        _ => Vec::new(),
    };
    all.concat()
}

fn apply(document: &mut Value, pointer: &str, change: &Change) {
    let Some(place) = document.pointer_mut(pointer) else { return };
    match change {
        // serde takes a list for a table, with the fields in their order; nobody writes that.
        Change::Replace(Value::Array(_)) if place.is_object() => {}
        Change::Replace(value) => *place = value.clone(),
        Change::Add(key) => {
            if let Value::Object(fields) = place {
                fields.insert((*key).into(), json!(1));
            }
        }
        Change::Remove => {
            let (parent, last) = pointer.rsplit_once('/').unwrap();
            match document.pointer_mut(parent).unwrap() {
                Value::Object(fields) => drop(fields.remove(last)),
                Value::Array(list) => drop(list.remove(last.parse().unwrap())),
                _ => unreachable!("a pointer leads through objects and arrays"),
            }
        }
    }
}

fn document(text: &str) -> Value {
    serde_json::to_value(toml::from_str::<toml::Table>(text).unwrap()).unwrap()
}

#[test]
fn what_has_every_field_is_accepted() {
    for case in CASES {
        let (file, text) = (case.file, case.text());
        assert!((case.whole)(&text), "{file:?}");
        let (schema, document) = (file.schema(), document(&text));
        let validator = jsonschema::validator_for(schema.as_value()).unwrap();
        assert_eq!(validator.iter_errors(&document).map(|error| error.to_string()).collect::<Vec<_>>(), [""; 0]);
        let left_out = |path: &String| !holds(&document, &path.replace("[]", ".[]").split('.').collect::<Vec<_>>());
        let left_out: Vec<_> = leaves::fields(schema.as_value(), "").into_iter().filter(left_out).collect();
        assert_eq!(left_out, [""; 0], "the text of {file:?} has not every field");
    }
}

/// Whether `value` has something at `path`: `*` is any name, `[]` any place in a list, and the last step may be the word
/// that stands there.
fn holds(value: &Value, path: &[&str]) -> bool {
    let [step, rest @ ..] = path else { return true };
    match (*step, value) {
        ("*", Value::Object(fields)) => fields.values().any(|value| holds(value, rest)),
        ("[]", Value::Array(list)) => list.iter().any(|value| holds(value, rest)),
        (word, Value::String(text)) => rest.is_empty() && word == text,
        (name, Value::Object(fields)) => fields.get(name).is_some_and(|value| holds(value, rest)),
        _ => false,
    }
}

proptest! {
    #[test]
    fn schema_and_parser_agree(
        case in 0..CASES.len(),
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), change()), 1..3),
    ) {
        let Case { file, types, whole, .. } = &CASES[case];
        let mut document = document(&CASES[case].text());
        for (place, change) in &changes {
            let pointers = pointers(&document);
            let pointer: &String = place.get(&pointers);
            apply(&mut document, pointer, change);
        }
        let text = toml::to_string(&document).unwrap();
        let accepted = jsonschema::validator_for(file.schema().as_value()).unwrap().is_valid(&document);
        prop_assert!(!accepted || types(&text), "the schema of {:?} accepts what cannot be read:\n{}", file, text);
        prop_assert!(accepted || !whole(&text), "the schema of {:?} refuses what can be read:\n{}", file, text);
    }
}
