//! The words of a text, and other spellings of them.
//!
//! It takes a text apart as the crate `heck` does, which says of itself what a word is, at a tenth of its work: a text of
//! 1 MiB has to be done within what one call may compute.

/// What a character says about where a word ends.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Small,
    Capital,
    /// A digit, or a letter that has no case.
    Neither,
}

impl Kind {
    fn of(c: char) -> Self {
        if c.is_lowercase() {
            Self::Small
        } else if c.is_uppercase() {
            Self::Capital
        } else {
            Self::Neither
        }
    }
}

/// Hands out each word of `text`, in order: letters and digits without a break, parted before a capital that follows a
/// small letter, and before the last capital of several that a small letter follows, as in `XMLParser`.
pub(crate) fn each(text: &str, mut word: impl FnMut(&str)) {
    for run in text.split(|c: char| !c.is_alphanumeric()).filter(|run| !run.is_empty()) {
        each_of_run(run, &mut word);
    }
}

fn each_of_run(run: &str, word: &mut impl FnMut(&str)) {
    let mut start = 0;
    // Of the last letter of the word that has a case.
    let mut last = Kind::Neither;
    let mut letters = run.char_indices().map(|(place, c)| (place, Kind::of(c))).peekable();
    while let Some((place, kind)) = letters.next() {
        let Some(&(next_place, next)) = letters.peek() else { break };
        let now = if kind == Kind::Neither { last } else { kind };
        let end = match (now, next) {
            (Kind::Small, Kind::Capital) => Some(next_place),
            (_, Kind::Small) if last == Kind::Capital && kind == Kind::Capital => Some(place),
            _ => None,
        };
        last = if end.is_some() { Kind::Neither } else { now };
        if let Some(end) = end {
            word(&run[start..end]);
            start = end;
        }
    }
    word(&run[start..]);
}

/// Appends `word` in small letters.
pub(crate) fn push_small(text: &mut String, word: &str) {
    push(text, word, str::make_ascii_lowercase, char::to_lowercase);
    // At the end of a word, a small sigma has a form of its own.
    if word.ends_with('Σ') {
        text.pop();
        text.push('ς');
    }
}

/// Appends `word` in capital letters.
pub(crate) fn push_capital(text: &mut String, word: &str) {
    push(text, word, str::make_ascii_uppercase, char::to_uppercase);
}

/// Appends `word` with its first letter capital and the others small.
pub(crate) fn push_title(text: &mut String, word: &str) {
    let first = word.chars().next().map_or(0, char::len_utf8);
    let (first, rest) = word.split_at(first);
    push_capital(text, first);
    push_small(text, rest);
}

/// Tables of Unicode are asked only where a word needs them.
fn push<I: Iterator<Item = char>>(text: &mut String, word: &str, ascii: fn(&mut str), any: fn(char) -> I) {
    let start = text.len();
    if word.is_ascii() {
        text.push_str(word);
        ascii(&mut text[start..]);
    } else {
        text.extend(word.chars().flat_map(any));
    }
}

#[cfg(test)]
mod tests {
    use heck::{ToKebabCase, ToLowerCamelCase, ToPascalCase, ToShoutySnakeCase, ToSnakeCase, ToTitleCase};
    use proptest::prelude::*;

    use crate::case::{Case, To, case};

    fn check(text: &str) {
        for (to, expected) in [
            (To::Title, text.to_title_case()),
            (To::Snake, text.to_snake_case()),
            (To::Constant, text.to_shouty_snake_case()),
            (To::Kebab, text.to_kebab_case()),
            (To::Camel, text.to_lower_camel_case()),
            (To::Pascal, text.to_pascal_case()),
        ] {
            assert_eq!(case(Case { text: text.to_owned(), to }), expected, "{to:?} of {text:?}");
        }
    }

    #[test]
    fn words_are_those_of_heck() {
        for text in
            ["", "_", "XMLParser", "aB", "ABc", "A1b", "a1B", "ΑΣ ΟΔΟΣ Σ", "ǅungla", "straßeNAME", "東京Tokyo", "ŉA"]
        {
            check(text);
        }
    }

    proptest! {
        #[test]
        fn words_of_any_text_are_those_of_heck(text in ".{0,30}") {
            check(&text);
        }

        #[test]
        fn words_of_mixed_cases_are_those_of_heck(text in "[abABéÉßΣσς1_ ]{0,20}") {
            check(&text);
        }
    }
}
