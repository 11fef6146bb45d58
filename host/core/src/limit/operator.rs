//! The ceilings that the operator sets.

use std::collections::BTreeMap;

use super::{LimitSet, Limits, SetBy};
use crate::name::ToolId;
use crate::registry::RegistryError;
use crate::source::Offered;

/// The ceilings that the operator sets: for all tools, and for some by their source or wire name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OperatorLimits {
    /// For all tools.
    pub general: LimitSet,
    /// For all tools of a source (by its name) or for one tool (by its wire name).
    pub by_name: BTreeMap<String, LimitSet>,
}

impl OperatorLimits {
    /// The limits of a tool: what its manifest asks for, under the operator's ceilings and under the grant of its source.
    /// One tool's own ceilings come before those of its source, and these before the general ones.
    pub(crate) fn narrow(&self, id: &ToolId, offered: &Offered) -> Result<Limits, RegistryError> {
        let nothing = LimitSet::default();
        let own = self.by_name.get(&id.wire_name()).unwrap_or(&nothing);
        let source = self.by_name.get(id.source.as_str()).unwrap_or(&nothing);
        if offered.origin.is_native() {
            enforceable(id, own)?;
            enforceable(id, source)?;
        }
        let limits = Limits::effective(&offered.requested, &own.or(source).or(&self.general))
            .told_by(source, SetBy::OperatorForSource)
            .told_by(own, SetBy::OperatorForTool);
        Ok(limits.under_grant(&offered.ceiling.limits))
    }
}

/// A setting that nothing enforces is refused.
fn enforceable(id: &ToolId, set: &LimitSet) -> Result<(), RegistryError> {
    match set.iter().find(|(kind, _)| !kind.applies_to_native()) {
        Some((kind, _)) => Err(RegistryError::Unenforceable { tool: id.clone(), limit: kind.key() }),
        None => Ok(()),
    }
}
