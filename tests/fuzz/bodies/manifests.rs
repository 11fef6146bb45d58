//! Manifests: as an author writes them, and as they stand in a package.

use std::sync::LazyLock;

use jsonschema::Validator;
use ringfence_package::{Manifest, PackageInfo};
use toml::{Table, Value};

/// What editors are told about `ringfence.toml`.
static SCHEMA: LazyLock<Validator> = LazyLock::new(|| {
    let schema = serde_json::to_value(schemars::schema_for!(PackageInfo)).expect("a schema is JSON");
    jsonschema::validator_for(&schema).expect("and can be used")
});

/// `input` is a manifest, in TOML or in JSON.
pub fn run(input: &[u8]) {
    if let Ok(text) = std::str::from_utf8(input) {
        authored(text);
    }
    if let Ok(manifest) = Manifest::parse(input) {
        let written = manifest.to_bytes().expect("what was read can be written");
        assert_eq!(Manifest::parse(&written).expect("and read again"), manifest);
    }
}

fn authored(text: &str) {
    let Ok(info) = PackageInfo::parse(text) else { return };
    let written = info.to_toml().expect("what was read can be written");
    assert_eq!(PackageInfo::parse(&written).expect("and read again"), info);
    let document: Table = toml::from_str(text).expect("it was read");
    let as_json = serde_json::to_value(&document).expect("TOML is JSON");
    assert!(SCHEMA.is_valid(&as_json), "an editor would find a mistake in what is none: {as_json}");
    let mut places = 0;
    count_tables(&Value::Table(document.clone()), &mut places);
    for place in 0..places {
        let mut strange = Value::Table(document.clone());
        add_name(&mut strange, &mut place.clone());
        let text = toml::to_string(&strange).expect("it can be written");
        assert!(PackageInfo::parse(&text).is_err(), "a name that does not exist was read: {text}");
    }
}

fn count_tables(value: &Value, count: &mut usize) {
    match value {
        Value::Table(table) => {
            *count += 1;
            table.values().for_each(|value| count_tables(value, count));
        }
        Value::Array(list) => list.iter().for_each(|value| count_tables(value, count)),
        _ => {}
    }
}

/// Adds a name to the table number `place`. Its value is none where names are free.
fn add_name(value: &mut Value, place: &mut usize) -> bool {
    match value {
        Value::Table(table) if *place == 0 => {
            table.insert("no-such-name".into(), Value::Table(Table::new()));
            true
        }
        Value::Table(table) => {
            *place -= 1;
            table.iter_mut().any(|(_, value)| add_name(value, place))
        }
        Value::Array(list) => list.iter_mut().any(|value| add_name(value, place)),
        _ => false,
    }
}
