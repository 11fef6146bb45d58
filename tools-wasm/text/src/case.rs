//! Other cases for the same words.

use heck::{ToKebabCase, ToLowerCamelCase, ToPascalCase, ToShoutySnakeCase, ToSnakeCase, ToTitleCase};
use ringfence_sdk::prelude::*;

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
    match args.to {
        To::Lower => args.text.to_lowercase(),
        To::Upper => args.text.to_uppercase(),
        To::Title => args.text.to_title_case(),
        To::Snake => args.text.to_snake_case(),
        To::Constant => args.text.to_shouty_snake_case(),
        To::Kebab => args.text.to_kebab_case(),
        To::Camel => args.text.to_lower_camel_case(),
        To::Pascal => args.text.to_pascal_case(),
    }
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
