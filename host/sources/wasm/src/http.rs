//! HTTP for guests: what they ask for goes to the door of the network, and what comes back is read within its limits.

use std::time::Duration;

use ringfence_egress::{EgressError, Request, Response};
use wasmtime::Result;

use crate::bindings::ringfence::tool::http::{self, Error, ErrorKind};
use crate::state::GuestState;

impl http::Host for GuestState {
    async fn send(&mut self, request: http::Request) -> Result<std::result::Result<http::Response, Error>> {
        Ok(exchange(self, request).await)
    }
}

async fn exchange(state: &mut GuestState, request: http::Request) -> std::result::Result<http::Response, Error> {
    let tool = state.tool().to_owned();
    let Some((network, budget)) = state.network() else {
        let message = "nothing was granted to this tool, or its grant has ended".to_owned();
        return Err(Error { kind: ErrorKind::Denied, message, sent: false });
    };
    let headers = request.headers.iter().map(|header| (header.name.as_str(), header.value.as_slice()));
    let body = request.body.unwrap_or_default();
    let outgoing = Request::new(&request.method, &request.url, headers, body);
    let outgoing = outgoing.map_err(|error| refused(&tool, error.into()))?;
    let exchange = async {
        let response = network.door.send(outgoing, &network.access, budget).await?;
        whole(response).await
    };
    let answer = match request.timeout_ms {
        None => exchange.await,
        Some(time) => match tokio::time::timeout(Duration::from_millis(time), exchange).await {
            Ok(answer) => answer,
            Err(_) => {
                let message = format!("no answer within the {time} ms that the tool gave it");
                return Err(Error { kind: ErrorKind::TimedOut, message, sent: true });
            }
        },
    };
    answer.map_err(|error| refused(&tool, error))
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
fn refused(tool: &str, error: EgressError) -> Error {
    tracing::warn!(target: "egress", %tool, code = error.code(), "{}", error.for_operator(tool));
    let (kind, sent) = match &error {
        EgressError::Denied(_) | EgressError::Address(_) => (ErrorKind::Denied, false),
        EgressError::RedirectDenied(_) | EgressError::Redirect(_) => (ErrorKind::Denied, true),
        EgressError::Request(_) | EgressError::Credential(_) | EgressError::Leak(_) => (ErrorKind::Invalid, false),
        EgressError::Lacking { .. } => (ErrorKind::AuthRequired, false),
        EgressError::Resolve(_) | EgressError::Connect { .. } | EgressError::Client(_) => {
            (ErrorKind::Unreachable, false)
        }
        EgressError::Decode(_) | EgressError::Transport { .. } => (ErrorKind::Unreachable, true),
        EgressError::Limit(exceeded) if exceeded.limit == "http_time" => (ErrorKind::TimedOut, true),
        EgressError::Limit(_) => (ErrorKind::OverLimit, true),
    };
    Error { kind, message: error.for_guest(), sent }
}
