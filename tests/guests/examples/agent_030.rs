//! A tool of the contract `near:agent` 0.3.0: takes the steps that it is told to take, with what that contract gives it.

#[cfg(target_arch = "wasm32")]
#[expect(unsafe_code, reason = "what a component exports is generated")]
mod component {
    use serde_json::{Value, json};

    wit_bindgen::generate!({ path: "../../wit/near-agent/0.3.0.wit", world: "sandboxed-tool" });

    use exports::near::agent::tool::{Guest, Request, Response};
    use near::agent::host::{self, LogLevel};

    struct Agent;

    impl Guest for Agent {
        fn execute(request: Request) -> Response {
            if request.params.contains("nothing") {
                return Response { output: None, error: None };
            }
            match step(&request) {
                Ok(output) => Response { output: Some(output.to_string()), error: None },
                Err(error) => Response { output: None, error: Some(error) },
            }
        }

        fn schema() -> String {
            // As many tools of this contract have it: a choice, and no `type` of its own.
            json!({"oneOf": [{"properties": {"step": {"type": "string"}}, "required": ["step"]}]}).to_string()
        }

        fn description() -> String {
            "Takes a step.".to_owned()
        }
    }

    fn step(request: &Request) -> Result<Value, String> {
        let params: Value = serde_json::from_str(&request.params).map_err(|error| error.to_string())?;
        let text = |name: &str| params[name].as_str().unwrap_or_default().to_owned();
        Ok(match text("step").as_str() {
            "send" => {
                let body = params["body"].as_str().map(|body| body.as_bytes().to_vec());
                let headers = params["headers"].as_str().unwrap_or("{}");
                let timeout = params["timeout_ms"].as_u64().and_then(|ms| u32::try_from(ms).ok());
                let answer = host::http_request(&text("method"), &text("url"), headers, body.as_deref(), timeout)?;
                json!({
                    "status": answer.status, "headers": answer.headers_json, "body": String::from_utf8_lossy(&answer.body),
                })
            }
            "file" => json!({"content": host::workspace_read(&text("path"))}),
            "secret" => json!({"there": host::secret_exists(&text("name"))}),
            "tool" => json!({"output": host::tool_invoke(&text("alias"), "{}")?}),
            "now" => json!({"now": host::now_millis()}),
            "log" => {
                (0..params["times"].as_u64().unwrap_or(1)).for_each(|_| host::log(LogLevel::Info, &text("text")));
                json!({})
            }
            "context" => json!({"context": request.context}),
            "text" => json!("no object"),
            other => return Err(format!("what is {other:?}?")),
        })
    }

    export!(Agent);
}
