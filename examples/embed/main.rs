//! A program that embeds ringfence: one native tool of its own, one component from bytes, a call of each.
//!
//! `cargo run --example embed -- path/to/calc.wasm`

use std::sync::Arc;

use ringfence::{Caller, Home, LimitKind, LimitSet, Permit, RawOutput, Ringfence, Tool, ToolError, ToolSpec};
use serde_json::json;

struct Greet(ToolSpec);

#[async_trait::async_trait]
impl Tool for Greet {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn execute(&self, permit: Permit) -> Result<RawOutput, ToolError> {
        let name = permit.call().arguments().value()["name"].as_str().unwrap_or("you").to_owned();
        Ok(RawOutput::text(format!("Hello, {name}!")))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let component = fs_err::read(std::env::args().nth(1).ok_or("usage: embed COMPONENT.wasm")?)?;
    let parameters = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    let greet = ToolSpec { name: "greet".into(), description: "Greets.".into(), parameters, ..ToolSpec::default() };
    let grant = LimitSet::default().with(LimitKind::Fuel, 10_000_000).with(LimitKind::Deadline, 1000);

    let state = tempfile::tempdir()?;
    let host = Ringfence::builder(Home::at(state.path()))
        .register_native(Arc::new(Greet(greet)))
        .register_wasm("calc", &component, grant)
        .open()
        .await?;
    for (tool, params) in [("greet", json!({"name": "Ada"})), ("calc__evaluate", json!({"expression": "0.1 + 0.2"}))] {
        println!("{:?}", host.call(tool, params, Caller::default()).await?.content);
    }
    Ok(host.close()?)
}
