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
    // The Rust type's name and doc comment speak of the type; the tool's own description stands beside the schema.
    schema.remove("title");
    schema.remove("description");
    schema.insert("type".to_owned(), json!("object"));
    if !schema.get("properties").is_some_and(Value::is_object) {
        schema.insert("properties".to_owned(), json!({}));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;

    fn value_of<T: JsonSchema>() -> Value {
        serde_json::from_str(&schema_of::<T>()).expect("a schema is JSON")
    }

    /// A point.
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema matters")]
    struct Point {
        /// From the left.
        x: i64,
        y: Option<u8>,
    }

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema matters")]
    struct Line {
        from: Point,
        to: Point,
        labels: BTreeMap<String, Vec<Point>>,
    }

    #[derive(Deserialize, JsonSchema)]
    struct Nothing;

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema matters")]
    enum Shape {
        Dot(Point),
        Line(Line),
    }

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema matters")]
    struct Tree {
        children: Vec<Tree>,
    }

    #[test]
    fn a_struct_becomes_an_object_with_described_properties() {
        let x = json!({ "type": "integer", "format": "int64", "description": "From the left." });
        let y = json!({ "type": ["integer", "null"], "format": "uint8", "minimum": 0, "maximum": 255 });
        let expected = json!({ "type": "object", "properties": { "x": x, "y": y }, "required": ["x"] });
        assert_eq!(value_of::<Point>(), expected);
    }

    #[test]
    fn types_inside_are_written_out() {
        let schema = schema_of::<Line>();
        assert!(!schema.contains("$ref") && !schema.contains("$defs"), "{schema}");
        assert_eq!(value_of::<Line>()["properties"]["to"]["properties"]["x"]["description"], "From the left.");
    }

    #[test]
    fn the_root_is_an_object_whatever_the_type() {
        for schema in [value_of::<Nothing>(), value_of::<Shape>(), value_of::<Tree>(), value_of::<Value>()] {
            assert_eq!(schema["type"], "object", "{schema}");
            assert!(schema["properties"].is_object(), "{schema}");
        }
        let nothing: Value = serde_json::from_str(&schema_of_nothing()).expect("a schema is JSON");
        assert_eq!(nothing["properties"], json!({}));
    }
}
