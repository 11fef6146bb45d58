//! How much work it is to check a value against a schema.
//!
//! References let a small schema stand for a huge one: thirty definitions that each name the next one twice take a
//! billion steps. So does a long list whose every item is one of ten thousand words, or a long text under a thousand
//! patterns. A validator cannot be stopped in the middle, so the steps are counted before it begins.

use serde_json::Value;

use crate::schema_references;

/// The steps that any value may take, some ten milliseconds; honest schemas and values take a few thousand.
const STEPS_FOR_ANY: u64 = 1_000_000;

/// How many more steps a large value may take for each that it takes to look at it once. Honest schemas take about one.
const STEPS_BY_WEIGHT: u64 = 16;

/// How much text is looked at in one step, in bytes.
const TEXT_OF_A_STEP: usize = 64;

/// How deep steps may nest. A reference that leads to itself without going into the value ends here.
const MOST_DEPTH: u32 = 400;

/// A schema, and what is known of its work before there is a value.
pub(crate) struct Measured {
    schema: Value,
    /// The most steps for each step's worth of a value; `None` for a schema that refers to parts of itself.
    weight: Option<u64>,
}

impl Measured {
    pub(crate) fn new(schema: &Value) -> Self {
        Self { schema: schema.clone(), weight: (!has_references(schema)).then(|| weight(schema)) }
    }

    /// Whether checking `value` takes at most `most` steps.
    pub(crate) fn is_within(&self, most: u64, value: &Value) -> bool {
        steps(&self.schema, value, most).is_some()
    }

    /// Whether checking `value` is little enough work.
    pub(crate) fn is_bounded(&self, value: &Value) -> bool {
        let size = weight(value);
        let most = STEPS_FOR_ANY + STEPS_BY_WEIGHT * size;
        // Without references each part of the schema looks at each part of the value at most once.
        let surely = |own: u64| own.saturating_mul(size) <= most;
        self.weight.is_some_and(surely) || steps(&self.schema, value, most).is_some()
    }
}

/// The steps that it takes to look at all of `value`.
fn weight(value: &Value) -> u64 {
    match value {
        Value::String(string) => text_weight(string),
        Value::Array(items) => 1 + items.iter().map(weight).sum::<u64>(),
        Value::Object(members) => 1 + members.iter().map(|(key, value)| text_weight(key) + weight(value)).sum::<u64>(),
        _ => 1,
    }
}

fn text_weight(text: &str) -> u64 {
    1 + (text.len() / TEXT_OF_A_STEP) as u64
}

fn has_references(schema: &Value) -> bool {
    match schema {
        Value::Object(map) => map.contains_key("$ref") || map.values().any(has_references),
        Value::Array(items) => items.iter().any(has_references),
        _ => false,
    }
}

/// The steps of checking `value` against `schema`; `None` when there are more than `most`.
fn steps(schema: &Value, value: &Value, most: u64) -> Option<u64> {
    let mut work = Work { root: schema, left: most };
    work.visit(schema, value, 0)?;
    Some(most - work.left)
}

struct Work<'a> {
    root: &'a Value,
    left: u64,
}

impl<'a> Work<'a> {
    /// Counts the steps of one schema over one value; `None` when there are too many.
    fn visit(&mut self, schema: &'a Value, value: &Value, depth: u32) -> Option<()> {
        self.take(1)?;
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
            // A reference to nothing leads nowhere: the schema does not compile.
            "$ref" => self.visit(schema_references::target(self.root, part.as_str()?)?, value, depth),
            "not" | "if" | "then" | "else" => self.visit(part, value, depth),
            "allOf" | "anyOf" | "oneOf" => {
                part.as_array().into_iter().flatten().try_for_each(|schema| self.visit(schema, value, depth))
            }
            // In `dependencies` a list stands for `required`.
            "dependentSchemas" | "dependencies" => {
                part.as_object().into_iter().flatten().try_for_each(|(_, schema)| match schema {
                    Value::Array(_) => self.take(weight(schema)),
                    schema => self.visit(schema, value, depth),
                })
            }
            "properties" => {
                part.as_object().into_iter().flatten().try_for_each(|(name, schema)| match value.get(name) {
                    Some(inner) => self.visit(schema, inner, depth),
                    None => self.take(1),
                })
            }
            "patternProperties" => {
                part.as_object().into_iter().flatten().try_for_each(|(_, schema)| self.members(schema, value, depth))
            }
            "propertyNames" => self.names(part, value, depth),
            "additionalProperties" => self.members(part, value, depth),
            "items" | "prefixItems" | "additionalItems" | "contains" => match part {
                Value::Array(schemas) => schemas.iter().try_for_each(|schema| self.members(schema, value, depth)),
                schema => self.members(schema, value, depth),
            },
            "enum" | "const" | "required" | "dependentRequired" => self.take(weight(part)),
            "pattern" | "format" | "minLength" | "maxLength" | "uniqueItems" | "contentEncoding"
            | "contentMediaType" => self.take(weight(value)),
            _ => Some(()),
        }
    }

    fn take(&mut self, steps: u64) -> Option<()> {
        self.left = self.left.checked_sub(steps)?;
        Some(())
    }

    /// Counts the steps of one schema over everything that is directly inside a value. What a member is called is looked
    /// at as well: it may be held against a pattern.
    fn members(&mut self, schema: &'a Value, value: &Value, depth: u32) -> Option<()> {
        match value {
            Value::Array(items) => items.iter().try_for_each(|item| self.visit(schema, item, depth)),
            Value::Object(map) => map.iter().try_for_each(|(name, item)| {
                self.take(text_weight(name))?;
                self.visit(schema, item, depth)
            }),
            _ => Some(()),
        }
    }

    /// Counts the steps of one schema over the names of all members.
    fn names(&mut self, schema: &'a Value, value: &Value, depth: u32) -> Option<()> {
        value.as_object().into_iter().flatten().try_for_each(|(name, _)| {
            self.take(text_weight(name))?;
            self.visit(schema, &Value::String(name.clone()), depth)
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn is_bounded(schema: &Value, value: &Value) -> bool {
        Measured::new(schema).is_bounded(value)
    }

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
    fn a_long_list_of_one_of_many_words_is_too_much_work() {
        let words: Vec<String> = (0..10_000).map(|i| format!("word{i}")).collect();
        for schema in [
            json!({"properties": {"x": {"items": {"enum": words}}}}),
            json!({"properties": {"x": {"items": {"anyOf": words.iter().map(|w| json!({"const": w})).collect::<Value>()}}}}),
        ] {
            assert!(!is_bounded(&schema, &json!({"x": vec!["no"; 100_000]})));
            assert!(is_bounded(&schema, &json!({"x": vec!["no"; 50]})));
        }
    }

    #[test]
    fn a_long_text_under_many_patterns_is_too_much_work() {
        let patterns: Value = (0..1000).map(|i| json!({"pattern": format!("a{i}b")})).collect();
        let schema = json!({"properties": {"x": {"allOf": patterns}}});
        assert!(!is_bounded(&schema, &json!({"x": "a".repeat(1 << 20)})));
        assert!(is_bounded(&schema, &json!({"x": "a".repeat(1 << 10)})));
    }

    #[test]
    fn a_long_name_under_many_patterns_is_too_much_work() {
        let patterns: Value = (0..1000).map(|i| (format!("a{i}b"), json!({}))).collect();
        let names: Value = (0..1000).map(|i| json!({"pattern": format!("a{i}b")})).collect();
        for rule in [
            json!({"patternProperties": patterns}),
            json!({"propertyNames": {"allOf": names}}),
            json!({"allOf": vec![json!({"propertyNames": {}}); 1000]}),
            json!({"allOf": vec![json!({"additionalProperties": {}}); 1000]}),
        ] {
            let schema = json!({"properties": {"x": rule}});
            assert!(!is_bounded(&schema, &json!({"x": {"a".repeat(8 << 20): 1}})), "{schema:.100}");
            assert!(is_bounded(&schema, &json!({"x": {"a".repeat(1 << 10): 1}})), "{schema:.100}");
        }
    }

    #[test]
    fn doubling_dependencies_are_too_much_work() {
        let twice = |i: u32| {
            let next = json!({"$ref": format!("#/$defs/d{}", i + 1)});
            (format!("d{i}"), json!({"dependencies": {"a": next, "b": next, "c": ["a"]}}))
        };
        let mut definitions: serde_json::Map<String, Value> = (0..34).map(twice).collect();
        definitions.insert("d34".into(), json!({}));
        let schema = json!({"$defs": definitions, "$ref": "#/$defs/d0"});
        assert!(!is_bounded(&schema, &json!({"a": 1, "b": 1})));
    }

    #[test]
    fn many_names_that_are_absent_are_looked_for_all_the_same() {
        let names: Value = (0..10_000).map(|i| (format!("name{i}"), json!({}))).collect();
        let schema = json!({"properties": {"x": {"items": {"properties": names}}}});
        assert!(!is_bounded(&schema, &json!({"x": vec![json!({}); 100_000]})));
        assert!(is_bounded(&schema, &json!({"x": vec![json!({}); 50]})));
    }

    #[test]
    fn a_reference_is_followed_however_it_is_spelled() {
        let twice = |i: u32| {
            let next = format!("#/$de%66s/d/{:02}", i + 1);
            json!({"allOf": [{"$ref": next}, {"$ref": next}]})
        };
        let mut links: Vec<Value> = (0..34).map(twice).collect();
        links.push(json!({}));
        assert!(!is_bounded(&json!({"$defs": {"d": links}, "$ref": "#/$defs/d/0"}), &json!({})));
    }

    #[test]
    fn a_long_text_under_an_ordinary_schema_is_little_work() {
        let schema = json!({"type": "object", "properties": {"x": {"type": "string", "maxLength": 20_000_000}}});
        assert!(is_bounded(&schema, &json!({"x": "a".repeat(8 << 20)})));
        assert!(is_bounded(&schema, &json!({"x": vec!["a"; 100_000]})));
        let fields: Value =
            ["a", "b", "c", "d", "e"].map(|name| (name.to_owned(), json!({"type": "integer"}))).into_iter().collect();
        let rows = json!({"items": {"type": "object", "properties": fields, "required": ["a", "b", "c", "d", "e"]}});
        let row = json!({"a": 1, "b": 2, "c": 3, "d": 4, "e": 5});
        assert!(is_bounded(&json!({"properties": {"x": rows}}), &json!({"x": vec![row; 200_000]})));
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf =
            prop_oneof![Just(json!(null)), any::<i32>().prop_map(Value::from), "[ab]{0,200}".prop_map(Value::from)];
        leaf.prop_recursive(3, 30, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::hash_map("[ab]|[ab]{100,200}", inner, 0..3).prop_map(|map| map.into_iter().collect()),
            ]
        })
    }

    fn schema() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(json!({"type": "string", "pattern": "a+", "maxLength": 9})),
            Just(json!({"enum": ["a", "b", 1], "uniqueItems": true})),
            Just(json!({"required": ["a", "b"], "const": "a"})),
        ];
        leaf.prop_recursive(4, 30, 4, |inner| {
            let schemas = prop::collection::vec(inner.clone(), 1..4).prop_map(Value::from);
            prop_oneof![
                inner.clone().prop_map(|s| json!({"items": s, "additionalProperties": true})),
                inner.clone().prop_map(|s| json!({"additionalProperties": s, "minLength": 1})),
                inner.clone().prop_map(|s| json!({"patternProperties": {"a": s, "b+": s}, "propertyNames": s})),
                inner.clone().prop_map(|s| json!({"dependencies": {"a": s, "b": ["a", "b"]}})),
                (inner.clone(), inner.clone()).prop_map(|(a, b)| json!({"properties": {"a": a, "b": b}})),
                inner.prop_map(|s| json!({"not": s})),
                schemas.clone().prop_map(|s| json!({"anyOf": s})),
                schemas.prop_map(|s| json!({"prefixItems": s})),
            ]
        })
    }

    proptest! {
        /// The short way never lets through what the long way would not.
        #[test]
        fn the_product_of_the_weights_is_an_upper_bound(schema in schema(), value in value()) {
            let steps = steps(&schema, &value, u64::MAX).unwrap();
            prop_assert!(steps <= weight(&schema) * weight(&value), "{steps}");
        }
    }
}
