//! Calls the tools that it is told to call.

use ringfence_sdk::prelude::*;
use ringfence_sdk::serde_json::{Value, json};

#[derive(Deserialize, JsonSchema)]
struct Call {
    /// The name by which it calls the tool.
    alias: String,
    /// The parameters of that tool.
    #[serde(default)]
    params: Value,
    /// How often.
    #[serde(default = "once")]
    times: u32,
}

fn once() -> u32 {
    1
}

/// Calls a tool and gives back what it gave.
#[tool]
fn relay(args: Call) -> Result<Output, Failure> {
    for _ in 1..args.times {
        let _ = tools::call(&args.alias, &args.params);
    }
    tools::call(&args.alias, &args.params)
}

/// Calls a tool and tells how that failed.
#[tool]
fn failure(args: Call) -> Result<Json<Value>, Failure> {
    let Err(failure) = tools::call(&args.alias, &args.params) else { return Err(Failure::failed("It did not.")) };
    let retry_after = failure.retry_after.map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
    let kind = format!("{:?}", failure.kind);
    Ok(Json(json!({"kind": kind, "code": failure.code, "message": failure.message, "retry_after": retry_after})))
}

/// Calls a tool and gives back the first text that it gave, from its end to its beginning.
#[tool]
fn reversed(args: Call) -> Result<String, Failure> {
    let output = tools::call(&args.alias, &args.params)?;
    let Some(Content::Text(text)) = output.content.first() else { return Err(Failure::failed("It gave no text.")) };
    Ok(text.chars().rev().collect())
}

/// Calls itself, as far down as that goes, and says how far that was.
#[tool]
fn circle() -> Result<Json<Value>, Failure> {
    match tools::call("circle", &json!({})) {
        Ok(below) => Ok(Json(json!({"below": below.json::<Value>()?}))),
        Err(failure) => Ok(Json(json!({"code": failure.code, "message": failure.message}))),
    }
}

/// How many milliseconds are left.
#[tool]
fn left(call: &CallInfo) -> Json<u64> {
    Json(call.deadline_ms)
}

export_tools!(relay, failure, reversed, circle, left);
