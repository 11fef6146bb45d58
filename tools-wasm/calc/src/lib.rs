//! Exact decimal arithmetic: one tool, [`fn@evaluate`].

mod error;
mod functions;
mod parse;
mod power;
mod value;

use ringfence_sdk::prelude::*;

/// The arguments of [`fn@evaluate`].
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Evaluate {
    /// The expression, such as `(19.99 + 5) * 3`. At most 65,536 bytes and 100 parentheses deep.
    pub expression: String,
}

/// The structured result of [`fn@evaluate`].
#[derive(Serialize, JsonSchema)]
pub struct Evaluated {
    /// The value, a decimal number in full: text, because many JSON readers round numbers.
    pub value: String,
}

/// Calculates an arithmetic expression in exact decimal numbers: 0.1 + 0.2 is 0.3.
///
/// Operators: `+`, `-`, `*`, `/`, `%` (remainder, with the sign of the dividend), `^` (power with an integer exponent,
/// from right to left), parentheses. Functions: `abs(x)`, `round(x)` and `round(x, places)` (half away from zero),
/// `floor(x)`, `ceil(x)`, `sqrt(x)`, and over any number of values `min`, `max`, `sum`, `avg`. Numbers have up to 28
/// digits; a result that needs more is rounded to them, and one above 7.9e28 is an error.
#[tool(
    title = "Calculator",
    read_only,
    pure,
    idempotent,
    categories("math", "finance"),
    short_doc = "Exact decimal arithmetic.",
    output = Evaluated,
    example(description = "Decimal fractions stay exact", input = { "expression": "0.1 + 0.2" }, output = "0.3"),
    example(description = "A function", input = { "expression": "round(19.99 * 3 * 1.19, 2)" }, output = "71.36"),
)]
pub fn evaluate(args: Evaluate) -> Result<Output, Failure> {
    let value = value::value(&args.expression)?.to_string();
    Output::text(value.as_str()).with_structured(&Evaluated { value })
}

export_tools!(evaluate);

#[cfg(test)]
mod tests {
    use super::*;
    use ringfence_sdk::FailureKind;
    use ringfence_sdk::serde_json::{Value, json};
    use ringfence_sdk::testing::{Call, TestHost};

    fn call(expression: &str) -> Call {
        TestHost::new(TOOLS).call("evaluate", json!({ "expression": expression }))
    }

    #[test]
    fn tenths_are_exact() {
        let call = call("0.1 + 0.2");
        assert_eq!(call.text(), "0.3");
        assert_eq!(call.structured::<Value>(), json!({ "value": "0.3" }));
    }

    #[test]
    fn a_mistake_is_a_failure_with_its_position() {
        let call = call("1 + ");
        assert_eq!(call.failure().kind, FailureKind::InvalidParams);
        assert_eq!(call.failure().code, "unexpected_end");
        assert_eq!(call.failure().message, "The expression ends too early, at character 5.");
    }

    #[test]
    fn the_definition_shows_what_it_promises() {
        let definition = (TOOLS[0].define)();
        for example in definition.examples {
            let input: Value = ringfence_sdk::serde_json::from_str(&example.input).unwrap();
            assert_eq!(Some(TestHost::new(TOOLS).call("evaluate", input).text()), example.output);
        }
    }
}
