//! Keeps what it is told to keep.

use ringfence_sdk::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct Entry {
    /// The key.
    key: String,
    /// What is kept.
    #[serde(default)]
    value: String,
    /// So many copies of it, instead of one.
    #[serde(default = "once")]
    copies: usize,
}

fn once() -> usize {
    1
}

#[derive(Deserialize, JsonSchema)]
struct Prefix {
    /// How the keys begin.
    #[serde(default)]
    prefix: String,
}

/// What is kept under a key.
#[tool]
fn recall(args: Entry) -> Result<Json<Option<String>>, Failure> {
    state::get(&args.key).map(|value| Json(value.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())))
}

/// Keeps a value.
#[tool]
fn keep(args: Entry) -> Result<String, Failure> {
    state::set(&args.key, args.value.repeat(args.copies).as_bytes()).map(|()| "kept".to_owned())
}

/// Forgets a key.
#[tool]
fn forget(args: Entry) -> Result<Json<bool>, Failure> {
    state::delete(&args.key).map(Json)
}

/// The keys.
#[tool]
fn keys(args: Prefix) -> Result<Json<Vec<String>>, Failure> {
    state::keys(&args.prefix).map(Json)
}

/// Counts up by one, also where others count at the same time.
#[tool]
fn count(args: Entry) -> Result<Json<u64>, Failure> {
    loop {
        let old = state::get(&args.key)?;
        let count = old.as_deref().map_or(0, |bytes| String::from_utf8_lossy(bytes).parse().unwrap_or(0)) + 1;
        if state::swap(&args.key, old.as_deref(), count.to_string().as_bytes())? {
            return Ok(Json(count));
        }
    }
}

/// Keeps something anew until it is stopped.
#[tool]
fn churn(args: Entry) -> Result<String, Failure> {
    loop {
        state::set(&args.key, args.value.as_bytes())?;
    }
}

export_tools!(recall, keep, forget, keys, count, churn);
