//! How much work it is to check a value against a schema.
//!
//! References let a small schema stand for a huge one: thirty definitions that each name the next one twice take a
//! billion steps. A validator cannot be stopped in the middle, so the steps are counted before it begins.

use serde_json::Value;

/// The most steps, some ten milliseconds; honest schemas and values take a few thousand.
const MOST_STEPS: u32 = 1_000_000;

/// How deep steps may nest. A reference that leads to itself without going into the value ends here.
const MOST_DEPTH: u32 = 400;

/// Whether `schema` refers to parts of itself. Without that, the work is bounded by the sizes of schema and value.
pub(crate) fn has_references(schema: &Value) -> bool {
    match schema {
        Value::Object(map) => map.contains_key("$ref") || map.values().any(has_references),
        Value::Array(items) => items.iter().any(has_references),
        _ => false,
    }
}

/// What in `schema` would make references lead elsewhere than to a JSON Pointer from its root; only those are counted.
pub(crate) fn unsupported_reference(schema: &Value) -> Option<String> {
    fn search(schema: &Value, is_root: bool) -> Option<String> {
        let map = match schema {
            Value::Object(map) => map,
            Value::Array(items) => return items.iter().find_map(|item| search(item, false)),
            _ => return None,
        };
        let text = |key: &str| map.get(key).and_then(Value::as_str);
        if let Some(target) = text("$ref").filter(|target| *target != "#" && !target.starts_with("#/")) {
            return Some(format!("`$ref` leads to `{target}`; it has to begin with `#/`"));
        }
        for key in ["$dynamicRef", "$recursiveRef"] {
            if text(key).is_some() {
                return Some(format!("`{key}` is not supported; use `$ref`"));
            }
        }
        if !is_root && text("$id").is_some() {
            return Some("`$id` is supported at the root only".into());
        }
        map.values().find_map(|value| search(value, false))
    }
    search(schema, true)
}

/// Whether checking `value` against `schema` takes at most [`MOST_STEPS`].
pub(crate) fn is_bounded(schema: &Value, value: &Value) -> bool {
    Work { root: schema, left: MOST_STEPS }.visit(schema, value, 0).is_some()
}

struct Work<'a> {
    root: &'a Value,
    left: u32,
}

impl<'a> Work<'a> {
    /// Counts the steps of one schema over one value; `None` when there are too many.
    fn visit(&mut self, schema: &'a Value, value: &Value, depth: u32) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        if depth > MOST_DEPTH {
            return None;
        }
        for (key, part) in schema.as_object().into_iter().flatten() {
            self.keyword(key, part, value, depth + 1)?;
        }
        Some(())
    }

    fn keyword(&mut self, key: &str, part: &'a Value, value: &Value, depth: u32) -> Option<()> {
        match key {
            "$ref" => match self.target(part) {
                Some(target) => self.visit(target, value, depth),
                None => Some(()),
            },
            "not" | "if" | "then" | "else" => self.visit(part, value, depth),
            "allOf" | "anyOf" | "oneOf" => {
                part.as_array().into_iter().flatten().try_for_each(|schema| self.visit(schema, value, depth))
            }
            "dependentSchemas" => {
                part.as_object().into_iter().flatten().try_for_each(|(_, schema)| self.visit(schema, value, depth))
            }
            "properties" => {
                part.as_object().into_iter().flatten().try_for_each(|(name, schema)| match value.get(name) {
                    Some(inner) => self.visit(schema, inner, depth),
                    None => Some(()),
                })
            }
            "patternProperties" => {
                part.as_object().into_iter().flatten().try_for_each(|(_, schema)| self.members(schema, value, depth))
            }
            "additionalProperties" | "unevaluatedProperties" | "propertyNames" => self.members(part, value, depth),
            "items" | "prefixItems" | "additionalItems" | "unevaluatedItems" | "contains" => match part {
                Value::Array(schemas) => schemas.iter().try_for_each(|schema| self.members(schema, value, depth)),
                schema => self.members(schema, value, depth),
            },
            _ => Some(()),
        }
    }

    /// Counts the steps of one schema over everything that is directly inside a value.
    fn members(&mut self, schema: &'a Value, value: &Value, depth: u32) -> Option<()> {
        match value {
            Value::Array(items) => items.iter().try_for_each(|item| self.visit(schema, item, depth)),
            Value::Object(map) => map.values().try_for_each(|item| self.visit(schema, item, depth)),
            _ => Some(()),
        }
    }

    fn target(&self, reference: &Value) -> Option<&'a Value> {
        let pointer = reference.as_str()?.strip_prefix('#')?;
        self.root.pointer(&pointer.replace("%25", "%").replace("%24", "$"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn doubling_references_are_too_much_work() {
        let mut definitions = serde_json::Map::new();
        for i in 0..34 {
            let next = json!({"$ref": format!("#/$defs/d{}", i + 1)});
            definitions.insert(format!("d{i}"), json!({"allOf": [next, next]}));
        }
        definitions.insert("d34".into(), json!({"type": "string"}));
        let schema = json!({"$defs": definitions, "properties": {"x": {"$ref": "#/$defs/d0"}}});
        assert!(!is_bounded(&schema, &json!({"x": "a"})));
        assert!(is_bounded(&schema, &json!({})));
    }

    #[test]
    fn doubling_recursion_is_too_much_work_for_a_deep_value_only() {
        let twice = json!({"allOf": [{"$ref": "#"}, {"$ref": "#"}]});
        let schema = json!({"type": "object", "properties": {"next": twice}});
        let nested = |depth: u32| (0..depth).fold(json!({}), |inner, _| json!({"next": inner}));
        assert!(is_bounded(&schema, &nested(8)));
        assert!(!is_bounded(&schema, &nested(60)));
    }

    #[test]
    fn a_reference_to_itself_is_too_much_work() {
        assert!(!is_bounded(&json!({"$ref": "#"}), &json!({})));
    }

    #[test]
    fn honest_recursion_is_little_work() {
        let tree = json!({"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#"}}}});
        let wide = json!({"children": vec![json!({"children": [{}, {}]}); 1000]});
        assert!(is_bounded(&tree, &wide));
    }

    #[test]
    fn references_that_lead_elsewhere_are_named() {
        for (schema, part) in [
            (json!({"properties": {"a": {"$ref": "http://x/y"}}}), "http://x/y"),
            (json!({"properties": {"a": {"$ref": "#anchor"}}}), "#anchor"),
            (json!({"$dynamicRef": "#a"}), "$dynamicRef"),
            (json!({"$defs": {"a": {"$id": "http://x"}}}), "$id"),
        ] {
            assert!(unsupported_reference(&schema).unwrap().contains(part));
        }
        assert_eq!(unsupported_reference(&json!({"$id": "x", "$ref": "#/$defs/a"})), None);
    }
}
