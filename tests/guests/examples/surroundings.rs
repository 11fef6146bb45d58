//! Looks at its environment.

use ringfence_sdk::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct Name {
    /// The name.
    name: String,
}

/// A value of the environment.
#[tool]
#[expect(clippy::disallowed_methods, reason = "a guest's environment is what it was granted")]
fn environment(args: Name) -> Json<Option<String>> {
    Json(std::env::var(&args.name).ok())
}

export_tools!(environment);
