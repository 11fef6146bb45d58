//! Reads and writes the files that it is told.

use ringfence_sdk::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct Name {
    /// The name.
    name: String,
}

#[derive(Deserialize, JsonSchema)]
struct Flood {
    /// How many files.
    files: usize,
    /// The bytes of each.
    bytes: usize,
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

/// Writes files of so many bytes, one after the other.
#[tool]
fn flood(args: Flood) -> Result<String, Failure> {
    let content = vec![b'x'; args.bytes];
    for number in 0..args.files {
        workspace::write(&format!("out/{number}"), &content)?;
    }
    Ok("done".to_owned())
}

export_tools!(load, store, folder, flood);
