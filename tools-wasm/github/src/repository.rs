//! Which repository a call is about.

use std::fmt;

use ringfence_sdk::http::encode;
use ringfence_sdk::prelude::*;

/// A repository: `owner/name`, made of the letters that GitHub takes for both, so that it can stand in a path.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(extend("pattern" = r"^[A-Za-z0-9_-]{1,100}/[A-Za-z0-9._-]{1,100}$"))]
pub struct Repository {
    owner: String,
    name: String,
}

/// The longest name of an owner or a repository, in characters. GitHub's own limits are not above.
const MAX_NAME: usize = 100;

impl Repository {
    /// The path of its part `rest` in the API, where `rest` is empty or begins with `/`.
    pub(crate) fn path(&self, rest: &str) -> String {
        format!("/repos/{}/{}{rest}", encode(&self.owner), encode(&self.name))
    }
}

impl TryFrom<String> for Repository {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let of_owner = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let good = |part: &str, is_allowed: &dyn Fn(char) -> bool| {
            (1..=MAX_NAME).contains(&part.len()) && part.chars().all(is_allowed)
        };
        match text.split_once('/') {
            Some((owner, name))
                if good(owner, &of_owner)
                    && good(name, &|c| of_owner(c) || c == '.')
                    && name != "."
                    && name != ".." =>
            {
                Ok(Self { owner: owner.to_owned(), name: name.to_owned() })
            }
            _ => Err(format!("{text:?} is no repository: write it as \"owner/name\"")),
        }
    }
}

impl fmt::Display for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.owner, self.name)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_repository_is_owner_and_name() {
        let repository = Repository::try_from("octo-cat/Hello_World.rs".to_owned()).unwrap();
        assert_eq!(repository.path("/issues"), "/repos/octo-cat/Hello_World.rs/issues");
        assert_eq!(repository.to_string(), "octo-cat/Hello_World.rs");
        for wrong in ["", "/", "a", "a/", "/b", "a/b/c", "a/..", "./b", "a/.", "a b/c", "a/b?c", "é/b", "a/%2e%2e"] {
            assert!(Repository::try_from(wrong.to_owned()).unwrap_err().contains("owner/name"), "{wrong}");
        }
        assert!(Repository::try_from(format!("a/{}", "b".repeat(MAX_NAME + 1))).is_err());
    }

    proptest! {
        #[test]
        fn nothing_else_gets_into_a_path(text in "[a-zA-Z0-9._/%?#é \\\\-]{0,12}") {
            if let Ok(repository) = Repository::try_from(text.clone()) {
                prop_assert_eq!(repository.path(""), format!("/repos/{text}"));
                prop_assert_eq!(text.matches('/').count(), 1);
                prop_assert!(text.split('/').all(|part| !matches!(part, "" | "." | "..")));
            }
        }
    }
}
