//! Where the references in a schema lead, and what a schema must not hold for the work of checking to be countable.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::grant::lenient_decode;

/// What `reference` leads to below `root`, read as the validator reads it; `None` for nothing.
pub(crate) fn target<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let pointer = lenient_decode(reference.strip_prefix('#')?).ok()?;
    if pointer.is_empty() {
        return Some(root);
    }
    pointer.strip_prefix('/')?.split('/').try_fold(root, |place, token| match place {
        Value::Array(items) => items.get(token.parse::<usize>().ok()?),
        other => other.get(unescape(token).as_ref()),
    })
}

/// One token of a JSON Pointer (RFC 6901, section 4).
fn unescape(token: &str) -> Cow<'_, str> {
    if token.contains('~') { token.replace("~1", "/").replace("~0", "~").into() } else { token.into() }
}

/// What in `schema` keeps the work of checking from being counted: references that lead elsewhere than to a JSON Pointer
/// from its root, and keywords that check again what others have checked.
///
/// Only schemas are looked at, so a property may have any name, and an example may hold anything; but whatever a
/// reference leads to is a schema as well.
pub(crate) fn unsupported(schema: &Value) -> Option<String> {
    let is_draft_4 = schema.get("$schema").and_then(Value::as_str).is_some_and(|draft| draft.contains("draft-04"));
    let id = if is_draft_4 { "id" } else { "$id" };
    let mut search = Search { id, followed: BTreeSet::new(), targets: Vec::new() };
    let mut problem = search.schema(schema, true);
    while problem.is_none()
        && let Some(reference) = search.targets.pop()
    {
        // One that leads to nothing is told of when the schema is compiled.
        problem = target(schema, reference).and_then(|schema| search.schema(schema, false));
    }
    problem
}

struct Search<'a> {
    /// What its draft calls the keyword from which references are read anew.
    id: &'static str,
    /// The references whose targets were looked at, or will be.
    followed: BTreeSet<&'a str>,
    targets: Vec<&'a str>,
}

impl<'a> Search<'a> {
    fn schema(&mut self, schema: &'a Value, is_root: bool) -> Option<String> {
        let map = schema.as_object()?;
        self.own(map, is_root).or_else(|| map.iter().find_map(|(key, part)| self.part(key, part)))
    }

    /// What is wrong with the keywords themselves.
    fn own(&mut self, map: &'a Map<String, Value>, is_root: bool) -> Option<String> {
        let text = |key: &str| map.get(key).and_then(Value::as_str);
        if let Some(target) = text("$ref") {
            if target != "#" && !target.starts_with("#/") {
                return Some(format!("`$ref` leads to `{target}`; it has to begin with `#/`"));
            }
            if target != "#" && self.followed.insert(target) {
                self.targets.push(target);
            }
        }
        for key in ["$dynamicRef", "$recursiveRef"] {
            if map.contains_key(key) {
                return Some(format!("`{key}` is not supported; use `$ref`"));
            }
        }
        for (key, instead) in [("unevaluatedProperties", "additionalProperties"), ("unevaluatedItems", "items")] {
            if map.contains_key(key) {
                return Some(format!("`{key}` is not supported; use `{instead}` where the others are listed"));
            }
        }
        let moves = !is_root && text(self.id).is_some();
        moves.then(|| format!("`{}` is supported at the root only", self.id))
    }

    /// What is wrong with the schemas that are the value of a keyword.
    fn part(&mut self, key: &str, part: &'a Value) -> Option<String> {
        match (key, part) {
            ("enum" | "const" | "default" | "examples", _) => None,
            (
                "properties" | "patternProperties" | "dependentSchemas" | "dependencies" | "$defs" | "definitions",
                Value::Object(schemas),
            ) => schemas.values().find_map(|schema| self.schema(schema, false)),
            (_, Value::Array(schemas)) => schemas.iter().find_map(|schema| self.schema(schema, false)),
            (_, schema) => self.schema(schema, false),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_cannot_be_counted_is_named() {
        for (schema, part) in [
            (json!({"properties": {"a": {"$ref": "http://x/y"}}}), "http://x/y"),
            (json!({"properties": {"a": {"$ref": "#anchor"}}}), "#anchor"),
            (json!({"$dynamicRef": "#a"}), "$dynamicRef"),
            (json!({"$defs": {"a": {"$id": "http://x"}}}), "$id"),
            (json!({"$schema": "http://json-schema.org/draft-04/schema#", "items": {"id": "http://x"}}), "`id`"),
            (json!({"unevaluatedProperties": false}), "use `additionalProperties`"),
            (json!({"properties": {"a": {"items": [{"unevaluatedItems": {}}]}}}), "use `items`"),
            (json!({"dependencies": {"a": {"unevaluatedItems": {}}}}), "use `items`"),
        ] {
            assert!(unsupported(&schema).unwrap().contains(part), "{schema}");
        }
        assert_eq!(unsupported(&json!({"$id": "x", "$ref": "#/$defs/a", "$defs": {"a": true}})), None);
    }

    #[test]
    fn a_property_may_have_any_name_and_an_example_hold_anything() {
        let names =
            json!({"unevaluatedProperties": {}, "unevaluatedItems": true, "$dynamicRef": {}, "$ref": {}, "id": {}});
        let data = json!({"unevaluatedItems": false, "$ref": "http://x", "id": "x"});
        let schema = json!({
            "properties": names, "$defs": names, "default": data, "examples": [data], "enum": [data], "const": data,
        });
        assert_eq!(unsupported(&schema), None);
    }

    #[test]
    fn what_a_reference_leads_to_is_a_schema() {
        let hidden = json!({"unevaluatedItems": false});
        for reference in ["#/default", "#/%64efault", "#/examples/0", "#/examples/00", "#/enum/a~1b"] {
            let schema = json!({
                "properties": {"x": {"$ref": reference}},
                "default": hidden, "examples": [hidden], "enum": {"a/b": hidden},
            });
            assert!(unsupported(&schema).unwrap().contains("unevaluatedItems"), "{reference}");
        }
    }

    #[test]
    fn a_long_chain_of_references_is_followed_to_its_end() {
        let link = |i: u32| (format!("d{i}"), json!({"$ref": format!("#/default/d{}", i + 1)}));
        let mut chain: Map<String, Value> = (0..50_000).map(link).collect();
        let schema = |chain: &Map<String, Value>| json!({"items": {"$ref": "#/default/d0"}, "default": chain});
        assert_eq!(unsupported(&schema(&chain)), None);
        chain.insert("d50000".into(), json!({"unevaluatedItems": false}));
        assert!(unsupported(&schema(&chain)).is_some());
    }
}
