//! The error codes of `wasi:http`. Many have no room for a text; where there is one, it is the same as in our own
//! interface. The operator's log has the whole reason in any case.

use ringfence_egress::{
    ClientError, DecodeError, EgressError, RequestError, ResolveError, TargetError, TlsFault, UploadError,
};
use wasmtime_wasi_http::p2::bindings::http::types::{DnsErrorPayload, ErrorCode};

/// What the guest learns of `error`.
pub(super) fn of(error: &EgressError) -> ErrorCode {
    match error {
        EgressError::AfterRedirect(cause) => of(cause),
        EgressError::Nothing
        | EgressError::Denied(_)
        | EgressError::RedirectDenied(_)
        | EgressError::Redirect(_)
        | EgressError::Limit(_) => ErrorCode::HttpRequestDenied,
        EgressError::Address(_) | EgressError::Resolve(ResolveError::Refused { .. }) => {
            ErrorCode::DestinationIpProhibited
        }
        EgressError::Resolve(_) => {
            ErrorCode::DnsError(DnsErrorPayload { rcode: Some(error.for_guest()), info_code: None })
        }
        EgressError::Request(RequestError::Method(_)) => ErrorCode::HttpRequestMethodInvalid,
        EgressError::Request(RequestError::Target(TargetError::TooLong)) => ErrorCode::HttpRequestUriTooLong,
        EgressError::Request(RequestError::Target(_)) => ErrorCode::HttpRequestUriInvalid,
        EgressError::Upload(UploadError::Length { made, .. }) => ErrorCode::HttpRequestBodySize(Some(*made)),
        EgressError::Decode(DecodeError::Unknown | DecodeError::TooMany) => {
            ErrorCode::HttpResponseContentCoding(Some(error.for_guest()))
        }
        EgressError::Decode(_) => ErrorCode::HttpResponseIncomplete,
        EgressError::Tls { source: TlsFault::NotTls | TlsFault::Other(_), .. } => ErrorCode::TlsProtocolError,
        EgressError::Tls { .. } => ErrorCode::TlsCertificateError,
        EgressError::Connect { source: ClientError::Slow(_), .. } => ErrorCode::ConnectionTimeout,
        EgressError::Connect { .. } => ErrorCode::DestinationUnavailable,
        EgressError::Transport { .. } => ErrorCode::HttpProtocolError,
        EgressError::Request(_)
        | EgressError::Lacking { .. }
        | EgressError::Token { .. }
        | EgressError::Credential(_)
        | EgressError::Leak(_)
        | EgressError::Upload(_) => ErrorCode::InternalError(Some(error.for_guest())),
    }
}
