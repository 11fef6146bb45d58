//! Answers on their way out: which request they are for, and what rmcp says too shortly.

use rmcp::model::{ErrorCode, JsonRpcMessage, RequestId, ServerJsonRpcMessage};

/// What can be asked.
const METHODS: &str = "`initialize`, `ping`, `server/discover`, `subscriptions/listen`, `tools/call`, `tools/list`";

/// The id of the request that `message` answers.
pub(super) fn of(message: &ServerJsonRpcMessage) -> Option<&RequestId> {
    match message {
        JsonRpcMessage::Response(response) => Some(&response.id),
        JsonRpcMessage::Error(error) => error.id.as_ref(),
        _ => None,
    }
}

/// `message`, where it refuses a method in words: rmcp gives nothing but the method's name.
pub(super) fn in_full(mut message: ServerJsonRpcMessage) -> ServerJsonRpcMessage {
    if let JsonRpcMessage::Error(answer) = &mut message
        && answer.error.code == ErrorCode::METHOD_NOT_FOUND
    {
        answer.error.message =
            format!("there is no method `{}` here; those there are: {METHODS}", answer.error.message).into();
    }
    message
}
