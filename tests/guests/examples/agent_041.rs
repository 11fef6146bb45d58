//! A tool of the contract `near:agent` 0.4.1: sends requests and says of what kind its failures are.

#[cfg(target_arch = "wasm32")]
#[expect(unsafe_code, reason = "what a component exports is generated")]
mod component {
    use serde_json::{Value, json};

    wit_bindgen::generate!({ path: "../../wit/near-agent/0.4.1.wit", world: "sandboxed-tool" });

    use exports::near::agent::tool::{ErrorKind, Guest, GuestFailure, Request, Response};
    use near::agent::host::{self, LogLevel};

    struct Agent;

    impl Guest for Agent {
        fn execute(request: Request) -> Response {
            match step(&request) {
                Ok(output) => Response::Success(output),
                Err(failure) => Response::Failure(failure),
            }
        }

        fn schema() -> String {
            let properties = json!({"step": {"type": "string"}});
            json!({"type": "object", "properties": properties, "required": ["step"]}).to_string()
        }

        fn description() -> String {
            format!("Takes a step. The clock says {}.", host::now_millis())
        }
    }

    fn step(request: &Request) -> Result<String, GuestFailure> {
        let invalid = |message: String| GuestFailure { kind: ErrorKind::Input, code: None, message: Some(message) };
        let params: Value = serde_json::from_str(&request.params).map_err(|error| invalid(error.to_string()))?;
        let text = |name: &str| params[name].as_str().unwrap_or_default().to_owned();
        Ok(match text("step").as_str() {
            "send" => match host::http_request(&text("method"), &text("url"), "", None, None) {
                Ok(answer) => json!({
                    "status": answer.status, "headers": answer.headers_json, "body": String::from_utf8_lossy(&answer.body),
                }),
                Err(failure) => json!({
                    "kind": format!("{:?}", failure.kind).replace("HttpErrorKind::", ""), "code": failure.code, "message": failure.message,
                    "sent": failure.request_sent,
                }),
            }
            .to_string(),
            "secret" => json!({"there": host::secret_exists(&text("name"))}).to_string(),
            "file" => json!({"content": host::workspace_read(&text("path"))}).to_string(),
            "tool" => json!({"output": host::tool_invoke(&text("alias"), "{}")}).to_string(),
            "log" => {
                host::log(LogLevel::Warn, &text("text"));
                "not JSON".to_owned()
            }
            "fail" => return Err(failure(&text("kind"), params["code"].as_str(), params["message"].as_str())),
            other => return Err(invalid(format!("what is {other:?}?"))),
        })
    }

    fn failure(kind: &str, code: Option<&str>, message: Option<&str>) -> GuestFailure {
        let kind = match kind {
            "auth" => ErrorKind::AuthRequired,
            "input" => ErrorKind::Input,
            "large" => ErrorKind::OutputTooLarge,
            "executor" => ErrorKind::Executor,
            "denied" => ErrorKind::NetworkDenied,
            "client" => ErrorKind::Client,
            _ => ErrorKind::OperationFailed,
        };
        GuestFailure { kind, code: code.map(str::to_owned), message: message.map(str::to_owned) }
    }

    export!(Agent);
}
