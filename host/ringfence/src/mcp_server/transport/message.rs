//! What a line says: a message, nothing, or why it is refused.

use rmcp::model::SubscriptionsListenRequestParams;
use rmcp::model::{CallToolRequestParams, CustomRequest, InitializeRequestParams, PaginatedRequestParams};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, JsonRpcMessage, RequestId};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// The longest message, in bytes: twice the largest parameters that a tool takes by default, since clients escape them.
pub(super) const MAX_MESSAGE: usize = 16 << 20;

/// Why a line is no message, for whoever sent it.
pub(super) struct Refusal {
    /// Of the request, where one can be found in the line.
    pub(super) id: Option<RequestId>,
    pub(super) error: Box<ErrorData>,
}

impl Refusal {
    fn new(id: Option<RequestId>, error: ErrorData) -> Self {
        Self { id, error: Box::new(error) }
    }
}

/// What of a message can be found in a line that is none.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Envelope {
    #[serde(deserialize_with = "present")]
    id: Option<Value>,
    method: Option<String>,
}

impl Envelope {
    fn request_id(self) -> Option<RequestId> {
        serde_json::from_value(self.id?).ok()
    }
}

/// A field that is there, even as `null`.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// Reads a line: a message, nothing, or why it is refused (JSON-RPC 2.0, section 5.1).
pub(super) fn read(line: &[u8]) -> Result<Option<ClientJsonRpcMessage>, Refusal> {
    let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line).trim_ascii(); // RFC 8259, section 8.1
    if line.is_empty() {
        return Ok(None);
    }
    if line.len() > MAX_MESSAGE {
        let envelope = serde_json::from_slice::<Envelope>(line).unwrap_or_default();
        return Err(too_long(envelope.request_id()));
    }
    match serde_json::from_slice::<ClientJsonRpcMessage>(line) {
        Ok(JsonRpcMessage::Request(request)) => match &request.request {
            ClientRequest::CustomRequest(custom) => match wrong_params(custom) {
                Some(error) => Err(Refusal::new(Some(request.id), error)),
                None => Ok(Some(JsonRpcMessage::Request(request))),
            },
            _ => Ok(Some(JsonRpcMessage::Request(request))),
        },
        Ok(message) => Ok(Some(message)),
        Err(error) => unreadable(line, &error),
    }
}

/// Says of a `line` that is no message why, because of `error`. A notification is never answered.
fn unreadable(line: &[u8], error: &serde_json::Error) -> Result<Option<ClientJsonRpcMessage>, Refusal> {
    // What is passed over may be nested however deep: reading the envelope does not descend into it.
    match serde_json::from_slice::<Envelope>(line) {
        Ok(Envelope { id: None, method: Some(method) }) => {
            tracing::debug!(method, %error, "a notification that is not MCP's");
            Ok(None)
        }
        Ok(envelope) => {
            let error = ErrorData::invalid_request(format!("the line is no message of MCP: {error}"), None);
            Err(Refusal::new(envelope.request_id(), error))
        }
        Err(wrong) if wrong.is_data() => {
            let error = ErrorData::invalid_request("the line is no message of MCP: it has to be one JSON object", None);
            Err(Refusal::new(None, error))
        }
        Err(wrong) => {
            let error = ErrorData::parse_error(format!("the line is not one JSON text: {wrong}"), None);
            Err(Refusal::new(None, error))
        }
    }
}

pub(super) fn too_long(id: Option<RequestId>) -> Refusal {
    let message = format!("the message is longer than {MAX_MESSAGE} bytes; send less, for example the path of a file");
    Refusal::new(id, ErrorData::invalid_request(message, None))
}

/// What is wrong with the parameters of a method that there is. rmcp takes such a request for one of an unknown method.
fn wrong_params(request: &CustomRequest) -> Option<ErrorData> {
    let params = request.params.clone().unwrap_or_else(|| Value::Object(serde_json::Map::new()));
    let problem = match request.method.as_str() {
        "initialize" => problem::<InitializeRequestParams>(params),
        "tools/call" => problem::<CallToolRequestParams>(params),
        "tools/list" => problem::<PaginatedRequestParams>(params),
        "subscriptions/listen" => problem::<SubscriptionsListenRequestParams>(params),
        _ => None,
    }?;
    Some(ErrorData::invalid_params(format!("the parameters of `{}` are not valid: {problem}", request.method), None))
}

fn problem<T: DeserializeOwned>(params: Value) -> Option<serde_json::Error> {
    serde_json::from_value::<T>(params).err()
}
