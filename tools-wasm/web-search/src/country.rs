//! Whose results come first.

use std::fmt;

use ringfence_sdk::prelude::*;

/// A country by its two letters (ISO 3166-1), such as `DE`, or `ALL`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(extend("pattern" = "^([A-Za-z]{2}|[Aa][Ll][Ll])$"))]
pub struct Country(String);

impl TryFrom<String> for Country {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let upper = text.to_ascii_uppercase();
        let is_code = upper.len() == 2 && upper.bytes().all(|byte| byte.is_ascii_uppercase());
        if is_code || upper == "ALL" {
            return Ok(Self(upper));
        }
        Err(format!("{text:?} is no country: write its two letters, such as \"DE\", or \"ALL\""))
    }
}

impl fmt::Display for Country {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_country_has_two_letters() {
        for (text, code) in [("de", "DE"), ("US", "US"), ("all", "ALL")] {
            assert_eq!(Country::try_from(text.to_owned()).unwrap().to_string(), code);
        }
        for wrong in ["", "d", "DEU", "Germany", "d1", "é", "&q"] {
            assert!(Country::try_from(wrong.to_owned()).unwrap_err().contains("two letters"), "{wrong}");
        }
    }
}
