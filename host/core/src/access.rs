//! What a call will touch and whether it waits for a person, as far as that depends on its arguments.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::tool::{Approval, ToolSpec};

/// A statement about one argument. `pointer` is a JSON Pointer (RFC 6901) into the parameters.
///
/// The host evaluates it, never the guest; it can only tighten.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ArgumentRule {
    /// The string at the pointer is a path that the call reads.
    ReadsPath(String),
    /// The string at the pointer is a path that the call writes.
    WritesPath(String),
    /// A value that raises the approval that the call needs.
    NeedsApproval {
        /// Where to look.
        pointer: String,
        /// The value that raises the approval; `None`: any value that is present.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        equals: Option<Value>,
        /// The approval that the call then needs.
        approval: Approval,
    },
}

/// What one call touches. Paths are as the arguments spell them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// Paths that are read.
    pub reads: Vec<String>,
    /// Paths that are written.
    pub writes: Vec<String>,
}

/// What the host concludes from a tool's definition and the arguments of one call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assessment {
    /// The approval that this call needs.
    pub approval: Approval,
    /// What it touches.
    pub access: Access,
}

impl Assessment {
    /// Evaluates the rules of `spec` over `params`.
    pub fn of(spec: &ToolSpec, params: &Value) -> Self {
        let mut assessment = Self { approval: spec.approval, access: Access::default() };
        for rule in &spec.rules {
            assessment.apply(rule, params);
        }
        assessment
    }

    fn apply(&mut self, rule: &ArgumentRule, params: &Value) {
        match rule {
            ArgumentRule::ReadsPath(pointer) => self.access.reads.extend(path_at(params, pointer)),
            ArgumentRule::WritesPath(pointer) => self.access.writes.extend(path_at(params, pointer)),
            ArgumentRule::NeedsApproval { pointer, equals, approval } => {
                let found = params.pointer(pointer);
                if found.is_some_and(|value| equals.as_ref().is_none_or(|wanted| wanted == value)) {
                    self.approval = self.approval.max(*approval);
                }
            }
        }
    }
}

fn path_at(params: &Value, pointer: &str) -> Option<String> {
    params.pointer(pointer)?.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rules_name_paths_and_raise_the_approval() {
        let spec = ToolSpec {
            rules: vec![
                ArgumentRule::ReadsPath("/from".into()),
                ArgumentRule::WritesPath("/to".into()),
                ArgumentRule::NeedsApproval {
                    pointer: "/force".into(),
                    equals: Some(json!(true)),
                    approval: Approval::Always,
                },
            ],
            ..ToolSpec::default()
        };
        let calm = Assessment::of(&spec, &json!({"from": "a", "to": "b", "force": false}));
        assert_eq!(calm.access, Access { reads: vec!["a".into()], writes: vec!["b".into()] });
        assert_eq!(calm.approval, Approval::Never);
        assert_eq!(Assessment::of(&spec, &json!({"force": true})).approval, Approval::Always);
    }

    #[test]
    fn a_rule_never_lowers_the_approval() {
        let spec = ToolSpec {
            approval: Approval::Always,
            rules: vec![ArgumentRule::NeedsApproval { pointer: "/x".into(), equals: None, approval: Approval::Never }],
            ..ToolSpec::default()
        };
        assert_eq!(Assessment::of(&spec, &json!({"x": 1})).approval, Approval::Always);
    }
}
