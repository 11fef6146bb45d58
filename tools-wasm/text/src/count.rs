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
    /// Words: what stands between white space.
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
        output = r#"{"bytes":18,"characters":10,"graphemes":8,"words":2,"lines":1}"#,
    ),
)]
pub fn count(args: Count) -> Json<Counts> {
    let text = args.text.as_str();
    Json(Counts {
        bytes: text.len(),
        characters: text.chars().count(),
        graphemes: graphemes(text),
        words: text.split_whitespace().count(),
        lines: lines(text),
    })
}

/// Counts graphemes. In front of a letter that stands alone there is always a boundary, if another such letter or an accent
/// is before it; so only the pieces around other characters need the full rules, which take some 700 instructions a
/// character.
fn graphemes(text: &str) -> usize {
    let (mut count, mut start, mut before) = (0, 0, ' ');
    for (at, c) in text.char_indices() {
        if stands_alone(c) && (stands_alone(before) || is_accent(before)) {
            count += piece(&text[start..at]);
            start = at;
        }
        before = c;
    }
    count + piece(&text[start..])
}

fn piece(text: &str) -> usize {
    let mut characters = text.chars();
    match characters.next() {
        None => 0,
        Some(_) if text.len() == 1 => 1,
        Some(first) if first != '\n' && stands_alone(first) && characters.all(is_accent) => 1,
        Some(_) => text.graphemes(true).count(),
    }
}

/// Characters that join no other by themselves (Unicode Standard Annex 29: `Grapheme_Cluster_Break=Other`, or a newline).
fn stands_alone(c: char) -> bool {
    matches!(c,
        ' '..='~' | '\n' | '\u{c0}'..='\u{2ff}' | '\u{370}'..='\u{482}' | '\u{3041}'..='\u{3096}'
        | '\u{30a1}'..='\u{30fa}' | '\u{4e00}'..='\u{9fff}')
}

/// The block of combining accents: each joins what is before it, but a newline.
fn is_accent(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}')
}

/// Counts lines as `str::lines` does, which looks for the end of each anew.
fn lines(text: &str) -> usize {
    let newlines = text.bytes().filter(|byte| *byte == b'\n').count();
    newlines + usize::from(!text.is_empty() && !text.ends_with('\n'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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
        check("über 3.5 €", [13, 10, 10, 3, 1]);
        check("e\u{301}", [3, 2, 1, 1, 1]);
        check("東京", [6, 2, 2, 1, 1]);
    }

    proptest! {
        #[test]
        fn short_cuts_lead_to_the_same_numbers(text in "([a-z ]|\r|\n|\u{301}|\u{36f}|é|Ω|ж|あ|カ|東|\u{600}|\u{200d}|👩|🚀|🇩|한|.){0,40}") {
            prop_assert_eq!(graphemes(&text), text.graphemes(true).count());
            prop_assert_eq!(lines(&text), text.lines().count());
        }
    }
}
