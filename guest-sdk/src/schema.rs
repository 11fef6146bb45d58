//! JSON schemas of parameters and results.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};

/// The schema of `T`: draft 2020-12, with an object at the root, and without `$ref` unless `T` contains itself.
#[must_use]
pub fn schema_of<T: JsonSchema>() -> String {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    make_object(&mut schema);
    schema.as_value().to_string()
}

/// The schema of a tool that takes no arguments.
#[must_use]
pub fn schema_of_nothing() -> String {
    json!({ "type": "object", "properties": {}, "additionalProperties": false }).to_string()
}

/// Models and hosts want `"type": "object"` and `properties` at the root. A unit struct or an enum has none.
fn make_object(schema: &mut Schema) {
    // The name of the Rust type tells a model nothing.
    schema.remove("title");
    schema.insert("type".to_owned(), json!("object"));
    if !schema.get("properties").is_some_and(Value::is_object) {
        schema.insert("properties".to_owned(), json!({}));
    }
}
