//! The limits of a call: what they are called, what they are unless somebody says otherwise, and who set them.
//!
//! The author may lower a limit in the manifest, the operator sets the ceiling in the configuration and may lower it for
//! one source in its grant; the smallest holds. Where the configuration says nothing, the default below is the ceiling.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroU64;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};
use thiserror::Error;

const MIB: u64 = 1 << 20;

/// The code of [`LimitExceeded::depth`].
const DEPTH: &str = "depth";

/// One limit of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LimitKind {
    /// Instructions, about one unit each. Does not bound time spent waiting; the deadline does.
    Fuel,
    /// Milliseconds from permit to result, waiting included. Does not bound the wait for an approval.
    Deadline,
    /// Bytes of all linear memories of the call together. Does not bound the host's own buffers; the other limits do.
    Memory,
    /// Elements of all tables together.
    Table,
    /// Core instances inside the component.
    Instances,
    /// Handles that the guest holds at once.
    Handles,
    /// Host objects (streams, pollables) that live at once on the guest's behalf.
    Resources,
    /// Bytes that cross from guest to host in any one host call or result, as the runtime counts them.
    HostCall,
    /// Bytes of randomness, over all requests. Does not count the seed of hash maps.
    Random,
    /// Log records.
    LogRecords,
    /// Bytes of all log records, standard output and standard error together.
    LogBytes,
    /// Bytes of the result: every text, blob and JSON in it.
    Result,
    /// Bytes of the parameters as JSON.
    Params,
    /// HTTP requests; each redirect is one more.
    HttpRequests,
    /// Bytes of each HTTP request: URL, headers and body.
    HttpRequestBytes,
    /// Bytes of each HTTP response: headers and decoded body. Counted as they arrive, so what is over is never held.
    HttpResponseBytes,
    /// Milliseconds of each HTTP request, from its start through all redirects to the last byte of the response. Does
    /// not bound the call; the deadline does.
    HttpTime,
    /// Calls of other tools, failed ones included. Does not bound what these cost; their own limits do.
    ToolCalls,
    /// Reads and writes of what is kept between calls.
    StateCalls,
}

/// What is known of a limit.
struct Facts {
    kind: LimitKind,
    /// Its name in manifests and configuration.
    key: &'static str,
    /// The second half of its error code.
    code: &'static str,
    /// How the error names it.
    noun: &'static str,
    unit: &'static str,
    default: u64,
}

/// In the order of the enum, a test holds it so. Fuel, deadline, log records and table elements follow what IronClaw
/// allows (500 million, 60 s, 1,000 records; 100,000 elements because real components need over 21,000); so do the 50
/// HTTP requests, 10 MiB of response and 30 s, and the 20 calls of tools.
const FACTS: [Facts; 19] = [
    facts(LimitKind::Fuel, "fuel", "fuel", "fuel", "units", 500_000_000),
    facts(LimitKind::Deadline, "deadline_ms", "deadline", "time", "ms", 60_000),
    facts(LimitKind::Memory, "memory_bytes", "memory", "memory", "bytes", 64 * MIB),
    facts(LimitKind::Table, "table_elements", "table", "table size", "elements", 100_000),
    facts(LimitKind::Instances, "instances", "instances", "number of core instances", "instances", 32),
    facts(LimitKind::Handles, "handles", "handles", "number of handles", "handles", 1000),
    facts(LimitKind::Resources, "resources", "resources", "number of host resources", "resources", 1000),
    facts(LimitKind::HostCall, "host_call_bytes", "host_call", "data in one host call", "bytes", 32 * MIB),
    facts(LimitKind::Random, "random_bytes", "random", "randomness", "bytes", 64 << 10),
    facts(LimitKind::LogRecords, "log_records", "log_records", "number of log records", "records", 1000),
    facts(LimitKind::LogBytes, "log_bytes", "log", "log", "bytes", MIB),
    facts(LimitKind::Result, "result_bytes", "result", "result", "bytes", 8 * MIB),
    facts(LimitKind::Params, "param_bytes", "params", "parameters", "bytes", 8 * MIB),
    facts(LimitKind::HttpRequests, "http_requests", "http_requests", "number of HTTP requests", "requests", 50),
    facts(LimitKind::HttpRequestBytes, "http_request_bytes", "http_request", "HTTP request", "bytes", MIB),
    facts(LimitKind::HttpResponseBytes, "http_response_bytes", "http_response", "HTTP response", "bytes", 10 * MIB),
    facts(LimitKind::HttpTime, "http_time_ms", "http_time", "time for one HTTP request", "ms", 30_000),
    facts(LimitKind::ToolCalls, "tool_calls", "tool_calls", "number of calls of tools", "calls", 20),
    facts(LimitKind::StateCalls, "state_calls", "state_calls", "number of uses of kept state", "uses", 1000),
];

/// The names in manifests and configuration.
const KEYS: [&str; FACTS.len()] = {
    let mut keys = [""; FACTS.len()];
    let mut i = 0;
    while i < keys.len() {
        keys[i] = FACTS[i].key;
        i += 1;
    }
    keys
};

const fn facts(
    kind: LimitKind,
    key: &'static str,
    code: &'static str,
    noun: &'static str,
    unit: &'static str,
    default: u64,
) -> Facts {
    Facts { kind, key, code, noun, unit, default }
}

impl LimitKind {
    /// All limits, in a fixed order.
    pub fn all() -> impl Iterator<Item = Self> {
        FACTS.iter().map(|facts| facts.kind)
    }

    /// The name in manifests and configuration, such as `memory_bytes`.
    pub fn key(self) -> &'static str {
        self.facts().key
    }

    /// The second half of the error code `limit.…`.
    pub fn code(self) -> &'static str {
        self.facts().code
    }

    /// The value where nobody says otherwise.
    pub fn default_value(self) -> u64 {
        self.facts().default
    }

    /// Whether it means something for native code, which burns no fuel and grows no linear memory.
    pub fn applies_to_native(self) -> bool {
        matches!(self, Self::Deadline | Self::Result | Self::Params)
    }

    fn of_key(key: &str) -> Option<Self> {
        FACTS.iter().find(|facts| facts.key == key).map(|facts| facts.kind)
    }

    fn facts(self) -> &'static Facts {
        &FACTS[self as usize]
    }
}

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

impl<'de> Deserialize<'de> for LimitKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let key = String::deserialize(deserializer)?;
        Self::of_key(&key).ok_or_else(|| D::Error::unknown_field(&key, &KEYS))
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

/// Who set a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SetBy {
    /// Nobody: it is the default.
    Default,
    /// The tool's author, in the manifest.
    Manifest,
    /// The operator, in the configuration.
    Operator,
    /// The operator, in the grant of its source.
    Grant,
    /// The engine: it holds for all tools alike.
    Engine,
    /// The HTTP rule that let the request pass.
    HttpRule,
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
    /// The limit of the stack, which is engine-wide and so no [`LimitKind`].
    pub fn stack(allowed: u64) -> Self {
        Self { limit: "stack".into(), used: None, allowed, set_by: SetBy::Engine }
    }

    /// The limit of calls above a call, which is the pipeline's and so no [`LimitKind`].
    pub fn depth(used: u64, allowed: u64) -> Self {
        Self { limit: DEPTH.into(), used: Some(used), allowed, set_by: SetBy::Engine }
    }

    /// What the caller or the operator can do.
    pub fn remedy(&self, tool: &str) -> String {
        let Some(facts) = FACTS.iter().find(|facts| facts.code == self.limit) else {
            return match self.limit.as_str() {
                DEPTH => "tools call each other, perhaps in a circle: `ringfence grants` shows which calls which",
                _ => "the operator can raise `stack_bytes` under [engine] in config.toml; it holds for all tools",
            }
            .into();
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
            _ => format!("the operator can raise `{}` under [tools.\"{tool}\".limits] in config.toml", facts.key),
        }
    }
}

impl fmt::Display for LimitExceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let facts = FACTS.iter().find(|facts| facts.code == self.limit);
        let (noun, unit) = match (facts, self.limit.as_str()) {
            (Some(facts), _) => (facts.noun, facts.unit),
            (None, DEPTH) => ("depth", "calls above it"),
            (None, _) => ("stack", "bytes"),
        };
        let by = match self.set_by {
            SetBy::Default => "by default",
            SetBy::Manifest => "by its manifest",
            SetBy::Operator => "by the operator",
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
        assert!(error.remedy("calc").contains("`fuel` under [tools.\"calc\".limits]"));
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
