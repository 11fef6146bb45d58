//! The error of a call that reached a limit.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::SetBy;
use super::kind::{FACTS, Facts};

/// What is known of a limit that holds for all tools alike, and so is no [`LimitKind`](super::LimitKind).
struct EngineWide {
    /// The second half of its error code.
    code: &'static str,
    /// How the error names it.
    noun: &'static str,
    unit: &'static str,
    /// What to do, told to whoever knows the configuration by this name.
    remedy: fn(config: &str) -> String,
}

const STACK: EngineWide = EngineWide {
    code: "stack",
    noun: "stack",
    unit: "bytes",
    remedy: |config| format!("the operator can raise `stack_bytes` under [engine] in {config}; it holds for all tools"),
};

const DEPTH: EngineWide = EngineWide {
    code: "depth",
    noun: "depth",
    unit: "calls above it",
    remedy: |_| "tools call each other, perhaps in a circle: `ringfence grants` shows which calls which".into(),
};

/// A call that ended because it reached a limit.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
pub struct LimitExceeded {
    /// Which one: the second half of the error code.
    pub limit: String,
    /// How much was used or asked for, where that can be told.
    pub used: Option<u64>,
    /// How much is allowed.
    pub allowed: u64,
    /// Who set the limit.
    pub set_by: SetBy,
}

impl LimitExceeded {
    /// The limit of the stack.
    pub fn stack(allowed: u64) -> Self {
        Self { limit: STACK.code.into(), used: None, allowed, set_by: SetBy::Engine }
    }

    /// The limit of calls above a call.
    pub fn depth(used: u64, allowed: u64) -> Self {
        Self { limit: DEPTH.code.into(), used: Some(used), allowed, set_by: SetBy::Engine }
    }

    /// What the caller or the operator can do. `config` is how they know the file of the configuration.
    pub fn remedy(&self, tool: &str, config: &str) -> String {
        let Some(facts) = self.facts() else {
            return self.engine_wide().map(|limit| (limit.remedy)(config)).unwrap_or_default();
        };
        match self.set_by {
            SetBy::Manifest => format!("the tool's own manifest sets this limit: its author can raise `{}`", facts.key),
            SetBy::Grant => format!(
                "the grant of its source sets this limit: the operator can raise `{}` under [limits] in that file, which \
                 `ringfence grants` names",
                facts.key
            ),
            SetBy::HttpRule => {
                format!("the HTTP rule of `{tool}` that let the request pass sets this limit: raise it there")
            }
            set_by => {
                format!("the operator can raise `{}` under {} in {config}", facts.key, set_by.section(tool, "limits"))
            }
        }
    }

    fn facts(&self) -> Option<&'static Facts> {
        FACTS.iter().find(|facts| facts.code == self.limit)
    }

    fn engine_wide(&self) -> Option<&'static EngineWide> {
        [&STACK, &DEPTH].into_iter().find(|limit| limit.code == self.limit)
    }
}

impl fmt::Display for LimitExceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let settable = self.facts().map(|facts| (facts.noun, facts.unit));
        let words = settable.or_else(|| self.engine_wide().map(|limit| (limit.noun, limit.unit)));
        let (noun, unit) = words.unwrap_or((&self.limit, "units"));
        let by = match self.set_by {
            SetBy::Default => "by default",
            SetBy::Manifest => "by its manifest",
            SetBy::Operator | SetBy::OperatorForSource | SetBy::OperatorForTool => "by the operator",
            SetBy::Grant => "by its grant",
            SetBy::Engine => "for all tools",
            SetBy::HttpRule => "by its HTTP rule",
        };
        write!(f, "over its limit of {noun}: {} {unit} allowed {by}", self.allowed)?;
        match self.used {
            Some(used) if used > self.allowed => write!(f, ", {used} asked for"),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_holds_for_all_tools_is_named_with_its_remedy() {
        let stack = LimitExceeded::stack(1024);
        assert_eq!(stack.to_string(), "over its limit of stack: 1024 bytes allowed for all tools");
        assert!(stack.remedy("calc", "config.toml").contains("`stack_bytes` under [engine]"));
        let depth = LimitExceeded::depth(9, 8);
        assert_eq!(depth.to_string(), "over its limit of depth: 8 calls above it allowed for all tools, 9 asked for");
        assert!(depth.remedy("calc", "config.toml").contains("`ringfence grants`"));
    }
}
