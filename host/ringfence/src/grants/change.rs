//! What is granted in addition, and how it is written into a file that is the operator's to edit.

use ringfence_core::grant::HttpRule;
use ringfence_core::tool_state::StateQuota;
use ringfence_egress::{OAuth2, Scope};
use ringfence_package::Granted;
use ringfence_package::grant::Capabilities;
use serde::{Deserialize, Serialize};
use toml_edit::{Array, DocumentMut, InlineTable, Item, RawString, TableLike, Value};

use super::GrantFileError;

/// What is to be granted in addition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GrantChange {
    /// All that is asked for, as far as it needs no choice.
    pub(crate) all: bool,
    /// Requests, each as `GET https://…` or `GET,POST https://…`.
    pub(crate) http: Vec<String>,
    /// Ranges of addresses.
    pub(crate) addresses: Vec<String>,
    /// The package's name for a credential, and the name of the secret.
    pub(crate) credentials: Vec<(String, String)>,
    /// The package's name for an OAuth 2.0 credential, and the client's id.
    pub(crate) clients: Vec<(String, String)>,
    /// The package's name for an OAuth 2.0 credential, and the name of the secret that holds the refresh token.
    pub(crate) refresh_tokens: Vec<(String, String)>,
    /// Secrets that may be asked about.
    pub(crate) test: Vec<String>,
    /// Secrets that may be signed with.
    pub(crate) sign: Vec<String>,
    /// Files that may be read.
    pub(crate) read: Vec<String>,
    /// Files that may be written.
    pub(crate) write: Vec<String>,
    /// Values of the environment.
    pub(crate) env: Vec<(String, String)>,
    /// The package's names for other tools, and the wire names of these.
    pub(crate) tools: Vec<(String, String)>,
    /// How much may be kept between calls, instead of what was granted before.
    pub(crate) state: Option<StateQuota>,
    /// When the grant ends.
    pub(crate) expires: Option<String>,
    /// Limits, by their keys: not in addition, but instead of what the grant said of them.
    pub(crate) limits: Vec<(String, i64)>,
    /// Calls in any minute, in the same way.
    pub(crate) per_minute: Option<u32>,
    /// Calls in any hour, in the same way.
    pub(crate) per_hour: Option<u32>,
    /// Who signed the package (a key's id, or `unsigned`): the grant was given to another's, and is to be given to this.
    pub(crate) accept_signer: Option<String>,
}

impl GrantChange {
    /// The document with the change in it, as text. What stands there keeps its form; parsed before, it has the right
    /// types.
    pub(super) fn written_into(
        &self,
        mut document: DocumentMut,
        granted: &Granted,
        requested: &Capabilities,
    ) -> Result<String, GrantFileError> {
        if document.is_empty() {
            // A file of comments alone: what is written comes behind them.
            let comments = document.to_string();
            let mut written = DocumentMut::new();
            self.write_into(&mut written, granted, requested)?;
            let gap = if comments.trim().is_empty() { "" } else { "\n\n" };
            return Ok(format!("{}{gap}{written}", comments.trim_end()));
        }
        let only_tables = !has_values(&document);
        self.write_into(&mut document, granted, requested)?;
        if only_tables && has_values(&document) {
            set_off_first_table(&mut document);
        }
        Ok(document.to_string())
    }

    fn write_into(
        &self,
        document: &mut DocumentMut,
        granted: &Granted,
        requested: &Capabilities,
    ) -> Result<(), GrantFileError> {
        let all = if self.all { requested.in_full() } else { Granted::default() };
        if let Some(expires) = &self.expires {
            document["expires"] = toml_edit::value(expires);
        }
        let more: Vec<HttpRule> = self.http.iter().map(|text| rule(text)).collect::<Result<_, _>>()?;
        for rule in all.http.into_iter().chain(more).filter(|rule| !granted.http.contains(rule)) {
            push_rule(document, &rule)?;
        }
        extend_list(document.as_table_mut(), "addresses", self.addresses.clone());
        let with = |more: &[String], all: Vec<String>| more.iter().cloned().chain(all).collect::<Vec<_>>();
        for (section, key, list) in [
            ("secrets", "test", with(&self.test, texts(all.secrets.test))),
            ("secrets", "sign", with(&self.sign, texts(all.secrets.sign))),
            ("workspace", "read", with(&self.read, texts(all.workspace.read))),
            ("workspace", "write", with(&self.write, texts(all.workspace.write))),
        ] {
            if !list.is_empty() {
                table(document, section).into_iter().for_each(|table| extend_list(table, key, list.clone()));
            }
        }
        for (section, pairs) in [("env", &self.env), ("tools", &self.tools)] {
            pairs.iter().for_each(|(name, value)| insert(document, section, name, value));
        }
        // All that is asked for takes nothing away from what is granted already.
        let in_full = all.state.map(|asked| granted.state.map_or(asked, |given| given.most(asked)));
        self.write_amounts(document, self.state.or(in_full));
        self.write_credentials(document, requested)
    }

    /// Writes how much may be kept, and the ceiling.
    fn write_amounts(&self, document: &mut DocumentMut, state: Option<StateQuota>) {
        for (key, number) in state.iter().flat_map(|quota| [("bytes", quota.bytes), ("keys", quota.keys)]) {
            insert(document, "state", key, i64::try_from(number).unwrap_or(i64::MAX));
        }
        for (key, value) in &self.limits {
            insert(document, "limits", key, *value);
        }
        for (key, number) in [("per_minute", self.per_minute), ("per_hour", self.per_hour)] {
            number.into_iter().for_each(|number| insert(document, "rate", key, i64::from(number)));
        }
    }

    fn write_credentials(&self, document: &mut DocumentMut, requested: &Capabilities) -> Result<(), GrantFileError> {
        for (name, secret) in &self.credentials {
            let Some(credentials) = table(document, "credentials") else { continue };
            let credential = credentials.entry(name).or_insert_with(|| toml_edit::value(InlineTable::new()));
            credential.as_table_like_mut().and_then(|entry| entry.insert("secret", toml_edit::value(secret)));
        }
        for (key, list) in [("client_id", &self.clients), ("refresh_token", &self.refresh_tokens)] {
            for (name, value) in list {
                let asked = requested.credentials.get(name).and_then(|credential| credential.oauth2.as_ref());
                let asked = asked.ok_or_else(|| GrantFileError::NoOAuth2(name.clone()))?;
                client(document, name, asked).and_then(|client| client.insert(key, toml_edit::value(value)));
            }
        }
        Ok(())
    }
}

/// The client behind the credential `name`, with what is asked for now.
fn client<'a>(document: &'a mut DocumentMut, name: &str, asked: &OAuth2) -> Option<&'a mut dyn TableLike> {
    let empty = || toml_edit::value(InlineTable::new());
    let credential = table(document, "credentials")?.entry(name).or_insert_with(empty).as_table_like_mut()?;
    let client = credential.entry("oauth2").or_insert_with(empty).as_table_like_mut()?;
    client.insert("token_url", toml_edit::value(asked.token_url.to_string()));
    client.insert("scopes", toml_edit::value(asked.scopes.iter().map(Scope::as_str).collect::<Array>()));
    match &asked.audience {
        Some(audience) => client.insert("audience", toml_edit::value(audience)),
        None => client.remove("audience"),
    };
    Some(client)
}

/// `GET,POST https://…` as a rule.
fn rule(text: &str) -> Result<HttpRule, GrantFileError> {
    let wrong = |problem: String| GrantFileError::Request { text: text.to_owned(), problem };
    let (methods, url) = text.trim().split_once(' ').ok_or_else(|| wrong("method and URL are missing".into()))?;
    let methods: Vec<String> = methods.split(',').map(str::to_owned).collect();
    let url = url.trim().parse().map_err(|error: ringfence_core::grant::PatternError| wrong(error.to_string()))?;
    Ok(HttpRule::new(url, methods.try_into().map_err(wrong)?))
}

fn push_rule(document: &mut DocumentMut, rule: &HttpRule) -> Result<(), GrantFileError> {
    let wrong = |problem: String| GrantFileError::Request { text: rule.to_string(), problem };
    let written = toml::to_string(rule).map_err(|error| wrong(error.to_string()))?;
    let fields: DocumentMut = written.parse().map_err(|error: toml_edit::TomlError| wrong(error.to_string()))?;
    let rules = document.entry("http").or_insert(Item::ArrayOfTables(toml_edit::ArrayOfTables::new()));
    match rules {
        Item::ArrayOfTables(rules) => rules.push(fields.as_table().clone()),
        Item::Value(Value::Array(rules)) => push_line(rules, fields.as_table().clone().into_inline_table().into()),
        _ => return Err(wrong("`http` in the file is no list of rules".into())),
    }
    Ok(())
}

/// Whether anything stands in the document in front of its tables.
fn has_values(document: &DocumentMut) -> bool {
    document.iter().any(|(_, item)| item.is_value())
}

/// Puts an empty line between the first table and what was written in front of it.
fn set_off_first_table(document: &mut DocumentMut) {
    let tables = document.iter_mut().filter_map(|(_, item)| match item {
        Item::Table(table) => Some(table),
        Item::ArrayOfTables(tables) => tables.get_mut(0),
        _ => None,
    });
    if let Some(first) = tables.filter(|table| table.position().is_some()).min_by_key(|table| table.position()) {
        let before = first.decor().prefix().and_then(RawString::as_str).unwrap_or_default().to_owned();
        first.decor_mut().set_prefix(format!("\n{}", before.trim_start_matches('\n')));
    }
}

/// Adds `value` to a list on a line of its own, behind the comment on the line before.
fn push_line(list: &mut Array, mut value: Value) {
    let comment = list.trailing().as_str().unwrap_or_default().trim_end().to_owned();
    if let Some(last) = list.iter_mut().last() {
        last.decor_mut().set_suffix("");
    }
    value.decor_mut().set_prefix(format!("{comment}\n  "));
    list.push_formatted(value);
    list.set_trailing_comma(true);
    list.set_trailing("\n");
}

/// Adds to a list what is not in it.
fn extend_list(table: &mut dyn TableLike, key: &str, more: Vec<String>) {
    if more.is_empty() {
        return;
    }
    let Some(list) = table.entry(key).or_insert_with(|| toml_edit::value(Array::new())).as_array_mut() else { return };
    for text in more {
        let in_lines = list.to_string().contains('\n');
        let is_there = list.iter().any(|there| there.as_str() == Some(&text));
        match (is_there, in_lines) {
            (true, _) => {}
            (false, true) => push_line(list, text.into()),
            (false, false) => list.push(text),
        }
    }
}

/// Gives `key` in the table `section` a value, in place of the one that it has.
fn insert(document: &mut DocumentMut, section: &str, key: &str, value: impl Into<Value>) {
    table(document, section).and_then(|table| table.insert(key, toml_edit::value(value)));
}

/// The table `name`, made where there is none; `None` for what is no table, which a grant that was read cannot hold.
fn table<'a>(document: &'a mut DocumentMut, name: &str) -> Option<&'a mut dyn TableLike> {
    document.entry(name).or_insert_with(toml_edit::table).as_table_like_mut()
}

fn texts<T: Into<String>>(list: Vec<T>) -> Vec<String> {
    list.into_iter().map(Into::into).collect()
}
