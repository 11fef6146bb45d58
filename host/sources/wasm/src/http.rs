//! HTTP for guests: what they ask for goes to the door of the network, and what comes back is read within its limits.

use std::time::Duration;

use ringfence_egress::{EgressError, Request, Response};
use wasmtime::Result;

use crate::bindings::ringfence::tool::http::{self, Error, ErrorKind};
use crate::state::GuestState;

impl http::Host for GuestState {
    async fn send(&mut self, request: http::Request) -> Result<std::result::Result<http::Response, Error>> {
        let answer = match request.timeout_ms.map(Duration::from_millis) {
            None => exchange(self, request).await,
            Some(time) => match tokio::time::timeout(time, exchange(self, request)).await {
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
            Err(error) => Ok(Err(refused(self.tool(), &error))),
        }
    }
}

async fn exchange(state: &mut GuestState, request: http::Request) -> std::result::Result<http::Response, EgressError> {
    let headers = request.headers.iter().map(|header| (header.name.as_str(), header.value.as_slice()));
    let outgoing = Request::new(&request.method, &request.url, headers, request.body.unwrap_or_default())?;
    let (network, budget) = state.network().ok_or(EgressError::Nothing)?;
    whole(network.door.send(outgoing, &network.access, budget).await?).await
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

/// What the guest learns; the operator gets the whole reason in the log.
fn refused(tool: &str, error: &EgressError) -> Error {
    tracing::warn!(target: "egress", %tool, code = error.code(), "{}", error.for_operator(tool));
    let (kind, sent) = match error {
        EgressError::Nothing | EgressError::Denied(_) | EgressError::Address(_) => (ErrorKind::Denied, false),
        EgressError::RedirectDenied(_) | EgressError::Redirect(_) => (ErrorKind::Denied, true),
        EgressError::Request(_) | EgressError::Credential(_) | EgressError::Leak(_) => (ErrorKind::Invalid, false),
        EgressError::Lacking { .. } => (ErrorKind::AuthRequired, false),
        EgressError::Token { source, .. } if source.is_lasting() => (ErrorKind::AuthRequired, false),
        EgressError::Token { .. } => (ErrorKind::Unreachable, false),
        EgressError::Resolve(_) | EgressError::Connect { .. } | EgressError::Client(_) => {
            (ErrorKind::Unreachable, false)
        }
        EgressError::Decode(_) | EgressError::Transport { .. } => (ErrorKind::Unreachable, true),
        EgressError::Limit(_) => (ErrorKind::TimedOut, true),
    };
    Error { kind, message: error.for_guest(), sent }
}
