//! An issue as GitHub gives it.

use ringfence_sdk::prelude::*;
use ringfence_sdk::serde::Deserializer;
use ringfence_sdk::serde::de::IgnoredAny;

use crate::repositories::on_one_line;

/// An issue or a pull request, in GitHub's own words. What is not known is null.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Issue {
    /// Its number in the repository.
    pub number: u64,
    /// What it is called.
    pub title: String,
    /// `open` or `closed`.
    pub state: String,
    /// Why it has that state: `completed`, `not_planned`, `reopened`.
    pub state_reason: Option<String>,
    /// The page for browsers.
    pub html_url: String,
    /// Who opened it.
    #[serde(default, deserialize_with = "login")]
    pub user: Option<String>,
    /// Its labels.
    #[serde(default, deserialize_with = "label_names")]
    pub labels: Vec<String>,
    /// Who is to see to it.
    #[serde(default, deserialize_with = "logins")]
    pub assignees: Vec<String>,
    /// How many comments there are.
    #[serde(default)]
    pub comments: u64,
    /// Whether it is a pull request.
    #[serde(default, deserialize_with = "is_there")]
    pub pull_request: bool,
    /// When it was opened.
    pub created_at: Option<String>,
    /// When it last changed.
    pub updated_at: Option<String>,
    /// When it was closed.
    pub closed_at: Option<String>,
    /// What it says, in Markdown; left out of lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
}

#[derive(Deserialize)]
struct User {
    login: String,
}

/// GitHub's own description of the API allows both.
#[derive(Deserialize)]
#[serde(untagged)]
enum Label {
    Name(String),
    Object { name: Option<String> },
}

/// The name of a user who may be gone.
pub(crate) fn login<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(Option::<User>::deserialize(deserializer)?.map(|user| user.login))
}

fn logins<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let users = Option::<Vec<User>>::deserialize(deserializer)?.unwrap_or_default();
    Ok(users.into_iter().map(|user| user.login).collect())
}

fn label_names<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let name = |label| match label {
        Label::Name(name) => Some(name),
        Label::Object { name } => name,
    };
    Ok(Vec::deserialize(deserializer)?.into_iter().filter_map(name).collect())
}

fn is_there<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Ok(Option::<IgnoredAny>::deserialize(deserializer)?.is_some())
}

impl Issue {
    /// The same for a list, where the texts would be most of it.
    pub(crate) fn without_body(self) -> Self {
        Self { body: None, ..self }
    }

    /// All that matters for choosing one among many, on one line.
    pub(crate) fn line(&self) -> String {
        let kind = if self.pull_request { "pull request" } else { "issue" };
        let labels = if self.labels.is_empty() { String::new() } else { format!(" [{}]", self.labels.join(", ")) };
        let by = self.user.as_deref().unwrap_or("nobody");
        let title = on_one_line(&self.title);
        format!("#{} {} {kind}: {title}{labels} (by {by}, {} comments)", self.number, self.state, self.comments)
    }

    /// All of it.
    pub(crate) fn text(&self) -> String {
        let body = self.body.as_deref().filter(|body| !body.is_empty()).unwrap_or("It says nothing more.");
        format!("{}\n{}\n\n{body}", self.line(), self.html_url)
    }
}

#[cfg(test)]
mod tests {
    use ringfence_sdk::serde_json::{Value, from_value, json};

    use super::*;

    fn read(more: Value) -> Result<Issue, String> {
        let mut issue =
            json!({"number": 1, "title": "T", "state": "open", "html_url": "https://github.com/a/b/issues/1"});
        more.as_object().unwrap().iter().for_each(|(name, value)| issue[name] = value.clone());
        from_value(issue).map_err(|error| error.to_string())
    }

    #[test]
    fn what_github_may_leave_out_is_left_out() {
        let bare = read(json!({})).unwrap();
        assert_eq!(bare.line(), "#1 open issue: T (by nobody, 0 comments)");
        assert!(bare.text().ends_with("It says nothing more."));
        let nulls = read(json!({"user": null, "assignees": null, "body": null, "pull_request": null})).unwrap();
        assert!(!nulls.pull_request && nulls.user.is_none());
    }

    #[test]
    fn labels_are_names_or_objects() {
        let issue = read(json!({"labels": ["a", {"id": 1, "name": "b", "color": "f00"}, {"name": null}]})).unwrap();
        assert_eq!(issue.labels, ["a", "b"]);
        let pull = read(json!({"pull_request": {"url": "x"}, "title": "two\nlines"})).unwrap();
        assert!(pull.line().starts_with("#1 open pull request: two lines ("), "{}", pull.line());
    }

    #[test]
    fn what_is_no_issue_is_refused() {
        for wrong in [json!({"number": "1"}), json!({"title": null}), json!({"labels": [1]}), json!({"user": "x"})] {
            assert!(read(wrong.clone()).is_err(), "{wrong}");
        }
    }
}
