//! Version 0.3.0: errors are texts.

use ringfence_core::error::FailureKind;
use wasmtime::Result;

use super::bindings::v0_3_0::exports::near::agent::tool::Response;
use super::bindings::v0_3_0::near::agent::host::{Host, HttpResponse, LogLevel};
use super::component::{Reply, failure};
use super::means::Asked;
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
    ) -> Result<std::result::Result<HttpResponse, String>> {
        let answer = self.agent_send(Asked { method, url, headers, body, timeout_ms }).await?;
        Ok(match answer {
            Ok(got) => Ok(HttpResponse { status: got.status, headers_json: got.headers, body: got.body }),
            Err(error) => Err(error.message),
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

impl From<Response> for Reply {
    fn from(response: Response) -> Self {
        Self(match (response.output, response.error) {
            (_, Some(error)) => Err(failure(FailureKind::Failed, "error", error)),
            (Some(output), None) => Ok(output),
            (None, None) => {
                Err(failure(FailureKind::Failed, "no_output", "it gave back neither output nor error".into()))
            }
        })
    }
}
