//! Limits that somebody wrote down.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroU64;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};

use super::kind::{FACTS, Facts, LimitKind};

/// Limits that somebody wrote down; the others are left to somebody else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LimitSet(BTreeMap<LimitKind, u64>);

impl LimitSet {
    /// The value of `kind`, where it is set.
    pub fn get(&self, kind: LimitKind) -> Option<u64> {
        self.0.get(&kind).copied()
    }

    /// Sets `kind`.
    #[must_use]
    pub fn with(mut self, kind: LimitKind, value: u64) -> Self {
        self.0.insert(kind, value);
        self
    }

    /// The limits that are set.
    pub fn iter(&self) -> impl Iterator<Item = (LimitKind, u64)> {
        self.0.iter().map(|(kind, value)| (*kind, *value))
    }

    /// This set, completed by `general` where it says nothing.
    #[must_use]
    pub fn or(&self, general: &Self) -> Self {
        let mut set = general.clone();
        set.0.extend(&self.0);
        set
    }

    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for LimitSet {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(kind, value)| (kind.key(), value)))
    }
}

impl<'de> Deserialize<'de> for LimitSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(LimitsVisitor)
    }
}

/// Reads key by key, so that an error stands where the key or the value does.
struct LimitsVisitor;

impl<'de> Visitor<'de> for LimitsVisitor {
    type Value = LimitSet;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("limits and their values")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<LimitSet, A::Error> {
        let mut set = LimitSet::default();
        while let Some(kind) = map.next_key()? {
            set.0.insert(kind, map.next_value::<NonZeroU64>()?.get());
        }
        Ok(set)
    }
}

impl JsonSchema for LimitSet {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Limits".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        let limit = |facts: &Facts| {
            let Facts { key, noun, unit, default, .. } = facts;
            let description = format!("The {noun} of a call, in {unit}; {default} where nobody says otherwise.");
            ((*key).to_owned(), json!({"type": "integer", "minimum": 1, "description": description}))
        };
        let limits: Map<String, Value> = FACTS.iter().map(limit).collect();
        json_schema!({"type": "object", "properties": limits, "additionalProperties": false})
    }
}
