//! Version 0.4.1: failures have a kind, both those of requests and the tool's own.

use ringfence_core::error::FailureKind;
use wasmtime::Result;

use super::bindings::v0_4_1::exports::near::agent::tool::{ErrorKind as GuestErrorKind, GuestFailure, Response};
use super::bindings::v0_4_1::near::agent::host::{Host, HttpErrorKind, HttpFailure, HttpResponse, LogLevel};
use super::component::{Reply, failure};
use super::means::Asked;
use crate::bindings::ringfence::tool::http::{Error, ErrorKind};
use crate::bindings::ringfence::tool::log::{self, Level};
use crate::state::GuestState;

impl Host for GuestState {
    fn log(&mut self, level: LogLevel, message: String) -> Result<()> {
        log::Host::log(self, level.into(), message)
    }

    fn now_millis(&mut self) -> Result<u64> {
        Ok(self.agent_now())
    }

    async fn workspace_read(&mut self, path: String) -> Result<Option<String>> {
        self.agent_file(path).await
    }

    async fn http_request(
        &mut self,
        method: String,
        url: String,
        headers: String,
        body: Option<Vec<u8>>,
        timeout_ms: Option<u32>,
    ) -> Result<std::result::Result<HttpResponse, HttpFailure>> {
        let answer = self.agent_send(Asked { method, url, headers, body, timeout_ms }).await?;
        Ok(match answer {
            Ok(got) => Ok(HttpResponse { status: got.status, headers_json: got.headers, body: got.body }),
            Err(error) => Err(error.into()),
        })
    }

    async fn tool_invoke(&mut self, alias: String, params: String) -> Result<std::result::Result<String, String>> {
        self.agent_invoke(alias, params).await
    }

    fn secret_exists(&mut self, name: String) -> Result<bool> {
        Ok(self.agent_secret_exists(&name))
    }
}

impl From<LogLevel> for Level {
    fn from(level: LogLevel) -> Self {
        match level {
            LogLevel::Trace => Self::Trace,
            LogLevel::Debug => Self::Debug,
            LogLevel::Info => Self::Info,
            LogLevel::Warn => Self::Warn,
            LogLevel::Error => Self::Error,
        }
    }
}

impl From<Error> for HttpFailure {
    fn from(error: Error) -> Self {
        let (kind, code) = match error.kind {
            ErrorKind::Denied => (HttpErrorKind::NetworkDenied, "denied"),
            ErrorKind::Invalid => (HttpErrorKind::Input, "invalid"),
            ErrorKind::AuthRequired => (HttpErrorKind::AuthRequired, "auth_required"),
            ErrorKind::Unreachable => (HttpErrorKind::OperationFailed, "unreachable"),
            ErrorKind::TimedOut => (HttpErrorKind::OperationFailed, "timed_out"),
        };
        Self { kind, code: Some(code.to_owned()), message: Some(error.message), request_sent: error.sent }
    }
}

impl From<Response> for Reply {
    fn from(response: Response) -> Self {
        Self(match response {
            Response::Success(output) => Ok(output),
            Response::Failure(GuestFailure { kind, code, message }) => {
                let (kind, word, text) = match kind {
                    GuestErrorKind::AuthRequired => (FailureKind::AuthRequired, "auth_required", "it needs a login"),
                    GuestErrorKind::Input => (FailureKind::InvalidParams, "input", "it cannot use these parameters"),
                    GuestErrorKind::OutputTooLarge => {
                        (FailureKind::Failed, "output_too_large", "its output is too large")
                    }
                    GuestErrorKind::Executor => (FailureKind::Failed, "executor", "it did not work"),
                    GuestErrorKind::NetworkDenied => {
                        (FailureKind::Failed, "network_denied", "it may not reach what it needs")
                    }
                    GuestErrorKind::Client => {
                        (FailureKind::Failed, "client", "the service did not do what it asked for")
                    }
                    GuestErrorKind::OperationFailed => (FailureKind::Failed, "operation_failed", "it did not succeed"),
                };
                let message = message.filter(|message| !message.is_empty()).unwrap_or_else(|| text.to_owned());
                Err(failure(kind, code.as_deref().unwrap_or(word), message))
            }
        })
    }
}
