//! What a pattern finds in a text.

use regex::{Captures, Regex, RegexBuilder};
use ringfence_sdk::prelude::*;

/// The arguments of [`extract`](fn@extract).
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Extract {
    /// The text.
    pub text: String,
    /// A regular expression in the syntax of Rust's `regex`: no look-around and no back-references. `(?i)` ignores case,
    /// `(?m)` lets `^` and `$` match at lines.
    pub pattern: String,
    /// The most matches: 1,000 unless given, and never more than 10,000.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 10_000))]
    pub limit: usize,
}

fn default_limit() -> usize {
    1000
}

/// What a pattern found.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Extracted {
    /// The matches, from the beginning of the text.
    pub matches: Vec<Match>,
    /// Whether there are more.
    pub truncated: bool,
}

/// One match.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Match {
    /// What matched.
    pub text: String,
    /// What the pattern's groups matched, in the order of their parentheses; null where a group took no part.
    pub groups: Vec<Option<String>>,
}

/// The most matches that a call may ask for.
const MAX_MATCHES: usize = 10_000;

/// A compiled pattern takes at most this many bytes, so that `\w{1000000}` is refused instead of built.
const MAX_COMPILED_BYTES: usize = 1 << 20;

/// Extracts from a text all that matches a regular expression, with what its groups matched.
#[tool(
    title = "Extract by pattern",
    read_only,
    pure,
    idempotent,
    categories("text"),
    short_doc = "Extracts what a regular expression matches.",
    output = Extracted,
    example(
        description = "Keys and values",
        input = { "text": "a=1 b=2", "pattern": r"(\w+)=(\d+)" },
        output = r#"{"matches":[{"text":"a=1","groups":["a","1"]},{"text":"b=2","groups":["b","2"]}],"truncated":false}"#,
    ),
)]
pub fn extract(args: Extract) -> Result<Json<Extracted>, Failure> {
    let pattern = compile(&args.pattern)?;
    let mut found = pattern.captures_iter(&args.text);
    let matches = found.by_ref().take(args.limit.min(MAX_MATCHES)).map(|captures| to_match(&captures)).collect();
    Ok(Json(Extracted { matches, truncated: found.next().is_some() }))
}

fn compile(pattern: &str) -> Result<Regex, Failure> {
    RegexBuilder::new(pattern)
        .size_limit(MAX_COMPILED_BYTES)
        .dfa_size_limit(MAX_COMPILED_BYTES)
        .build()
        .map_err(|error| Failure::invalid_params(error).with_code("bad_pattern"))
}

fn to_match(captures: &Captures) -> Match {
    let mut groups = captures.iter().map(|group| group.map(|found| found.as_str().to_owned()));
    Match { text: groups.next().flatten().unwrap_or_default(), groups: groups.collect() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn run(text: &str, pattern: &str, limit: usize) -> Result<Extracted, Failure> {
        extract(Extract { text: text.to_owned(), pattern: pattern.to_owned(), limit }).map(|Json(extracted)| extracted)
    }

    fn texts(extracted: &Extracted) -> Vec<&str> {
        extracted.matches.iter().map(|found| found.text.as_str()).collect()
    }

    #[test]
    fn finds_letters_of_any_script() {
        let found = run("äpfel, яблоки und 苹果", r"\w+", 10).unwrap();
        assert_eq!(texts(&found), ["äpfel", "яблоки", "und", "苹果"]);
        assert_eq!(texts(&run("ÄPFEL", "(?i)äpfel", 10).unwrap()), ["ÄPFEL"]);
    }

    #[test]
    fn says_when_there_are_more() {
        assert!(run("aaa", "a", 2).unwrap().truncated);
        assert!(!run("aaa", "a", 3).unwrap().truncated);
        assert!(run("", "a", 3).unwrap().matches.is_empty());
    }

    #[test]
    fn a_group_without_part_is_null() {
        let found = run("b", "(a)|(b)", 1).unwrap();
        assert_eq!(found.matches[0].groups, [None, Some("b".to_owned())]);
    }

    #[test]
    fn a_bad_or_huge_pattern_is_refused() {
        for pattern in ["(", r"\1", "(?=a)", r"\w{1000}{1000}"] {
            assert_eq!(run("a", pattern, 1).unwrap_err().code, "bad_pattern", "{pattern}");
        }
    }

    proptest! {
        /// Whatever text and pattern, there is an answer, and literal patterns find what `str::matches` finds.
        #[test]
        fn never_panics(text in ".{0,40}", pattern in r"[a-z.*+?()|\[\]\\^$é]{0,12}") {
            let _ = run(&text, &pattern, 100);
        }

        #[test]
        fn a_literal_is_found_where_it_is(text in "[ab]{0,40}", literal in "[ab]{1,3}") {
            let found = run(&text, &literal, 100).unwrap();
            prop_assert_eq!(texts(&found), text.matches(literal.as_str()).collect::<Vec<_>>());
        }
    }
}
