//! Values checked against the schemas of a tool, and what is said of those that do not agree.

use jsonschema::Validator;
use serde_json::Value;

use crate::finish::current::CurrentScrubber;
use crate::finish::scrub::Scrubber;
use crate::schema_rules;
use crate::schema_work::Measured;
use crate::tool::ToolSpec;

/// The compiled schemas of a tool. Compiled at the first call, because a host may hold a thousand tools and use three.
pub(crate) struct Validators {
    pub(crate) parameters: Checker,
    pub(crate) output: Option<Checker>,
}

/// A compiled schema that refuses values which would take too much work to check.
pub(crate) struct Checker {
    validator: Validator,
    work: Measured,
}

/// The most steps of a check after which it is said what is wrong and where; each may be one thing.
const MOST_TO_EXPLAIN: u64 = 100_000;

impl Validators {
    pub(crate) fn compile(spec: &ToolSpec) -> Result<Self, String> {
        let output = spec.output_schema.as_ref().map(Checker::compile).transpose()?;
        Ok(Self { parameters: Checker::compile(&spec.parameters)?, output })
    }
}

impl Checker {
    fn compile(schema: &Value) -> Result<Self, String> {
        Ok(Self { validator: schema_rules::compile(schema)?, work: Measured::new(schema) })
    }

    /// What is wrong with `value`, each problem with its place, at most ten; nothing when it agrees with the schema.
    /// What a problem repeats of the value is clean, as far as `scrubber` knows secrets.
    pub(crate) fn problems(&self, value: &Value, scrubber: &CurrentScrubber) -> Vec<String> {
        if !self.work.is_bounded(value) {
            return vec!["checking it against the schema would take too long".into()];
        }
        if self.validator.is_valid(value) {
            return Vec::new();
        }
        // The validator makes all errors before it gives the first, so there must not be many.
        if !self.work.is_within(MOST_TO_EXPLAIN, value) {
            return vec!["it does not agree with the schema, and is too large for the places to be named".into()];
        }
        problems(&self.validator, value, &scrubber.get())
    }

    /// Whether nothing is wrong with `value`.
    pub(crate) fn accepts(&self, value: &Value) -> bool {
        self.work.is_bounded(value) && self.validator.is_valid(value)
    }
}

fn problems(validator: &Validator, value: &Value, scrubber: &Scrubber) -> Vec<String> {
    /// The most problems that are named: whoever repairs these sees the others then.
    const MOST: usize = 10;
    /// The longest text of one, in characters: a problem repeats the value that it is about.
    const LONGEST: usize = 300;
    /// How much of a text is scrubbed, in bytes: no secret that reaches into what is kept is longer.
    const LOOKED_AT: usize = 64 << 10;
    validator
        .iter_errors(value)
        .take(MOST)
        .map(|error| {
            let place = error.instance_path().to_string();
            // Scrubbed first and cut then: half a secret would not be found. What is far behind the cut is not looked at.
            let whole = error.to_string();
            let near = &whole[..whole.floor_char_boundary(LOOKED_AT)];
            let text: String = scrubber.text(near).chars().take(LONGEST).collect();
            if place.is_empty() { text } else { format!("{text} (at {place})") }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_wrong_is_said_with_its_place_unless_it_may_be_too_much() {
        let schema = json!({"type": "object", "properties": {"list": {"type": "array", "items": {"type": "integer"}}}});
        let checker = Checker::compile(&schema).unwrap();
        let said = |count: usize| checker.problems(&json!({"list": vec![""; count]}), &CurrentScrubber::default());
        let few = said(1000);
        assert_eq!(few.len(), 10);
        assert!(few[0].contains("(at /list/0)"), "{few:?}");
        let many = said(1_000_000);
        assert!(many.len() == 1 && many[0].contains("too large"), "{many:?}");
        assert_eq!(checker.problems(&json!({"list": vec![1; 1_000_000]}), &CurrentScrubber::default()), [""; 0]);
    }

    #[test]
    fn a_long_text_is_no_reason_to_say_less() {
        let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["name"]});
        let checker = Checker::compile(&schema).unwrap();
        let said = checker.problems(&json!({"text": "a".repeat(8 << 20)}), &CurrentScrubber::default());
        assert!(said.len() == 1 && said[0].contains("\"name\" is a required property"), "{said:?}");
    }
}
