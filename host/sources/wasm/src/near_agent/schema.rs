//! Schemas of components that were written for a host with fewer rules.

use serde_json::{Map, Value, json};

/// How deep a schema is completed; what is deeper is left to the rules, which refuse it.
const MAX_DEPTH: usize = 128;

/// `schema` with what the registration rules want of an object and what no value is refused for: that it is one, and that
/// its properties are listed. A schema without either is common, such as one that is a choice of several objects.
pub(super) fn complete(schema: Value) -> Value {
    match schema {
        Value::Object(mut root) => {
            root.entry("type").or_insert_with(|| json!("object"));
            complete_object(&mut root, 0);
            Value::Object(root)
        }
        other => other,
    }
}

fn complete_object(object: &mut Map<String, Value>, depth: usize) {
    if object.get("type").and_then(Value::as_str) != Some("object") || depth > MAX_DEPTH {
        return;
    }
    let required: Vec<String> =
        object.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(name).collect();
    // An open map has nothing to list.
    let open = depth > 0 && object.get("additionalProperties").is_some_and(|more| *more != Value::Bool(false));
    if open && required.is_empty() && !object.contains_key("properties") {
        return;
    }
    let closed = object.get("additionalProperties") == Some(&Value::Bool(false));
    let properties = object.entry("properties").or_insert_with(|| json!({}));
    let Some(properties) = properties.as_object_mut() else { return };
    if !closed {
        for name in required {
            // Anything, as it was.
            properties.entry(name).or_insert_with(|| json!({}));
        }
    }
    for property in properties.values_mut() {
        complete_nested(property, depth + 1);
    }
}

fn complete_nested(schema: &mut Value, depth: usize) {
    let Some(object) = schema.as_object_mut().filter(|_| depth <= MAX_DEPTH) else { return };
    complete_object(object, depth);
    if let Some(items) = object.get_mut("items") {
        complete_nested(items, depth + 1);
    }
}

fn name(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use ringfence_core::schema_rules;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_missing_is_supplied_and_nothing_else_changes() {
        let choice = json!({"oneOf": [{"properties": {"action": {"const": "get"}}, "required": ["action"]}]});
        let completed = complete(choice.clone());
        assert_eq!(completed["oneOf"], choice["oneOf"]);
        assert_eq!((&completed["type"], &completed["properties"]), (&json!("object"), &json!({})));
        let right = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
        assert_eq!(complete(right.clone()), right);
        let map = json!({"type": "object", "properties": {"a": {"type": "object", "additionalProperties": true}}});
        assert_eq!(complete(map.clone()), map);
        assert_eq!(complete(json!("text")), json!("text"));
    }

    #[test]
    fn what_is_supplied_satisfies_the_rules() {
        for schema in [
            json!({}),
            json!({"type": "object", "required": ["a"]}),
            json!({"properties": {"a": {"type": "object"}, "b": {"type": "array", "items": {"type": "object"}}}}),
            json!({"additionalProperties": true}),
        ] {
            let problems = schema_rules::check(&complete(schema.clone()));
            assert!(problems.is_empty(), "{schema}: {problems:?}");
        }
    }
}
