//! Other cases for the same words.

use ringfence_sdk::prelude::*;

use crate::words::{self, push_capital, push_small, push_title};

/// The arguments of [`case`](fn@case).
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// The text.
    pub text: String,
    /// The case to change it to.
    pub to: To,
}

/// A case.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum To {
    /// every letter small; the rest stays
    Lower,
    /// EVERY LETTER CAPITAL; the rest stays
    Upper,
    /// Words Begin With A Capital
    Title,
    /// words_joined_like_this
    Snake,
    /// WORDS_JOINED_LIKE_THIS
    Constant,
    /// words-joined-like-this
    Kebab,
    /// wordsJoinedLikeThis
    Camel,
    /// WordsJoinedLikeThis
    Pascal,
}

/// Changes the case of a text: `lower` and `upper` change letters only; the others first split it into words, at spaces,
/// punctuation and changes from small to capital letters, and keep nothing but the words.
#[tool(
    title = "Change case",
    read_only,
    pure,
    idempotent,
    categories("text"),
    short_doc = "Changes the case of a text.",
    example(description = "A name for a variable", input = { "text": "HTTP request timeout", "to": "snake" }, output = "http_request_timeout"),
)]
pub fn case(args: Case) -> String {
    let text = args.text.as_str();
    match args.to {
        To::Lower => text.to_lowercase(),
        To::Upper => text.to_uppercase(),
        To::Title => joined(text, " ", push_title, push_title),
        To::Snake => joined(text, "_", push_small, push_small),
        To::Constant => joined(text, "_", push_capital, push_capital),
        To::Kebab => joined(text, "-", push_small, push_small),
        To::Camel => joined(text, "", push_small, push_title),
        To::Pascal => joined(text, "", push_title, push_title),
    }
}

/// How a word is appended to a text.
type Push = fn(&mut String, &str);

/// The words of `text`, the first one written by `first` and the others by `other`, with `between` between them.
fn joined(text: &str, between: &str, first: Push, other: Push) -> String {
    let mut result = String::with_capacity(text.len());
    let mut push = first;
    words::each(text, |word| {
        if !result.is_empty() {
            result.push_str(between);
        }
        push(&mut result, word);
        push = other;
    });
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_case_is_its_own() {
        for (to, expected) in [
            (To::Lower, "straße zum xmlparser"),
            (To::Upper, "STRASSE ZUM XMLPARSER"),
            (To::Title, "Straße Zum Xml Parser"),
            (To::Snake, "straße_zum_xml_parser"),
            (To::Constant, "STRASSE_ZUM_XML_PARSER"),
            (To::Kebab, "straße-zum-xml-parser"),
            (To::Camel, "straßeZumXmlParser"),
            (To::Pascal, "StraßeZumXmlParser"),
        ] {
            assert_eq!(case(Case { text: "Straße zum XMLParser".to_owned(), to }), expected, "{to:?}");
            assert_eq!(case(Case { text: String::new(), to }), "", "{to:?}");
        }
    }
}
