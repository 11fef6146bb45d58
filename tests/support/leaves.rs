//! What a published schema says that can be written. The schemas' own tests use it as well.

use std::collections::BTreeSet;

use serde_json::Value;

/// The fields below `path` that hold a value: `.` leads into a table, `.*` into one with any names, `[]` into a list. Of
/// several forms each is a field.
pub(crate) fn fields(schema: &Value, path: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        found.extend(fields(field, &path));
    }
    if schema["additionalProperties"].is_object() {
        found.extend(fields(&schema["additionalProperties"], &format!("{path}.*")));
    }
    if schema["items"].is_object() {
        found.extend(fields(&schema["items"], &format!("{path}[]")));
    }
    let forms = schema["oneOf"].as_array().into_iter().flatten().collect::<Vec<_>>();
    if forms.iter().any(|form| form["properties"].is_object()) {
        for form in forms {
            match form["const"].as_str() {
                Some(word) => drop(found.insert(format!("{path}.{word}"))),
                None => found.extend(fields(form, path)),
            }
        }
    }
    if found.is_empty() {
        found.insert(path.to_owned());
    }
    found
}
