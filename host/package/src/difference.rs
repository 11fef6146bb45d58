//! How two lists of tools differ.

use std::collections::HashMap;
use std::fmt;

use ringfence_core::ToolSpec;
use serde_json::Value;

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolChange {
    /// A tool that was not there.
    Added(String),
    /// A tool that is not there any more.
    Removed(String),
    /// A tool that says something else of itself.
    Changed {
        /// The tool.
        tool: String,
        /// The fields that differ.
        fields: Vec<String>,
    },
}

/// What has to be done to `old` to get `new`. A name that occurs a second time counts as added.
pub fn between(old: &[ToolSpec], new: &[ToolSpec]) -> Vec<ToolChange> {
    let mut left: HashMap<&str, &ToolSpec> = old.iter().map(|tool| (tool.name.as_str(), tool)).collect();
    let mut changes = Vec::new();
    for tool in new {
        match left.remove(tool.name.as_str()) {
            Some(before) if before == tool => {}
            Some(before) => changes.push(ToolChange::Changed { tool: tool.name.clone(), fields: fields(before, tool) }),
            None => changes.push(ToolChange::Added(tool.name.clone())),
        }
    }
    let removed = old.iter().filter(|tool| left.contains_key(tool.name.as_str()));
    changes.extend(removed.map(|tool| ToolChange::Removed(tool.name.clone())));
    changes
}

fn fields(before: &ToolSpec, after: &ToolSpec) -> Vec<String> {
    let (before, after) = (as_object(before), as_object(after));
    let mut fields: Vec<String> =
        before.keys().chain(after.keys()).filter(|field| before.get(*field) != after.get(*field)).cloned().collect();
    fields.sort();
    fields.dedup();
    fields
}

fn as_object(tool: &ToolSpec) -> serde_json::Map<String, Value> {
    match serde_json::to_value(tool) {
        Ok(Value::Object(map)) => map,
        // A definition is a struct of values that all have a form in JSON.
        _ => serde_json::Map::new(),
    }
}

impl fmt::Display for ToolChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Added(tool) => write!(f, "tool {tool:?} is new"),
            Self::Removed(tool) => write!(f, "tool {tool:?} is gone"),
            Self::Changed { tool, fields } => write!(f, "tool {tool:?} has another {}", fields.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str, description: &str) -> ToolSpec {
        ToolSpec { name: name.into(), description: description.into(), ..ToolSpec::default() }
    }

    #[test]
    fn every_kind_of_change_is_named() {
        let old = [tool("a", "x"), tool("b", "x"), tool("c", "x")];
        let mut deferrable = tool("b", "y");
        deferrable.deferrable = true;
        let changes = between(&old, &[tool("a", "x"), deferrable, tool("d", "x")]);
        let text: Vec<String> = changes.iter().map(ToString::to_string).collect();
        assert_eq!(
            text,
            [r#"tool "b" has another deferrable, description"#, r#"tool "d" is new"#, r#"tool "c" is gone"#]
        );
    }

    #[test]
    fn order_is_no_change_but_a_second_one_of_a_name_is() {
        let (a, b) = (tool("a", "x"), tool("b", "x"));
        assert!(between(&[a.clone(), b.clone()], &[b.clone(), a.clone()]).is_empty());
        assert_eq!(between(&[a.clone(), b], &[a.clone(), a]).first(), Some(&ToolChange::Added("a".into())));
    }
}
