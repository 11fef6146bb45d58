//! What the operator allows: which tools.

mod selector;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::call::CheckedCall;
use crate::error::CallError;
use crate::grant::Grant;
use crate::name::SourceName;
use crate::registry::{Registered, Registry};

pub use self::selector::Absent;
use self::selector::{Selector, selectors};

/// What the operator writes down about tools: `[policy]` in the configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PolicyRules {
    /// The tools and groups that may be used. Absent: all. Empty: none.
    pub allow: Option<Vec<String>>,
    /// The tools and groups that may not, whatever is allowed. Deny is final.
    pub deny: Vec<String>,
}

/// The rules, with every name known to mean something.
#[derive(Debug)]
pub struct Policy {
    allow: Option<Vec<Selector>>,
    deny: Vec<Selector>,
    /// The entries that name what is not there.
    absent: Vec<Absent>,
    /// Why the rules could not be read. Nothing is allowed then.
    closed: Option<PolicyError>,
}

/// Why the rules cannot be used.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum PolicyError {
    /// An entry means nothing, so whoever wrote it meant something else.
    #[error(
        "`{entry}` under `{list}` is no tool and no group{hint}; a group is written `group:NAME`, and `ringfence tools` lists the tools"
    )]
    Unknown {
        /// The entry.
        entry: String,
        /// `allow` or `deny`.
        list: &'static str,
        /// What it may have meant.
        hint: String,
    },
}

impl Policy {
    /// Reads the rules against the tools that there are. What names a source or a tool that is not there is kept for when
    /// it is: to remove or update a tool must not stop all others, and a rule may stand before its tool is installed.
    ///
    /// # Errors
    /// [`PolicyError::Unknown`] for an entry that can never be the name of a tool, a source or a group, or that is a slip
    /// in the name of a group.
    pub fn load(rules: &PolicyRules, registry: &Registry) -> Result<Self, PolicyError> {
        let mut absent = Vec::new();
        let allow = rules.allow.as_ref().map(|list| selectors(list, "allow", registry, &mut absent)).transpose()?;
        let deny = selectors(&rules.deny, "deny", registry, &mut absent)?;
        Ok(Self { allow, deny, absent, closed: None })
    }

    /// A policy that allows nothing, because its rules cannot be read.
    pub fn closed(error: PolicyError) -> Self {
        Self { allow: None, deny: Vec::new(), absent: Vec::new(), closed: Some(error) }
    }

    /// The entries for what was not there when the rules were read.
    pub fn absent(&self) -> &[Absent] {
        &self.absent
    }

    /// The entries that name `source` or a tool of it, in the form in which they are shown.
    pub fn entries_for(&self, source: &SourceName) -> Vec<String> {
        let all = self.allow.iter().flatten().chain(&self.deny);
        all.filter(|selector| selector.names(source)).map(ToString::to_string).collect()
    }

    /// Why nothing is allowed, where the rules could not be read.
    pub fn fault(&self) -> Option<&PolicyError> {
        self.closed.as_ref()
    }

    /// Whether the tool may be used at all. What may not is neither listed nor suggested.
    pub fn allows(&self, tool: &Registered) -> bool {
        self.refusal(tool).is_none()
    }

    /// What this call may use.
    ///
    /// # Errors
    /// [`CallError::Denied`] with the rule that decided.
    pub fn decide(&self, call: &CheckedCall) -> Result<Grant, CallError> {
        let tool = call.tool();
        match self.refusal(tool) {
            None => Ok(Grant { limits: tool.limits().clone() }),
            Some(rule) => Err(CallError::Denied { tool: tool.wire_name().to_owned(), rule }),
        }
    }

    fn refusal(&self, tool: &Registered) -> Option<String> {
        if let Some(error) = &self.closed {
            return Some(format!("no rule, because they cannot be read ({error}),"));
        }
        if let Some(entry) = self.deny.iter().find(|selector| selector.selects(tool)) {
            return Some(format!("the entry `{entry}` of `deny`"));
        }
        match &self.allow {
            Some(list) if !list.iter().any(|selector| selector.selects(tool)) => {
                Some("`allow`, which does not name it,".into())
            }
            _ => None,
        }
    }
}
