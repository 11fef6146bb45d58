//! The limits of a call: what they are called, what they are unless somebody says otherwise, and who set them.
//!
//! The author may lower a limit in the manifest, the operator sets the ceiling in the configuration and may lower it for
//! one source in its grant; the smallest holds. Where the configuration says nothing, the default is the ceiling.

mod exceeded;
mod kind;
mod operator;
mod set;

use serde::{Deserialize, Serialize};

use crate::name::SourceName;

use kind::{FACTS, Facts};

pub use exceeded::LimitExceeded;
pub use kind::LimitKind;
pub use operator::OperatorLimits;
pub use set::LimitSet;

/// Who set a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SetBy {
    /// Nobody: it is the default.
    Default,
    /// The tool's author, in the manifest.
    Manifest,
    /// The operator, in the configuration for all tools.
    Operator,
    /// The operator, in the configuration for its source.
    OperatorForSource,
    /// The operator, in the configuration for this tool.
    OperatorForTool,
    /// The operator, in the grant of its source.
    Grant,
    /// The engine: it holds for all tools alike.
    Engine,
    /// The HTTP rule that let the request pass.
    HttpRule,
}

impl SetBy {
    /// The section of the configuration that decides about `tool`, of those that are called `kind`. Where nobody has said
    /// anything, it is the one for this tool, which is nobody else's business.
    pub fn section(self, tool: &str, kind: &str) -> String {
        match (self, tool.split_once("__")) {
            (Self::Operator, _) => format!("[{kind}]"),
            (Self::OperatorForSource, Some((source, _))) => format!("[tools.\"{source}\".{kind}]"),
            // Only built-ins go without their source.
            (Self::OperatorForSource, None) => format!("[tools.\"{}\".{kind}]", SourceName::BUILTIN),
            _ => format!("[tools.\"{tool}\".{kind}]"),
        }
    }
}

/// The limits of one call, complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits([(u64, SetBy); FACTS.len()]);

impl Limits {
    /// The smaller of what the author asks for and what the operator allows.
    pub fn effective(requested: &LimitSet, operator: &LimitSet) -> Self {
        Self(std::array::from_fn(|i| {
            let Facts { kind, default, .. } = FACTS[i];
            let ceiling = match operator.get(kind) {
                Some(value) => (value, SetBy::Operator),
                None => (default, SetBy::Default),
            };
            match requested.get(kind) {
                Some(value) if value < ceiling.0 => (value, SetBy::Manifest),
                _ => ceiling,
            }
        }))
    }

    /// The same, where what the operator sets stands in `set`: `set_by` says whose that is.
    #[must_use]
    pub(crate) fn told_by(mut self, set: &LimitSet, set_by: SetBy) -> Self {
        for (kind, _) in set.iter() {
            let (_, by) = &mut self.0[kind as usize];
            if matches!(by, SetBy::Operator | SetBy::OperatorForSource) {
                *by = set_by;
            }
        }
        self
    }

    /// The value of `kind`, in its unit.
    pub fn get(&self, kind: LimitKind) -> u64 {
        self.0[kind as usize].0
    }

    /// The value of `kind`, for code that counts in `usize`.
    pub fn get_usize(&self, kind: LimitKind) -> usize {
        usize::try_from(self.get(kind)).unwrap_or(usize::MAX)
    }

    /// Who set `kind`.
    pub fn set_by(&self, kind: LimitKind) -> SetBy {
        self.0[kind as usize].1
    }

    /// These limits, lowered to what the grant of the source says of them. A grant raises nothing.
    #[must_use]
    pub fn under_grant(self, granted: &LimitSet) -> Self {
        granted.iter().fold(self, |limits, (kind, value)| limits.under(kind, value, SetBy::Grant))
    }

    /// These limits, with `kind` lowered to what an HTTP rule says of it. A rule raises nothing.
    #[must_use]
    pub fn under_rule(self, kind: LimitKind, value: Option<u64>) -> Self {
        match value {
            Some(value) => self.under(kind, value, SetBy::HttpRule),
            None => self,
        }
    }

    fn under(mut self, kind: LimitKind, value: u64, set_by: SetBy) -> Self {
        let limit = &mut self.0[kind as usize];
        if value < limit.0 {
            *limit = (value, set_by);
        }
        self
    }

    /// The error of a call that used `used` of `kind`; `None` where that cannot be told.
    pub fn exceeded(&self, kind: LimitKind, used: Option<u64>) -> LimitExceeded {
        let (allowed, set_by) = self.0[kind as usize];
        LimitExceeded { limit: kind.code().to_owned(), used, allowed, set_by }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::effective(&LimitSet::default(), &LimitSet::default())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_enum() {
        for (i, facts) in FACTS.iter().enumerate() {
            assert_eq!(facts.kind as usize, i);
        }
    }

    #[test]
    fn a_limit_has_a_known_name_and_is_at_least_one() {
        let error = serde_json::from_str::<LimitSet>(r#"{"memory_byte": 1}"#).unwrap_err().to_string();
        assert!(error.contains("unknown field `memory_byte`") && error.contains("`memory_bytes`"), "{error}");
        assert!(serde_json::from_str::<LimitSet>(r#"{"fuel": 0}"#).is_err());
    }

    #[test]
    fn the_error_names_amounts_and_who_set_them() {
        let operator = LimitSet::default().with(LimitKind::Fuel, 10);
        let error = Limits::effective(&LimitSet::default(), &operator).exceeded(LimitKind::Fuel, None);
        assert_eq!(error.to_string(), "over its limit of fuel: 10 units allowed by the operator");
        assert_eq!(
            error.remedy("calc__add", "config.toml"),
            "the operator can raise `fuel` under [limits] in config.toml"
        );
    }

    #[test]
    fn the_remedy_names_the_section_that_decided() {
        let one = LimitSet::default().with(LimitKind::Fuel, 10);
        let of = |set_by| Limits::effective(&LimitSet::default(), &one).told_by(&one, set_by);
        for (limits, section) in [
            (Limits::default(), "[tools.\"calc__add\".limits]"),
            (Limits::effective(&LimitSet::default(), &one), "[limits]"),
            (of(SetBy::OperatorForSource), "[tools.\"calc\".limits]"),
            (of(SetBy::OperatorForTool), "[tools.\"calc__add\".limits]"),
            (
                of(SetBy::OperatorForSource).told_by(&LimitSet::default(), SetBy::OperatorForTool),
                "[tools.\"calc\".limits]",
            ),
        ] {
            let remedy = limits.exceeded(LimitKind::Fuel, None).remedy("calc__add", "c.toml");
            assert_eq!(remedy, format!("the operator can raise `fuel` under {section} in c.toml"));
        }
        let asked = Limits::effective(&LimitSet::default().with(LimitKind::Fuel, 5), &one);
        assert_eq!(asked.told_by(&one, SetBy::OperatorForTool).set_by(LimitKind::Fuel), SetBy::Manifest);
    }

    proptest! {
        #[test]
        fn nobody_gets_more_than_the_operator_allows(asked in 1u64.., allowed in proptest::option::of(1u64..)) {
            for kind in LimitKind::all() {
                let requested = LimitSet::default().with(kind, asked);
                let operator = allowed.map_or_else(LimitSet::default, |value| LimitSet::default().with(kind, value));
                let ceiling = allowed.unwrap_or(kind.default_value());
                prop_assert_eq!(Limits::effective(&requested, &operator).get(kind), asked.min(ceiling));
            }
        }

        #[test]
        fn a_grant_only_lowers(asked in 1u64..100, allowed in 1u64..100, granted in 1u64..100) {
            for kind in LimitKind::all() {
                let [asks, allows, grants] = [asked, allowed, granted].map(|value| LimitSet::default().with(kind, value));
                let limits = Limits::effective(&asks, &allows).under_grant(&grants);
                prop_assert_eq!(limits.get(kind), asked.min(allowed).min(granted));
                prop_assert_eq!(limits.set_by(kind) == SetBy::Grant, granted < asked.min(allowed));
            }
        }
    }
}
