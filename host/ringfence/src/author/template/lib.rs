//! A tool for ringfence. Put your own in place of `greet`; one component can hold several.

use ringfence_sdk::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct Greet {
    /// Whom to greet.
    name: String,
}

/// Greets somebody by name.
#[tool(read_only, pure, example(description = "A greeting", input = { "name": "Ada" }, output = "Hello, Ada!"))]
fn greet(args: Greet) -> Result<String, Failure> {
    if args.name.is_empty() {
        return Err(Failure::invalid_params("`name` is empty. Give the name of somebody."));
    }
    Ok(format!("Hello, {}!", args.name))
}

export_tools!(greet);

#[cfg(test)]
mod tests {
    use ringfence_sdk::serde_json::json;
    use ringfence_sdk::testing::TestHost;

    use super::*;

    #[test]
    fn greets_by_name() {
        assert_eq!(TestHost::new(TOOLS).call("greet", json!({ "name": "Ada" })).text(), "Hello, Ada!");
    }

    #[test]
    fn nobody_cannot_be_greeted() {
        assert_eq!(TestHost::new(TOOLS).call("greet", json!({ "name": "" })).failure().code, "invalid_params");
    }
}
