//! HTTP for guests: what they ask for goes to the door of the network, and what comes back is read within its limits.

use std::time::Duration;

use ringfence_egress::{EgressError, Request, Response};
use wasmtime::Result;

use crate::bindings::ringfence::tool::http::{self, Error, ErrorKind};
use crate::outlet::Outlet;
use crate::state::GuestState;

impl http::Host for GuestState {
    async fn send(&mut self, request: http::Request) -> Result<std::result::Result<http::Response, Error>> {
        let Some(outlet) = self.outlet() else { return Ok(Err(refused(&EgressError::Nothing))) };
        let answer = match request.timeout_ms.map(Duration::from_millis) {
            None => exchange(&outlet, request).await,
            Some(time) => match tokio::time::timeout(time, exchange(&outlet, request)).await {
                Ok(answer) => answer,
                Err(_elapsed) => {
                    let message = format!("no answer within the {} ms that the tool gave it", time.as_millis());
                    return Ok(Err(Error { kind: ErrorKind::TimedOut, message, sent: true }));
                }
            },
        };
        match answer {
            Ok(response) => Ok(Ok(response)),
            // Like every other limit of the call.
            Err(EgressError::Limit(exceeded)) => Err(exceeded.into()),
            Err(error) => {
                outlet.report(&error);
                Ok(Err(refused(&error)))
            }
        }
    }
}

async fn exchange(outlet: &Outlet, request: http::Request) -> std::result::Result<http::Response, EgressError> {
    let headers = request.headers.iter().map(|header| (header.name.as_str(), header.value.as_slice()));
    let outgoing = Request::new(&request.method, &request.url, headers, request.body.unwrap_or_default())?;
    whole(outlet.send(outgoing).await?).await
}

async fn whole(response: Response) -> std::result::Result<http::Response, EgressError> {
    let header = |(name, value): (&::http::HeaderName, &::http::HeaderValue)| http::Header {
        name: name.as_str().to_owned(),
        value: value.as_bytes().to_vec(),
    };
    let headers = response.headers.iter().map(header).collect();
    let status = response.status.as_u16();
    Ok(http::Response { status, headers, body: response.body.collect().await?.to_vec() })
}

/// What the guest learns.
fn refused(error: &EgressError) -> Error {
    let (kind, sent) = kind(error);
    Error { kind, message: error.for_guest(), sent }
}

/// What kind of error it is, and whether a request may have reached a server.
fn kind(error: &EgressError) -> (ErrorKind, bool) {
    match error {
        EgressError::AfterRedirect(cause) => (kind(cause).0, true),
        EgressError::Nothing | EgressError::Denied(_) | EgressError::Address(_) => (ErrorKind::Denied, false),
        EgressError::RedirectDenied(_) | EgressError::Redirect(_) => (ErrorKind::Denied, true),
        EgressError::Request(_) | EgressError::Credential(_) | EgressError::Leak(_) => (ErrorKind::Invalid, false),
        EgressError::Upload(_) => (ErrorKind::Invalid, true),
        EgressError::Lacking { .. } => (ErrorKind::AuthRequired, false),
        EgressError::Token { source, .. } if source.is_lasting() => (ErrorKind::AuthRequired, false),
        EgressError::Token { .. } => (ErrorKind::Unreachable, false),
        EgressError::Resolve(_) | EgressError::Tls { .. } | EgressError::Connect { .. } => {
            (ErrorKind::Unreachable, false)
        }
        EgressError::Decode(_) | EgressError::Transport { .. } => (ErrorKind::Unreachable, true),
        EgressError::Limit(_) => (ErrorKind::TimedOut, true),
    }
}

#[cfg(test)]
mod tests {
    use ringfence_egress::Leak;

    use super::*;

    #[test]
    fn after_a_redirect_a_request_was_sent_whatever_stops_the_next() {
        let errors: [fn() -> EgressError; 2] =
            [|| EgressError::Nothing, || EgressError::Leak(Leak::Value { secret: "svc".into(), place: "URL" })];
        for error in errors {
            let (first, later) = (refused(&error()), refused(&EgressError::AfterRedirect(Box::new(error()))));
            assert_eq!((first.sent, later.sent), (false, true));
            assert_eq!(first.kind, later.kind);
            assert_eq!(later.message, format!("after a redirect: {}", first.message));
        }
    }
}
