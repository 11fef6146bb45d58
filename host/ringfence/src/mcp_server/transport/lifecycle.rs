//! With what a client begins. Before that rmcp does not know how it speaks, and ends at whatever is no request.

use rmcp::model::{ClientRequest, GetMeta as _, ProtocolVersion};

/// Whether a client begins with `request`: by a handshake, or by one that says itself all that a handshake would, as the
/// revision without sessions has it. A ping or a question for the versions may stand before either.
pub(super) fn begins(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        request => {
            let (meta, version) = (request.get_meta(), ProtocolVersion::V_2026_07_28);
            meta.protocol_version().as_ref() == Some(&version) && meta.missing_required_keys(&version).is_empty()
        }
    }
}
