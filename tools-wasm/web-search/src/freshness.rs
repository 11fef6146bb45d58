//! How new a page has to be.

use std::fmt;

use ringfence_sdk::prelude::*;

/// How new a page has to be: `day`, `week`, `month`, `year`, or between two days, as `2026-01-01to2026-06-30`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(extend("pattern" = r"^(day|week|month|year|[0-9]{4}-[0-9]{2}-[0-9]{2}to[0-9]{4}-[0-9]{2}-[0-9]{2})$"))]
pub struct Freshness(String);

impl TryFrom<String> for Freshness {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let code = match text.as_str() {
            "day" => "pd",
            "week" => "pw",
            "month" => "pm",
            "year" => "py",
            range if is_range(range) => range,
            _ => {
                return Err(format!(
                    "{text:?} is no freshness: write \"day\", \"week\", \"month\", \"year\", or two days in their \
                     order, such as \"2026-01-01to2026-06-30\""
                ));
            }
        };
        Ok(Self(code.to_owned()))
    }
}

fn is_range(text: &str) -> bool {
    // Written like this, the order of texts is the order of days.
    text.split_once("to").is_some_and(|(from, to)| is_day(from) && is_day(to) && from <= to)
}

/// `2026-01-31`. How many days a month has is left to the server.
fn is_day(text: &str) -> bool {
    let number = |part: &str, digits| {
        (part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit())).then(|| part.parse::<u16>().ok())?
    };
    let mut parts = text.splitn(3, '-');
    let mut next = |digits| parts.next().and_then(|part| number(part, digits));
    matches!((next(4), next(2), next(2)), (Some(_), Some(1..=12), Some(1..=31)))
}

/// As the API has it.
impl fmt::Display for Freshness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_span_or_two_days() {
        for (text, code) in [("day", "pd"), ("year", "py"), ("2026-01-01to2026-06-30", "2026-01-01to2026-06-30")] {
            assert_eq!(Freshness::try_from(text.to_owned()).unwrap().to_string(), code);
        }
        for wrong in [
            "",
            "pd",
            "today",
            "to",
            "2026-01-01",
            "2026-06-30to2026-01-01",
            "2026-13-01to2026-13-02",
            "2026-1-1to2026-2-2",
            "+026-01-01to2026-01-01",
            "2026-01-01to2026-01-02&x=1",
            "2026-01-01to2026-01-02-03",
        ] {
            assert!(Freshness::try_from(wrong.to_owned()).is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_taken_or_refused(text in "[0-9to-]{0,25}", wild in "\\PC{0,20}") {
            for text in [text, wild] {
                if let Ok(Freshness(code)) = Freshness::try_from(text) {
                    prop_assert!(code.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'), "{}", code);
                }
            }
        }
    }
}
