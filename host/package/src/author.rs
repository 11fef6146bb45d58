//! `ringfence.toml`: what an author says of a package.

use ringfence_core::{LimitSet, SourceName};
use schemars::JsonSchema;
use semver::Version;
use serde::{Deserialize, Serialize};

use crate::grant::Capabilities;
use crate::manifest::ManifestError;
use crate::{plain_text, reading};

/// What an author says of a package. `ringfence.toml` holds just this; in a package it is a part of the manifest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PackageInfo {
    /// What the package is called, unless the operator calls it otherwise.
    pub name: SourceName,
    /// Its version. A later one replaces an earlier one, never the other way round.
    #[schemars(with = "String")]
    pub version: Version,
    /// Who made it.
    pub publisher: String,
    /// What it is for, in one line.
    pub description: String,
    /// Under which licence, as an SPDX expression.
    pub license: String,
    /// Where to read more: an http or https address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub homepage: Option<String>,
    /// The limits that its tools need, where they are lower than the usual ones. Asking for more has no effect.
    #[serde(default, skip_serializing_if = "LimitSet::is_empty")]
    pub limits: LimitSet,
    /// What its tools need beyond computing. They get what the operator grants of it.
    #[serde(default, skip_serializing_if = "Capabilities::is_empty")]
    pub capabilities: Capabilities,
}

impl PackageInfo {
    /// Reads the text of a `ringfence.toml`.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn parse(text: &str) -> Result<Self, ManifestError> {
        let info: Self = reading::from_toml(text)?;
        info.check()?;
        Ok(info)
    }

    /// The text of the `ringfence.toml` that says this: the author's own, but for comments and form.
    ///
    /// # Errors
    /// When it cannot be written in TOML.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(self)
    }

    /// Checks what the types do not say.
    pub(crate) fn check(&self) -> Result<(), ManifestError> {
        check_text("publisher", &self.publisher)?;
        check_text("description", &self.description)?;
        check_text("license", &self.license)?;
        self.capabilities.check()?;
        let Some(homepage) = &self.homepage else { return Ok(()) };
        check_text("homepage", homepage)?;
        if homepage.starts_with("https://") || homepage.starts_with("http://") {
            return Ok(());
        }
        Err(ManifestError::Field { field: "homepage", problem: "has to begin with https:// or http://" })
    }
}

fn check_text(field: &'static str, text: &str) -> Result<(), ManifestError> {
    plain_text::problem(text).map_or(Ok(()), |problem| Err(ManifestError::Field { field, problem }))
}

#[cfg(test)]
mod tests {
    use ringfence_core::LimitKind;

    use super::*;

    const GOOD: &str = r#"
name = "weather"
version = "1.2.3"
publisher = "acme"
description = "Tells the weather."
license = "MIT"
homepage = "https://example.org/weather"

[limits]
fuel = 1000

[[capabilities.http]]
url = "https://api.example.org/**"
"#;

    fn error(text: &str) -> String {
        PackageInfo::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn a_complete_file_is_read() {
        let info = PackageInfo::parse(GOOD).unwrap();
        assert_eq!(info.version, Version::new(1, 2, 3));
        assert_eq!(info.limits.get(LimitKind::Fuel), Some(1000));
        let with_values_after_tables = format!("{GOOD}[capabilities]\nenv = [\"LANG\"]\n");
        for info in [info, PackageInfo::parse(&with_values_after_tables).unwrap()] {
            assert_eq!(PackageInfo::parse(&info.to_toml().unwrap()).unwrap(), info);
        }
    }

    #[test]
    fn a_slip_in_a_field_says_where_and_what_was_meant() {
        assert_eq!(
            error(&GOOD.replace("publisher =", "publsher =")),
            "line 4, column 1: unknown field `publsher`: did you mean `publisher`?"
        );
        assert_eq!(
            error(&GOOD.replace("fuel =", "feul =")),
            "line 10, column 1: unknown field `feul`: did you mean `fuel`?"
        );
        assert_eq!(
            error(&GOOD.replace("url =", "urls =")),
            "line 13, column 1: unknown field `urls`: did you mean `url`?"
        );
        assert_eq!(
            error(&format!("{GOOD}[capabilities.workspce]\n")),
            "line 14, column 15: unknown field `workspce`: did you mean `workspace`?"
        );
        assert!(error(&format!("zzz = 1\n{GOOD}")).contains("known are name, version"));
    }

    #[test]
    fn what_is_missing_or_wrong_is_named() {
        assert!(error(&GOOD.replace("license = \"MIT\"\n", "")).contains("license"));
        assert!(error(&GOOD.replace("1.2.3", "1.2")).contains("line 3"));
        assert!(error(&GOOD.replace("\"weather\"", "\"Weather\"")).contains("a-z, 0-9 and -"));
        assert!(error(&GOOD.replace("\"acme\"", "\" \"")).contains("`publisher` is empty"));
        assert!(error(&GOOD.replace("\"acme\"", "\"a\\u001b[2J\"")).contains("control character"));
        assert!(error(&GOOD.replace("\"acme\"", "\"a\\u202e\"")).contains("invisible character"));
        assert!(error(&GOOD.replace("https:", "gopher:")).contains("https://"));
        assert!(error("name = ").contains("line 1"));
    }

    #[test]
    fn names_that_people_write_into_commands_are_plain() {
        for (capability, part) in [
            ("env = [\"X=1; touch /tmp/x #\"]", "no name of a variable"),
            ("env = [\"\"]", "no name of a variable"),
            ("env = [\"B\\nC\"]", "no name of a variable"),
            ("env = [\"1A\"]", "no name of a variable"),
            ("[capabilities.tools]\n\"a`id`\" = \"x\"", "is no name"),
            ("[capabilities.tools]\n\"\" = \"x\"", "is no name"),
            ("[capabilities.tools]\na = \"x\\nasks for nothing\"", "line break"),
            ("[capabilities.credentials.\"c d\"]\nplace = \"bearer\"\nrequests = []", "is no name"),
            (
                "[capabilities.credentials.c]\nplace = \"bearer\"\nrequests = []\ndescription = \"a\\u202eb\"",
                "invisible",
            ),
        ] {
            let text = GOOD.replace("[[capabilities.http]]\nurl = \"https://api.example.org/**\"\n", "");
            let error = error(&format!("{text}\n[capabilities]\n{capability}\n"));
            assert!(error.contains(part) && error.contains("under `capabilities."), "{capability}: {error}");
        }
    }
}
