//! Sends the requests that it is told to send.

use ringfence_sdk::prelude::*;
use ringfence_sdk::serde_json::{Value, json};

#[derive(Deserialize, JsonSchema)]
struct Fetch {
    /// The method, in capitals.
    method: String,
    /// The URL.
    url: String,
    /// A JSON body.
    #[serde(default)]
    body: Option<Value>,
}

/// Sends a request and gives back what came.
#[tool]
fn fetch(args: Fetch) -> Result<Json<Value>, Failure> {
    let request = http::Request::new(args.method, args.url);
    let request = match &args.body {
        Some(body) => request.json(body)?,
        None => request,
    };
    let response = request.send()?;
    let headers: Vec<_> = response.headers.iter().map(|(name, value)| (name, String::from_utf8_lossy(value))).collect();
    Ok(Json(json!({"status": response.status, "headers": headers, "body": response.text()})))
}

#[derive(Deserialize, JsonSchema)]
struct Shout {
    /// What is fetched.
    url: String,
    /// What is said beside it.
    word: String,
}

/// Says a word and what came back, everywhere, and ends badly with it.
#[tool]
fn shout(args: Shout) -> Result<String, Failure> {
    let response = http::Request::new("GET", args.url).send()?;
    let said = format!("{} {}", args.word, response.text());
    log::info(said.clone());
    println!("{said}");
    eprintln!("{said}");
    panic!("{said}");
}

export_tools!(fetch, shout);
