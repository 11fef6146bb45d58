//! What a line says: a message, nothing, or why it is refused.

use rmcp::model::SubscriptionsListenRequestParams;
use rmcp::model::{CallToolRequestParams, InitializeRequestParams, JsonObject, PaginatedRequestParams};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, JsonRpcMessage, JsonRpcVersion2_0, RequestId};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

/// The longest message, in bytes: twice the largest parameters that a tool takes by default, since clients escape them.
pub(super) const MAX_MESSAGE: usize = 16 << 20;

/// The most values of a message. Each takes some 270 bytes at the peak, while it is read, checked and passed on: these some
/// 70 MB.
const MAX_VALUES: usize = 250_000;

/// The longest id of a request, in bytes: that of a cancelled one is kept. Clients use numbers, or UUIDs of 36.
const MAX_ID: usize = 1024;

/// Why a line is no message, for whoever sent it: the answer to it.
#[derive(Serialize)]
pub(super) struct Refusal {
    jsonrpc: JsonRpcVersion2_0,
    /// Of the request, where one can be found in the line, as it was written: it may be none that MCP allows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<Box<RawValue>>,
    pub(super) error: Box<ErrorData>,
}

impl Refusal {
    fn new(id: Option<Box<RawValue>>, error: ErrorData) -> Self {
        Self { jsonrpc: JsonRpcVersion2_0, id, error: Box::new(error) }
    }

    fn of(id: &RequestId, error: ErrorData) -> Self {
        Self::new(serde_json::value::to_raw_value(id).ok(), error)
    }

    /// Another request has `id`.
    pub(super) fn id_in_use(id: &RequestId) -> Self {
        let message =
            "the `id` is that of another request, which is not answered yet or was cancelled; give each its own";
        Self::of(id, ErrorData::invalid_request(message, None))
    }
}

/// What of a message can be found in a line that is none.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Envelope<'a> {
    jsonrpc: Option<Box<RawValue>>,
    #[serde(deserialize_with = "present")]
    id: Option<Box<RawValue>>,
    method: Option<Box<RawValue>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(deserialize_with = "present")]
    result: Option<IgnoredAny>,
    #[serde(deserialize_with = "present")]
    error: Option<IgnoredAny>,
}

impl Envelope<'_> {
    /// Whether JSON-RPC has it answered: neither a notification nor a response is.
    fn wants_answer(&self) -> bool {
        let notifies = self.id.is_none() && self.method.is_some();
        let responds = self.method.is_none() && (self.result.is_some() || self.error.is_some());
        !notifies && !responds
    }

    /// The id, where JSON-RPC allows it, a string or a number.
    fn request_id(self) -> Option<Box<RawValue>> {
        self.id.filter(|id| id.get().starts_with(|first: char| first == '"' || first == '-' || first.is_ascii_digit()))
    }

    /// What is wrong with it, where that can be said better than by `error`.
    fn problem(&self, error: &serde_json::Error) -> ErrorData {
        let is_id = |id: &RawValue| serde_json::from_str::<RequestId>(id.get()).is_ok();
        let method = self.method.as_ref().and_then(|method| serde_json::from_str::<String>(method.get()).ok());
        let problem = if self.jsonrpc.as_ref().is_none_or(|version| version.get() != "\"2.0\"") {
            "`jsonrpc` has to be \"2.0\"".to_owned()
        } else if self.id.as_ref().is_some_and(|id| !is_id(id)) {
            "`id` has to be a string or an integer of 64 bits".to_owned()
        } else if let Some(method) = method {
            // It is JSON, so that only its metadata and the kind of its parameters are left to be wrong.
            match wrong_params(&method, self.params).filter(|_| error.is_data()) {
                Some(wrong) => return wrong,
                None => error.to_string(),
            }
        } else {
            "`method` has to be there, a string".to_owned()
        };
        ErrorData::invalid_request(format!("the line is no message of MCP: {problem}"), None)
    }
}

/// A field that is there, even as `null`.
fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// Reads a line: a message, nothing, or why it is refused (JSON-RPC 2.0, section 5.1).
pub(super) fn read(line: &[u8]) -> Result<Option<ClientJsonRpcMessage>, Refusal> {
    let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line).trim_ascii(); // RFC 8259, section 8.1
    if line.is_empty() {
        return Ok(None);
    }
    if line.len() > MAX_MESSAGE {
        let envelope = serde_json::from_slice::<Envelope<'_>>(line).unwrap_or_default();
        return Err(too_long(envelope.request_id()));
    }
    if line.len() > MAX_VALUES && values(line) > MAX_VALUES {
        let envelope: Envelope<'_> = serde_json::from_slice(line).unwrap_or_default();
        let problem = format!("the message has more than {MAX_VALUES} values; send less, for example as one text");
        return Err(Refusal::new(envelope.request_id(), ErrorData::invalid_request(problem, None)));
    }
    match serde_json::from_slice::<ClientJsonRpcMessage>(line) {
        Ok(JsonRpcMessage::Request(request)) => {
            match wrong_id(&request.id).or_else(|| misread(&request.request, line)) {
                Some(error) => Err(Refusal::of(&request.id, error)),
                None => Ok(Some(JsonRpcMessage::Request(request))),
            }
        }
        Ok(message) => Ok(Some(message)),
        Err(error) => unreadable(line, &error),
    }
}

/// About how many values `line` has: what begins, parts or nests them outside of texts.
fn values(line: &[u8]) -> usize {
    let (mut values, mut in_text, mut escaped) = (0, false, false);
    for byte in line {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b',' | b'[' | b'{' if !in_text => values += 1,
            _ => {}
        }
    }
    values
}

/// Says of a `line` that is no message why, because of `error`. Neither a notification nor a response is answered.
fn unreadable(line: &[u8], error: &serde_json::Error) -> Result<Option<ClientJsonRpcMessage>, Refusal> {
    if let Err(wrong) = std::str::from_utf8(line) {
        let error = ErrorData::parse_error(format!("the line is not UTF-8: {wrong}"), None);
        return Err(Refusal::new(None, error));
    }
    // What is passed over may be nested however deep: reading it does not descend.
    if line.starts_with(b"[") && serde_json::from_slice::<IgnoredAny>(line).is_ok() {
        let problem =
            "the line is no message of MCP but a batch, which is not taken: send each message on a line of its own";
        return Err(Refusal::new(None, ErrorData::invalid_request(problem, None)));
    }
    let (id, error) = match serde_json::from_slice::<Envelope<'_>>(line) {
        Ok(envelope) if !envelope.wants_answer() => {
            tracing::debug!(method = ?envelope.method, %error, "a notification or response that is not MCP's");
            return Ok(None);
        }
        Ok(envelope) => {
            let problem = envelope.problem(error);
            (envelope.request_id(), problem)
        }
        Err(wrong) if wrong.is_data() => {
            let problem = format!("the line is no message of MCP, which is one JSON object: {wrong}");
            (None, ErrorData::invalid_request(problem, None))
        }
        Err(wrong) => (None, ErrorData::parse_error(format!("the line is not one JSON text: {wrong}"), None)),
    };
    Err(Refusal::new(id, error))
}

pub(super) fn too_long(id: Option<Box<RawValue>>) -> Refusal {
    let message = format!("the message is longer than {MAX_MESSAGE} bytes; send less, for example the path of a file");
    Refusal::new(id, ErrorData::invalid_request(message, None))
}

fn wrong_id(id: &RequestId) -> Option<ErrorData> {
    let long = matches!(id, RequestId::String(text) if text.len() > MAX_ID);
    long.then(|| ErrorData::invalid_request(format!("the `id` is longer than {MAX_ID} bytes; a number will do"), None))
}

/// What is wrong with the parameters of a `request` that rmcp may have misread: it takes one with wrong ones for one of an
/// unknown method, and where they are optional for one without any. What it made of them shows no field that is there
/// twice, so they are looked at in the `line`.
fn misread(request: &ClientRequest, line: &[u8]) -> Option<ErrorData> {
    if !matches!(request, ClientRequest::CustomRequest(_) | ClientRequest::ListToolsRequest(_)) {
        return None;
    }
    let envelope: Envelope<'_> = serde_json::from_slice(line).ok()?;
    wrong_params(request.method(), envelope.params)
}

fn wrong_params(method: &str, params: Option<&RawValue>) -> Option<ErrorData> {
    let problem: fn(&str) -> Option<String> = match method {
        "initialize" => problem::<InitializeRequestParams>,
        "server/discover" => problem::<NoParams<JsonObject>>,
        "subscriptions/listen" => problem::<SubscriptionsListenRequestParams>,
        "tools/call" => problem::<CallToolRequestParams>,
        "tools/list" => problem::<PaginatedRequestParams>,
        _ => problem::<NoParams<Option<JsonObject>>>,
    };
    let problem = problem(params.map_or("{}", RawValue::get))?;
    Some(ErrorData::invalid_params(format!("the parameters of `{method}` are not valid: {problem}"), None))
}

/// The parameters of a method that has none of its own, but the metadata that each may have, or has to.
#[derive(Deserialize)]
struct NoParams<M> {
    _meta: M,
}

fn problem<T: DeserializeOwned>(params: &str) -> Option<String> {
    if !params.starts_with('{') {
        return Some("they have to be an object".to_owned());
    }
    serde_json::from_str::<T>(params).err().map(|error| error.to_string())
}
