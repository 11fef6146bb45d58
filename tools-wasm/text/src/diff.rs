//! What changed between two texts.

use ringfence_sdk::prelude::*;

use crate::comparison::Comparison;

/// The arguments of [`diff`](fn@diff).
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Diff {
    /// The text before.
    pub old: String,
    /// The text after.
    pub new: String,
    /// How many equal lines to show around a change. 3 unless given.
    #[serde(default = "default_context")]
    pub context: u16,
}

fn default_context() -> u16 {
    3
}

/// How much changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Changes {
    /// Lines that only the new text has.
    pub added: usize,
    /// Lines that only the old text has.
    pub removed: usize,
}

/// Compares two texts line by line. Gives a unified diff, which is empty where they are equal, and the numbers of lines
/// added and removed. The diff is always right; of texts that are large and very different it may not be the shortest.
#[tool(
    title = "Compare texts",
    read_only,
    pure,
    idempotent,
    categories("text"),
    short_doc = "Compares two texts line by line.",
    output = Changes,
    example(
        description = "One line changed",
        input = { "old": "one\ntwo\n", "new": "one\n2\n" },
        output = "--- old\n+++ new\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n",
    ),
)]
pub fn diff(args: Diff, call: &CallInfo) -> Result<Output, Failure> {
    let comparison = Comparison::new(&args.old, &args.new);
    let text = comparison.unified(usize::from(args.context));
    if text.len() as u64 > call.max_result_bytes {
        let size = text.len();
        let message = format!("The diff has {size} bytes, more than the {} of a result.", call.max_result_bytes);
        return Err(Failure::failed(message).with_code("result_too_large"));
    }
    Output::text(text).with_structured(&comparison.changes())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use ringfence_sdk::serde_json::json;
    use ringfence_sdk::testing::{Call, TestHost};

    use super::*;

    fn run(old: &str, new: &str) -> Call {
        TestHost::new(crate::TOOLS).call("diff", json!({ "old": old, "new": new, "context": 1 }))
    }

    #[test]
    fn equal_texts_have_no_difference() {
        for text in ["", "one\ntwo\n", "é"] {
            let call = run(text, text);
            assert_eq!(call.text(), "");
            assert_eq!(call.structured::<Changes>(), Changes { added: 0, removed: 0 });
        }
    }

    #[test]
    fn a_change_shows_with_its_neighbours() {
        let call = run("a\nb\nc\nd\n", "a\nb\nC\nd");
        let expected = "--- old\n+++ new\n@@ -2,3 +2,3 @@\n b\n-c\n-d\n+C\n+d\n\\ No newline at end of file\n";
        assert_eq!(call.text(), expected);
        assert_eq!(call.structured::<Changes>(), Changes { added: 2, removed: 2 });
    }

    #[test]
    fn texts_that_are_large_and_very_different_are_compared_all_the_same() {
        for (old, new) in [
            ("a\nb\n".repeat(10_000), "b\nb\na\n".repeat(10_000)),
            (numbers(0..60_000).collect(), numbers((0..60_000).rev()).collect()),
            (
                numbers(0..60_000).collect(),
                numbers((0..60_000).map(|n| if n % 7 == 0 { n + 60_000 } else { n })).collect(),
            ),
        ] {
            let call = TestHost::new(crate::TOOLS).call("diff", json!({ "old": old, "new": new, "context": 0 }));
            assert_eq!(apply(&old, &call.text()), new);
        }
    }

    fn numbers(range: impl Iterator<Item = u32>) -> impl Iterator<Item = String> {
        range.map(|number| format!("{number}\n"))
    }

    #[test]
    fn a_diff_that_is_too_large_is_refused() {
        let call = run(&"long line\n".repeat(49_999), &"quite another line\n".repeat(49_999));
        assert_eq!(call.failure().code, "result_too_large");
    }

    /// Applies a unified diff without context.
    fn apply(old: &str, patch: &str) -> String {
        let mut rest = old.split_inclusive('\n');
        let mut taken = 0;
        let mut new = String::new();
        for line in patch.lines().skip(2) {
            if let Some(hunk) = line.strip_prefix("@@ -") {
                let (range, _) = hunk.split_once(' ').unwrap();
                let (start, length) = range.split_once(',').unwrap_or((range, "1"));
                let before = start.parse::<usize>().unwrap() - usize::from(length != "0");
                new.extend(rest.by_ref().take(before - taken));
                taken = before;
            } else if let Some(added) = line.strip_prefix('+') {
                new.push_str(added);
                new.push('\n');
            } else if line.starts_with('-') {
                rest.next();
                taken += 1;
            }
        }
        new.extend(rest);
        new
    }

    proptest! {
        /// The diff, applied to the old text, gives the new one.
        #[test]
        fn a_diff_leads_from_old_to_new(old in "([ab]\n){0,20}", new in "([ab]\n){0,20}") {
            let call = TestHost::new(crate::TOOLS).call("diff", json!({ "old": old, "new": new, "context": 0 }));
            prop_assert_eq!(apply(&old, &call.text()), new);
        }
    }
}
