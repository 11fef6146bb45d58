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

/// The longest text that is split into words, which takes up to a thousand instructions a byte.
const MAX_BYTES: usize = 262_144;

/// Changes the case of a text: `lower` and `upper` change letters only; the others first split it into words, at spaces,
/// punctuation and changes from small to capital letters, and keep nothing but the words;
/// they take texts of up to 262,144 bytes.
#[tool(
    title = "Change case",
    read_only,
    pure,
    idempotent,
    categories("text"),
    short_doc = "Changes the case of a text.",
    example(description = "A name for a variable", input = { "text": "HTTP request timeout", "to": "snake" }, output = "http_request_timeout"),
)]
pub fn case(args: Case) -> Result<String, Failure> {
    let text = args.text;
    if text.len() > MAX_BYTES && !matches!(args.to, To::Lower | To::Upper) {
        let message = format!("Only texts of up to {MAX_BYTES} bytes are split into words; this has {}.", text.len());
        return Err(Failure::invalid_params(message).with_code("too_long"));
    }
    Ok(match args.to {
        To::Lower => text.to_lowercase(),
        To::Upper => text.to_uppercase(),
        To::Title => text.to_title_case(),
        To::Snake => text.to_snake_case(),
        To::Constant => text.to_shouty_snake_case(),
        To::Kebab => text.to_kebab_case(),
        To::Camel => text.to_lower_camel_case(),
        To::Pascal => text.to_pascal_case(),
    })
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
            assert_eq!(case(Case { text: "Straße zum XMLParser".to_owned(), to }), Ok(expected.to_owned()), "{to:?}");
            assert_eq!(case(Case { text: String::new(), to }), Ok(String::new()), "{to:?}");
        }
    }

    #[test]
    fn only_letters_of_long_texts_change() {
        let text = "é".repeat(MAX_BYTES);
        assert_eq!(case(Case { text: text.clone(), to: To::Upper }), Ok("É".repeat(MAX_BYTES)));
        assert_eq!(case(Case { text, to: To::Snake }).unwrap_err().code, "too_long");
    }
}
