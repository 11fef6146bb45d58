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
    /// Why the rules could not be read, in words. Nothing is allowed then.
    closed: Option<String>,
}

/// What forbids a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ruling {
    /// The rule, in words.
    pub rule: String,
    /// Where it stands; `None` where the rules could not be read.
    pub place: Option<RulePlace>,
}

/// Where a rule stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RulePlace {
    /// `allow` or `deny`.
    pub list: List,
    /// The entry of that list, from 0; `None` where the list as a whole decides, because it does not name the tool.
    pub entry: Option<usize>,
}

/// One of the two lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum List {
    /// What may be used.
    Allow,
    /// What may not.
    Deny,
}

impl List {
    /// Its key in the configuration.
    pub fn key(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
        }
    }
}

/// Why the rules cannot be used.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum PolicyError {
    /// An entry means nothing, so whoever wrote it meant something else.
    #[error(
        "`{entry}` under `{}` is no tool and no group{hint}; a group is written `group:NAME`, and `ringfence tools` lists the tools",
        .place.list.key()
    )]
    Unknown {
        /// The entry.
        entry: String,
        /// Where it stands.
        place: RulePlace,
        /// What it may have meant.
        hint: String,
    },
}

impl PolicyError {
    /// Where the entry stands.
    pub fn place(&self) -> RulePlace {
        let Self::Unknown { place, .. } = self;
        *place
    }
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
        let allow = rules.allow.as_ref().map(|list| selectors(list, List::Allow, registry, &mut absent)).transpose()?;
        let deny = selectors(&rules.deny, List::Deny, registry, &mut absent)?;
        Ok(Self { allow, deny, absent, closed: None })
    }

    /// A policy that allows nothing, because its rules cannot be read: `reason` says why, and where they stand.
    pub fn closed(reason: String) -> Self {
        Self { allow: None, deny: Vec::new(), absent: Vec::new(), closed: Some(reason) }
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
    pub fn fault(&self) -> Option<&str> {
        self.closed.as_deref()
    }

    /// Whether the tool may be used at all. What may not is neither listed nor suggested.
    pub fn allows(&self, tool: &Registered) -> bool {
        self.ruling(tool).is_none()
    }

    /// What this call may use.
    ///
    /// # Errors
    /// [`CallError::Denied`] with the rule that decided.
    pub fn decide(&self, call: &CheckedCall) -> Result<Grant, CallError> {
        let tool = call.tool();
        match self.ruling(tool) {
            None => Ok(Grant { limits: tool.limits().clone() }),
            Some(Ruling { rule, .. }) => Err(CallError::Denied { tool: tool.wire_name().to_owned(), rule }),
        }
    }

    /// What forbids the tool; `None` where it may be used.
    pub fn ruling(&self, tool: &Registered) -> Option<Ruling> {
        if let Some(reason) = &self.closed {
            return Some(Ruling { rule: format!("no rule, because they cannot be read ({reason}),"), place: None });
        }
        if let Some(entry) = self.deny.iter().position(|selector| selector.selects(tool)) {
            let rule = format!("the entry `{}` of `deny`", self.deny[entry]);
            return Some(Ruling { rule, place: Some(RulePlace { list: List::Deny, entry: Some(entry) }) });
        }
        match &self.allow {
            Some(list) if !list.iter().any(|selector| selector.selects(tool)) => Some(Ruling {
                rule: "`allow`, which does not name it,".into(),
                place: Some(RulePlace { list: List::Allow, entry: None }),
            }),
            _ => None,
        }
    }
}
