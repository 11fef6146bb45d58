//! The same echo through MCP over standard input and output: a server that is nothing but rmcp, a native built-in of ours,
//! a guest of ours.

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleClient, RoleServer, RunningService};
use rmcp::transport::TokioChildProcess;
use rmcp::{ServerHandler, ServiceExt as _};
use serde_json::{Value, json};

use super::{ROUNDS, each, guests, median, payload, ratio};

const CALLS: u32 = 500;

pub async fn run() {
    let home = tempfile::tempdir().unwrap();
    fs_err::write(home.path().join("config.toml"), "[rate]\nunlimited = true\n").unwrap();
    let file = home.path().join("echo.wasm");
    fs_err::write(&file, guests::package("mirror", "guest", "1.0.0")).unwrap();
    let mut install = std::process::Command::new(env!("CARGO_BIN_EXE_ringfence"));
    install.env("RINGFENCE_HOME", home.path()).arg("install").arg(&file).arg("--allow-unsigned");
    assert!(install.stdout(std::process::Stdio::null()).status().unwrap().success());

    let mut bare = tokio::process::Command::new(std::env::current_exe().unwrap());
    bare.arg("bare-rmcp");
    let bare = client(bare).await;
    let mut ours = tokio::process::Command::new(env!("CARGO_BIN_EXE_ringfence"));
    ours.arg("serve").env("RINGFENCE_HOME", home.path());
    let ours = client(ours).await;

    let message = json!({"message": payload().to_string()});
    let mut times: [Vec<_>; 3] = Default::default();
    for _ in 0..ROUNDS {
        times[0].push(each(CALLS, || call(&bare, "echo", message.clone())).await);
        times[1].push(each(CALLS, || call(&ours, "echo", message.clone())).await);
        times[2].push(each(CALLS, || call(&ours, "guest__run", payload())).await);
    }
    let [bare, native, wasm] = times.map(median);
    for (what, time) in [("bare rmcp", bare), ("ours, native built-in", native), ("ours, SDK guest", wasm)] {
        println!("  {what:<66} {time:>6.1} µs");
    }
    ratio("native built-in / bare rmcp", native, bare, 1.5);
    ratio("WASM tool / bare rmcp", wasm, bare, 2.2);
}

async fn client(command: tokio::process::Command) -> RunningService<RoleClient, ()> {
    ().serve(TokioChildProcess::new(command).unwrap()).await.unwrap()
}

async fn call(client: &RunningService<RoleClient, ()>, tool: &'static str, arguments: Value) {
    let arguments = arguments.as_object().cloned().unwrap();
    let answer = client.call_tool(CallToolRequestParams::new(tool).with_arguments(arguments)).await.unwrap();
    assert_ne!(answer.is_error, Some(true), "{answer:?}");
}

struct Bare;

impl ServerHandler for Bare {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = json!({"type": "object", "properties": {"message": {"type": "string"}}});
        let tool = Tool::new("echo", "Echo.", Arc::new(schema.as_object().cloned().unwrap()));
        Ok(ListToolsResult::with_all_items(vec![tool]))
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let message =
            params.arguments.as_ref().and_then(|a| a["message"].as_str()).map_or(Cow::Borrowed(""), Into::into);
        Ok(CallToolResult::success(vec![ContentBlock::text(message)]).into())
    }
}

/// Serves standard input and output with nothing but rmcp.
pub async fn bare_server() {
    rmcp::serve_server(Bare, rmcp::transport::stdio_pipes()).await.unwrap().waiting().await.unwrap();
}
