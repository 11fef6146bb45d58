//! Which limits there are, and what is known of each.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

const MIB: u64 = 1 << 20;

/// One limit of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LimitKind {
    /// Instructions, about one unit each. Does not bound time spent waiting; the deadline does.
    Fuel,
    /// Milliseconds from permit to result, whatever the tool waits for included. Does not bound the wait for an approval,
    /// nor that for a place among those that run: the setting for that does.
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
    /// Files that are read or written and folders that are listed, failed attempts included. Does not bound the bytes.
    WorkspaceCalls,
    /// Bytes that are to be written into files, failed attempts included. Does not bound what lies in the workspace: the
    /// next call has as many.
    WorkspaceWriteBytes,
}

/// What is known of a limit.
pub(super) struct Facts {
    pub(super) kind: LimitKind,
    /// Its name in manifests and configuration.
    pub(super) key: &'static str,
    /// The second half of its error code.
    pub(super) code: &'static str,
    /// How the error names it.
    pub(super) noun: &'static str,
    pub(super) unit: &'static str,
    pub(super) default: u64,
}

/// In the order of the enum, a test holds it so. Fuel, deadline, log records and table elements follow what IronClaw
/// allows (500 million, 60 s, 1,000 records; 100,000 elements because real components need over 21,000); so do the 50
/// HTTP requests, 1 MiB of request, 10 MiB of response and 30 s, and the 20 calls of tools. 64 core instances are what a
/// component of the engine's standard profile can have.
pub(super) const FACTS: [Facts; 21] = [
    facts(LimitKind::Fuel, "fuel", "fuel", "fuel", "units", 500_000_000),
    facts(LimitKind::Deadline, "deadline_ms", "deadline", "time", "ms", 60_000),
    facts(LimitKind::Memory, "memory_bytes", "memory", "memory", "bytes", 64 * MIB),
    facts(LimitKind::Table, "table_elements", "table", "table size", "elements", 100_000),
    facts(LimitKind::Instances, "instances", "instances", "number of core instances", "instances", 64),
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
    facts(LimitKind::WorkspaceCalls, "workspace_calls", "workspace_calls", "number of uses of files", "uses", 1000),
    facts(
        LimitKind::WorkspaceWriteBytes,
        "workspace_write_bytes",
        "workspace_write",
        "data written into files",
        "bytes",
        32 * MIB,
    ),
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

impl<'de> Deserialize<'de> for LimitKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let key = String::deserialize(deserializer)?;
        Self::of_key(&key).ok_or_else(|| D::Error::unknown_field(&key, &KEYS))
    }
}
