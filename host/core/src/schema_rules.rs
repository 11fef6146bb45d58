//! The rules that a parameter schema has to keep to be registered, and how a schema is compiled.
//!
//! The five rules are those of IronClaw's `validate_tool_schema`: (1) the root is an object; (2) it has `properties`;
//! (3) what is `required` is among them; (4) nested objects keep the same rules; (5) arrays say what their items are.
//! Rules 1 to 4 are errors, rule 5 is a warning. A property without a type is free.

use std::fmt;

use jsonschema::{PatternOptions, Validator};
use serde_json::{Map, Value};

use crate::schema_references;
use crate::tool::ToolSpec;

/// How deep a schema is followed. serde_json itself refuses to parse deeper texts.
const MAX_DEPTH: usize = 128;

/// The most memory, in bytes, that one compiled `pattern` of a stranger's schema may take.
const MAX_PATTERN_SIZE: usize = 1 << 20;

/// One thing that is wrong with a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaProblem {
    /// Where in the schema, as a JSON Pointer.
    pub path: String,
    /// The rule, 1 to 5; 0 when the schema cannot be compiled at all.
    pub rule: u8,
    /// What is wrong.
    pub message: String,
}

impl SchemaProblem {
    /// Whether the tool can be registered all the same.
    pub fn is_warning(&self) -> bool {
        self.rule == 5
    }
}

impl fmt::Display for SchemaProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() { "the root" } else { &self.path };
        write!(f, "{path}: {}", self.message)
    }
}

/// Everything that the five rules find in `schema`, all at once.
pub fn check(schema: &Value) -> Vec<SchemaProblem> {
    let mut problems = Vec::new();
    match schema.as_object() {
        Some(root) => check_object(root, "", &mut problems, 0),
        None => problems.push(problem("", 1, "a parameter schema is a JSON object")),
    }
    problems
}

/// Why the schemas of `spec` cannot be registered; empty when they can. Warnings are not among it.
pub(crate) fn errors(spec: &ToolSpec) -> Vec<SchemaProblem> {
    let mut problems = check(&spec.parameters);
    problems.extend(unbounded(spec));
    problems.retain(|problem| !problem.is_warning());
    problems
}

/// What in the schemas keeps the work of checking from being bounded.
fn unbounded(spec: &ToolSpec) -> impl Iterator<Item = SchemaProblem> {
    schemas(spec).filter_map(|(path, schema)| {
        let message = schema_references::unsupported(schema)?;
        Some(SchemaProblem { path: path.into(), rule: 0, message })
    })
}

/// Everything that keeps `spec` from being installed: broken rules and schemas that cannot be compiled.
///
/// Installation compiles the schemas to know that they can be; later starts rely on that.
pub fn inspect(spec: &ToolSpec) -> Vec<SchemaProblem> {
    let mut problems = check(&spec.parameters);
    let unbounded: Vec<SchemaProblem> = unbounded(spec).collect();
    // To compile such a schema may take as much as to check against it.
    if unbounded.is_empty() {
        problems.extend(uncompilable(spec));
    }
    problems.extend(unbounded);
    problems
}

fn uncompilable(spec: &ToolSpec) -> impl Iterator<Item = SchemaProblem> {
    schemas(spec).filter_map(|(path, schema)| {
        let message = compile(schema).err()?;
        Some(SchemaProblem { path: path.into(), rule: 0, message })
    })
}

/// The schemas of `spec`, each with what problems call it.
fn schemas(spec: &ToolSpec) -> impl Iterator<Item = (&'static str, &Value)> {
    [("", &spec.parameters)].into_iter().chain(spec.output_schema.as_ref().map(|schema| ("output", schema)))
}

/// Compiles a stranger's schema: nothing is fetched, and patterns are matched in linear time.
pub(crate) fn compile(schema: &Value) -> Result<Validator, String> {
    jsonschema::options()
        .with_pattern_options(PatternOptions::regex().size_limit(MAX_PATTERN_SIZE))
        .build(schema)
        .map_err(|error| format!("it cannot be compiled: {error}"))
}

fn check_object(object: &Map<String, Value>, path: &str, problems: &mut Vec<SchemaProblem>, depth: usize) {
    if depth > MAX_DEPTH {
        problems.push(problem(path, 4, "it is nested too deeply"));
        return;
    }
    if object.get("type").and_then(Value::as_str) != Some("object") {
        problems.push(problem(path, 1, "`type` has to be \"object\""));
    }
    let Some(properties) = object.get("properties").and_then(Value::as_object) else {
        problems.push(problem(path, 2, "`properties` has to be there, as an object"));
        return;
    };
    for name in object.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
        if !properties.contains_key(name) {
            problems.push(problem(path, 3, &format!("`{name}` is required but not among `properties`")));
        }
    }
    for (name, property) in properties {
        let place = format!("{path}/properties/{}", escape(name));
        check_nested(property, &place, problems, depth + 1);
    }
}

fn check_nested(schema: &Value, path: &str, problems: &mut Vec<SchemaProblem>, depth: usize) {
    match (schema.get("type").and_then(Value::as_str), schema) {
        (Some("object"), Value::Object(object)) if !is_open_map(object) => check_object(object, path, problems, depth),
        (Some("array"), Value::Object(object)) => match object.get("items").or_else(|| object.get("prefixItems")) {
            Some(items) if depth <= MAX_DEPTH => check_nested(items, &format!("{path}/items"), problems, depth + 1),
            Some(_) => problems.push(problem(path, 4, "it is nested too deeply")),
            None => problems.push(problem(path, 5, "an array should say what its `items` are")),
        },
        _ => {}
    }
}

/// A map from any key to values of one schema has nothing to list under `properties`.
fn is_open_map(object: &Map<String, Value>) -> bool {
    !object.contains_key("properties")
        && object.get("additionalProperties").is_some_and(|extra| *extra != Value::Bool(false))
}

/// One token of a JSON Pointer (RFC 6901, section 3).
fn escape(token: &str) -> String {
    token.replace('~', "~0").replace('/', "~1")
}

fn problem(path: &str, rule: u8, message: &str) -> SchemaProblem {
    SchemaProblem { path: path.to_owned(), rule, message: message.to_owned() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn rules(schema: Value) -> Vec<u8> {
        check(&schema).iter().map(|problem| problem.rule).collect()
    }

    #[test]
    fn each_rule_is_found() {
        assert_eq!(rules(json!({"type": "object", "properties": {}})), [] as [u8; 0]);
        assert_eq!(rules(json!([])), [1]);
        assert_eq!(rules(json!({"type": "string", "properties": {}})), [1]);
        assert_eq!(rules(json!({"type": "object"})), [2]);
        assert_eq!(rules(json!({"type": "object", "properties": {}, "required": ["a"]})), [3]);
        assert_eq!(rules(json!({"type": "object", "properties": {"a": {"type": "object"}}})), [2]);
        assert_eq!(rules(json!({"type": "object", "properties": {"a": {"type": "array"}}})), [5]);
    }

    #[test]
    fn all_problems_are_reported_at_once_with_their_place() {
        let problems = check(&json!({
            "type": "object",
            "required": ["x"],
            "properties": {"a/b": {"type": "array", "items": {"type": "object"}}},
        }));
        let texts: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(
            texts,
            [
                "the root: `x` is required but not among `properties`",
                "/properties/a~1b/items: `properties` has to be there, as an object",
            ]
        );
    }

    #[test]
    fn free_properties_and_open_maps_are_right() {
        let free = json!({"type": "object", "properties": {
            "any": {"description": "anything"},
            "map": {"type": "object", "additionalProperties": {"type": "string"}},
        }});
        assert!(check(&free).is_empty());
    }

    #[test]
    fn a_remote_reference_cannot_be_compiled() {
        let spec = ToolSpec {
            parameters: json!({"type": "object", "properties": {"a": {"$ref": "http://example.com/x.json"}}}),
            ..ToolSpec::default()
        };
        let found = inspect(&spec);
        assert!(!found.is_empty() && found.iter().all(|problem| problem.rule == 0), "{found:?}");
    }

    #[test]
    fn what_cannot_be_counted_is_not_compiled_either() {
        let mut definitions = Map::new();
        for i in 0..40 {
            let next = json!({"$ref": format!("#/$defs/d{}", i + 1)});
            definitions.insert(format!("d{i}"), json!({"allOf": [next, next]}));
        }
        definitions.insert("d40".into(), json!({"properties": {"a": {}}}));
        let schema = json!({
            "type": "object", "properties": {}, "$defs": definitions,
            "$ref": "#/$defs/d0", "unevaluatedProperties": false,
        });
        let parameters = ToolSpec { parameters: schema.clone(), ..ToolSpec::default() };
        let plain = json!({"type": "object", "properties": {}});
        let output = ToolSpec { parameters: plain, output_schema: Some(schema), ..ToolSpec::default() };
        for spec in [parameters, output] {
            let found = inspect(&spec);
            assert!(found.len() == 1 && found[0].message.contains("use `additionalProperties`"), "{found:?}");
            assert_eq!(errors(&spec), found);
        }
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            "(object|array|string|a|b)".prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 40, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("(type|properties|required|items|a|b)", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn no_schema_makes_the_check_panic(schema in any_json()) {
            let spec = ToolSpec { parameters: schema, ..ToolSpec::default() };
            inspect(&spec);
        }
    }
}
