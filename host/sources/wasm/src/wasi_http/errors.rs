//! The error codes of `wasi:http`. Many have no room for a text; where there is one, it is the same as in our own
//! interface. The operator's log has the whole reason in any case.

use ringfence_egress::{
    ClientError, DecodeError, EgressError, RequestError, ResolveError, TargetError, TlsFault, UploadError,
};
use wasmtime_wasi_http::Error;

/// What the guest learns of `error`.
pub(super) fn of(error: &EgressError) -> Error {
    match error {
        EgressError::AfterRedirect(cause) => of(cause),
        EgressError::Nothing
        | EgressError::Denied(_)
        | EgressError::RedirectDenied(_)
        | EgressError::Redirect(_)
        | EgressError::Limit(_) => Error::HttpRequestDenied,
        EgressError::Address(_) | EgressError::Resolve(ResolveError::Refused { .. }) => Error::DestinationIpProhibited,
        EgressError::Resolve(_) => Error::DnsError { rcode: Some(error.for_guest()), info_code: None },
        EgressError::Request(RequestError::Method(_)) => Error::HttpRequestMethodInvalid,
        EgressError::Request(RequestError::Target(TargetError::TooLong)) => Error::HttpRequestUriTooLong,
        EgressError::Request(RequestError::Target(_)) => Error::HttpRequestUriInvalid,
        EgressError::Upload(UploadError::Length { made, .. }) => Error::HttpRequestBodySize(Some(*made)),
        EgressError::Decode(DecodeError::Unknown | DecodeError::TooMany) => {
            Error::HttpResponseContentCoding(Some(error.for_guest()))
        }
        EgressError::Decode(_) => Error::HttpResponseIncomplete,
        EgressError::Tls { source: TlsFault::NotTls | TlsFault::Other(_), .. } => Error::TlsProtocolError,
        EgressError::Tls { .. } => Error::TlsCertificateError,
        EgressError::Connect { source: ClientError::Slow(_), .. } => Error::ConnectionTimeout,
        EgressError::Connect { .. } => Error::DestinationUnavailable,
        EgressError::Transport { .. } => Error::HttpProtocolError,
        EgressError::Request(_)
        | EgressError::Lacking { .. }
        | EgressError::Token { .. }
        | EgressError::Credential(_)
        | EgressError::Leak(_)
        | EgressError::Upload(_) => Error::InternalError(Some(error.for_guest())),
    }
}
