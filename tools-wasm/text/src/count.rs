//! How much text there is.

use ringfence_sdk::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

/// The arguments of [`count`](fn@count).
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Count {
    /// The text.
    pub text: String,
}

/// How much text there is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Counts {
    /// Bytes in UTF-8.
    pub bytes: usize,
    /// Unicode code points.
    pub characters: usize,
    /// What people see as one character: an emoji of several code points is one.
    pub graphemes: usize,
    /// Words as Unicode divides a text; numbers count, punctuation does not.
    pub words: usize,
    /// Lines; a newline at the end begins no other.
    pub lines: usize,
}

/// Counts the bytes, characters, graphemes, words and lines of a text.
#[tool(
    title = "Count",
    read_only,
    pure,
    idempotent,
    categories("text"),
    output = Counts,
    example(
        description = "An emoji is one grapheme of several characters",
        input = { "text": "Hello 👩‍🚀\n" },
        output = r#"{"bytes":18,"characters":10,"graphemes":8,"words":1,"lines":1}"#,
    ),
)]
pub fn count(args: Count) -> Json<Counts> {
    let text = args.text.as_str();
    Json(Counts {
        bytes: text.len(),
        characters: text.chars().count(),
        graphemes: text.graphemes(true).count(),
        words: text.unicode_words().count(),
        lines: text.lines().count(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, [bytes, characters, graphemes, words, lines]: [usize; 5]) {
        let expected = Counts { bytes, characters, graphemes, words, lines };
        assert_eq!(count(Count { text: text.to_owned() }), Json(expected), "{text}");
    }

    #[test]
    fn counts_what_people_see() {
        check("", [0, 0, 0, 0, 0]);
        check("one two\nthree", [13, 13, 13, 3, 2]);
        check("one\r\n", [5, 5, 4, 1, 1]);
        check("über 3.5 €", [13, 10, 10, 2, 1]);
        check("e\u{301}", [3, 2, 1, 1, 1]);
        check("東京", [6, 2, 2, 2, 1]);
    }
}
