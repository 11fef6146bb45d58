//! Reaches for everything that can be granted, as it is told.

use ringfence_sdk::prelude::*;
use ringfence_sdk::secrets::Algorithm;
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
struct Name {
    /// The name.
    name: String,
}

/// Whether there is a secret.
#[tool]
fn has(args: Name) -> Result<Json<bool>, Failure> {
    secrets::exists(&args.name).map(Json)
}

/// The signature of the word `message`, in hexadecimal.
#[tool]
fn signature(args: Name) -> Result<String, Failure> {
    let signed = secrets::sign(&args.name, Algorithm::HmacSha256, b"message")?;
    Ok(signed.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// What a file holds.
#[tool]
fn load(args: Name) -> Result<String, Failure> {
    workspace::read(&args.name).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// Writes the word `written` into a file.
#[tool]
fn store(args: Name) -> Result<String, Failure> {
    workspace::write(&args.name, b"written").map(|()| "done".to_owned())
}

/// What lies in a folder.
#[tool]
fn folder(args: Name) -> Result<Json<Vec<String>>, Failure> {
    workspace::entries(&args.name).map(|entries| Json(entries.into_iter().map(|entry| entry.name).collect()))
}

/// A value of the environment.
#[tool]
fn environment(args: Name) -> Json<Option<String>> {
    Json(std::env::var(&args.name).ok())
}

export_tools!(fetch, has, signature, load, store, folder, environment);
