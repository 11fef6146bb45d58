//! Texts for addresses and file names.

use deunicode::deunicode_char;
use ringfence_sdk::prelude::*;

/// The arguments of [`slug`](fn@slug).
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Slug {
    /// The text.
    pub text: String,
    /// The most characters; a word that does not fit is left out. 80 unless given.
    #[serde(default = "default_length")]
    #[schemars(range(min = 1))]
    pub max_length: usize,
}

fn default_length() -> usize {
    80
}

/// Makes a slug of a text, fit for an address or a file name: `a` to `z`, digits, and `-` between words. Other scripts are
/// written in Latin letters. The result is empty where the text has no letter or digit.
#[tool(
    title = "Slug",
    read_only,
    pure,
    idempotent,
    categories("text"),
    short_doc = "Makes a slug of a text.",
    example(description = "A title", input = { "text": "Crème brûlée: 10 tips!" }, output = "creme-brulee-10-tips"),
)]
pub fn slug(args: Slug) -> String {
    let ascii: String = args.text.chars().map(|c| deunicode_char(c).unwrap_or(" ")).collect();
    let ascii = ascii.to_ascii_lowercase();
    let words = ascii.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    join_within(args.max_length, words)
}

/// Joins as many words as fit. The first is cut rather than left out.
fn join_within<'a>(max_length: usize, words: impl Iterator<Item = &'a str>) -> String {
    let mut slug = String::new();
    for word in words {
        if slug.is_empty() {
            slug.push_str(&word[..word.len().min(max_length)]);
        } else if slug.len() + 1 + word.len() <= max_length {
            slug.push('-');
            slug.push_str(word);
        } else {
            break;
        }
    }
    slug
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, max_length: usize, expected: &str) {
        assert_eq!(slug(Slug { text: text.to_owned(), max_length }), expected, "{text}");
    }

    #[test]
    fn other_scripts_are_written_in_latin_letters() {
        check("Crème brûlée: 10 tips!", 80, "creme-brulee-10-tips");
        check("Привет, мир", 80, "privet-mir");
        check("Straße_№ 5", 80, "strasse-no-5");
        check("", 80, "");
        check(" -- !", 80, "");
    }

    #[test]
    fn a_long_text_ends_with_a_whole_word() {
        check("one two three", 9, "one-two");
        check("one two three", 7, "one-two");
        check("one two three", 6, "one");
        check("unsplittable", 5, "unspl");
        check("one", 0, "");
    }

    proptest! {
        /// Nothing but `a-z0-9` and single dashes inside, never too long, and the slug of a slug is itself.
        #[test]
        fn a_slug_is_clean(text in ".{0,60}", max_length in 0_usize..40) {
            let made = slug(Slug { text, max_length });
            prop_assert!(made.len() <= max_length);
            prop_assert!(made.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'));
            prop_assert!(!made.starts_with('-') && !made.ends_with('-') && !made.contains("--"));
            prop_assert_eq!(slug(Slug { text: made.clone(), max_length }), made);
        }
    }
}
