//! The operator's grants: a file for each source, `grants/SOURCE.toml` beside the configuration, theirs to edit.

use std::path::PathBuf;

use ringfence_core::grant::HttpRule;
use ringfence_core::name::SourceName;
use ringfence_core::tool_state::StateQuota;
use ringfence_egress::{OAuth2, Scope};
use ringfence_package::grant::{Capabilities, GrantError, unused};
use ringfence_package::reading::{self, ReadError};
use ringfence_package::{Effective, Granted};
use ringfence_store::{StoreError, check_own, make_own, remove_temporary_files, write_atomically};
use serde::{Deserialize, Serialize};
use thiserror::Error;
use toml_edit::{Array, DocumentMut, InlineTable, Item, TableLike, Value};

use crate::request::ErrorKind;

/// What narrows and gives nothing, and so stays when all is taken back.
const CEILING: [&str; 2] = ["limits", "rate"];

/// The folder of grants.
pub(crate) struct Grants {
    folder: PathBuf,
}

/// One file, read; it need not be there.
#[derive(Clone, Debug, Default)]
pub(crate) struct GrantFile {
    pub(crate) path: PathBuf,
    text: String,
    pub(crate) granted: Granted,
}

/// What is to be granted in addition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GrantChange {
    /// All that is asked for, as far as it needs no choice.
    pub all: bool,
    /// Requests, each as `GET https://…` or `GET,POST https://…`.
    pub http: Vec<String>,
    /// Ranges of addresses.
    pub addresses: Vec<String>,
    /// The package's name for a credential, and the name of the secret.
    pub credentials: Vec<(String, String)>,
    /// The package's name for an OAuth 2.0 credential, and the client's id.
    pub clients: Vec<(String, String)>,
    /// The package's name for an OAuth 2.0 credential, and the name of the secret that holds the refresh token.
    pub refresh_tokens: Vec<(String, String)>,
    /// Secrets that may be asked about.
    pub test: Vec<String>,
    /// Secrets that may be signed with.
    pub sign: Vec<String>,
    /// Files that may be read.
    pub read: Vec<String>,
    /// Files that may be written.
    pub write: Vec<String>,
    /// Values of the environment.
    pub env: Vec<(String, String)>,
    /// The package's names for other tools, and the wire names of these.
    pub tools: Vec<(String, String)>,
    /// How much may be kept between calls, instead of what was granted before.
    pub state: Option<StateQuota>,
    /// When the grant ends.
    pub expires: Option<String>,
    /// Limits, by their keys: not in addition, but instead of what the grant said of them.
    pub limits: Vec<(String, i64)>,
    /// Calls in any minute, in the same way.
    pub per_minute: Option<u32>,
    /// Calls in any hour, in the same way.
    pub per_hour: Option<u32>,
    /// Who signed the package (a key's id, or `unsigned`): the grant was given to another's, and is to be given to this.
    pub accept_signer: Option<String>,
}

/// Why a grant cannot be used. Its source gets nothing then.
#[derive(Debug, Error)]
pub(crate) enum GrantFileError {
    /// The file cannot be read or written.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// Others can write it, or the folder that it is in.
    #[error("the grant is not safe: {0}")]
    Unsafe(#[from] StoreError),
    /// It is not what a grant looks like.
    #[error("{}", .error.in_file(.path))]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and where.
        error: ReadError,
    },
    /// Something in it means nothing.
    #[error("{place}: {problem}")]
    Meaningless {
        /// The file, and the line where it is known.
        place: String,
        /// What is wrong.
        problem: String,
    },
    /// What is asked for is no rule.
    #[error("{text:?} is no request: write it like \"GET https://api.example.org/v1/**\" ({problem})")]
    Request {
        /// What was said.
        text: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A client belongs to a credential of that kind only.
    #[error("the package asks for no OAuth 2.0 credential `{0}`: `ringfence grants` shows what it asks for")]
    NoOAuth2(String),
    /// Now it would have no effect, and with some update of the package it would have one.
    #[error(
        "`{source_name}` does not ask for: {}. An update that does would get it unseen, so it is not granted; `ringfence \
         grants` shows what the package asks for", .unused.join("; ")
    )]
    NotAsked {
        /// The source.
        source_name: SourceName,
        /// What it does not ask for, in words.
        unused: Vec<String>,
    },
    /// With what is asked for the file would make no sense. It is as it was.
    #[error("this cannot be granted: {0}")]
    Change(String),
}

impl GrantFileError {
    /// What kind of no it is to whoever wanted to grant.
    pub(crate) fn kind(&self) -> ErrorKind {
        match self {
            Self::Io(_) | Self::Unsafe(_) => ErrorKind::Failed,
            Self::Malformed { .. } | Self::Meaningless { .. } => ErrorKind::Refused,
            Self::Request { .. } | Self::NoOAuth2(_) | Self::Change(_) => ErrorKind::Usage,
            Self::NotAsked { .. } => ErrorKind::Refused,
        }
    }

    /// The error of a file that was not written yet, in which no place means anything.
    fn of_change(self) -> Self {
        match self {
            Self::Malformed { error, .. } => Self::Change(error.problem),
            Self::Meaningless { problem, .. } => Self::Change(problem),
            other => other,
        }
    }
}

impl Grants {
    /// Those in `folder`, which need not be there. Only for whoever owns the state: what a kill left half written is
    /// removed.
    ///
    /// # Errors
    /// When others can write the folder, or it cannot be read.
    pub(crate) fn open(folder: PathBuf) -> Result<Self, StoreError> {
        check_own(&folder)?;
        if folder.exists() {
            remove_temporary_files(&folder)?;
        }
        Ok(Self { folder })
    }

    /// What `source` is granted; nothing where there is no file.
    ///
    /// # Errors
    /// When there is one that cannot be used.
    pub(crate) fn load(&self, source: &SourceName) -> Result<GrantFile, GrantFileError> {
        let path = self.path(source);
        check_own(&self.folder)?;
        check_own(&path)?;
        match reading::text_if_there(&path)? {
            Some(text) => GrantFile::parse(path, text),
            None => Ok(GrantFile { path, ..GrantFile::default() }),
        }
    }

    /// The file of `source`, where there is one.
    pub(crate) fn file(&self, source: &SourceName) -> Option<PathBuf> {
        Some(self.path(source)).filter(|path| path.exists())
    }

    /// Grants more, leaving what stands in the file as it is, comments included.
    ///
    /// # Errors
    /// When the change means nothing or gives what is not `requested`, or the file cannot be written.
    pub(crate) fn extend(
        &self,
        source: &SourceName,
        requested: &Capabilities,
        change: &GrantChange,
    ) -> Result<GrantFile, GrantFileError> {
        let file = self.load(source)?;
        let mut document = file.document()?;
        append(&mut document, &file.granted, requested, change)?;
        let extended = GrantFile::parse(file.path.clone(), document.to_string()).map_err(GrantFileError::of_change)?;
        let before = unused(requested, &file.granted);
        let added: Vec<_> =
            unused(requested, &extended.granted).into_iter().filter(|what| !before.contains(what)).collect();
        if !added.is_empty() {
            return Err(GrantFileError::NotAsked { source_name: source.clone(), unused: added });
        }
        self.write(&extended)?;
        Ok(extended)
    }

    /// Takes back all that `source` was granted. Whether there was anything. Its limits and rate stay: whoever takes
    /// back does not want to give.
    ///
    /// # Errors
    /// When the file is no TOML at all, or cannot be changed.
    pub(crate) fn remove(&self, source: &SourceName) -> Result<bool, GrantFileError> {
        let path = self.path(source);
        let Some(text) = reading::text_if_there(&path)? else { return Ok(false) };
        let file = GrantFile { path, text, granted: Granted::default() };
        let mut document = file.document()?;
        let entries = document.len();
        document.as_table_mut().retain(|key, _| CEILING.contains(&key));
        match document.len() {
            left if left == entries => return Ok(false),
            0 => fs_err::remove_file(&file.path)?,
            _ => self.write(&GrantFile { text: document.to_string(), ..file })?,
        }
        Ok(true)
    }

    /// The file of `source`, whether it is there or not.
    pub(crate) fn path(&self, source: &SourceName) -> PathBuf {
        self.folder.join(format!("{source}.toml"))
    }

    /// At every moment there is the old file or the new one.
    fn write(&self, file: &GrantFile) -> Result<(), GrantFileError> {
        make_own(&self.folder)?;
        Ok(write_atomically(&file.path, &[file.text.as_bytes()])?)
    }
}

impl GrantFile {
    /// Reads `text`, which stands in the file at `path`.
    ///
    /// # Errors
    /// When it cannot be used.
    pub(crate) fn parse(path: PathBuf, text: String) -> Result<Self, GrantFileError> {
        let granted: Granted =
            reading::from_toml(&text).map_err(|error| GrantFileError::Malformed { path: path.clone(), error })?;
        let file = Self { path, text, granted };
        // Said now rather than at the first call.
        file.effective(Capabilities::default())?;
        Ok(file)
    }

    /// What a package that asks for `requested` may use.
    ///
    /// # Errors
    /// When the grant means nothing.
    pub(crate) fn effective(&self, requested: Capabilities) -> Result<Effective, GrantFileError> {
        Effective::new(requested, self.granted.clone()).map_err(|error| {
            let field = match &error {
                GrantError::Expires { .. } => "expires",
                GrantError::Address { .. } => "addresses",
            };
            GrantFileError::Meaningless { place: self.place(&[field], None), problem: error.to_string() }
        })
    }

    /// The same without all that it gives.
    pub(crate) fn taking_away(&self) -> Self {
        Self { granted: self.granted.ceiling(), ..self.clone() }
    }

    /// The file, and the line of what stands at `path` in it; where `index` is given, of that element of a list.
    pub(crate) fn place(&self, path: &[&str], index: Option<usize>) -> String {
        match reading::line_of(&self.text, path, index) {
            Some(line) => format!("{}:{line}", self.path.display()),
            None => self.path.display().to_string(),
        }
    }

    /// What it leaves of limits and rate, in words, each with its place.
    pub(crate) fn ceiling(&self) -> Vec<(String, String)> {
        let limits = self.granted.limits.iter().map(|(kind, value)| {
            let key = kind.key();
            (self.place(&["limits", key], None), format!("{key} {value}"))
        });
        let rate = self.granted.rate;
        let rates = [("per_minute", rate.per_minute, "minute"), ("per_hour", rate.per_hour, "hour")];
        let rates = rates.into_iter().filter_map(|(key, number, period)| {
            Some((self.place(&["rate", key], None), format!("{} calls of each tool in any {period}", number?)))
        });
        limits.chain(rates).collect()
    }

    /// The text, to be changed.
    fn document(&self) -> Result<DocumentMut, GrantFileError> {
        self.text.parse().map_err(|error: toml_edit::TomlError| GrantFileError::Meaningless {
            place: self.path.display().to_string(),
            problem: error.to_string(),
        })
    }
}

/// Writes the change into the document. What stands there keeps its form; parsed before, it has the right types.
fn append(
    document: &mut DocumentMut,
    granted: &Granted,
    requested: &Capabilities,
    change: &GrantChange,
) -> Result<(), GrantFileError> {
    let all = if change.all { requested.in_full() } else { Granted::default() };
    if let Some(expires) = &change.expires {
        document["expires"] = toml_edit::value(expires);
    }
    let more: Vec<HttpRule> = change.http.iter().map(|text| rule(text)).collect::<Result<_, _>>()?;
    for rule in all.http.into_iter().chain(more).filter(|rule| !granted.http.contains(rule)) {
        push_rule(document, &rule)?;
    }
    extend_list(document.as_table_mut(), "addresses", change.addresses.clone());
    let with = |more: &[String], all: Vec<String>| more.iter().cloned().chain(all).collect::<Vec<_>>();
    for (section, key, list) in [
        ("secrets", "test", with(&change.test, texts(all.secrets.test))),
        ("secrets", "sign", with(&change.sign, texts(all.secrets.sign))),
        ("workspace", "read", with(&change.read, texts(all.workspace.read))),
        ("workspace", "write", with(&change.write, texts(all.workspace.write))),
    ] {
        if !list.is_empty() {
            table(document, section).into_iter().for_each(|table| extend_list(table, key, list.clone()));
        }
    }
    for (section, pairs) in [("env", &change.env), ("tools", &change.tools)] {
        for (name, value) in pairs {
            table(document, section).and_then(|table| table.insert(name, toml_edit::value(value)));
        }
    }
    // All that is asked for takes nothing away from what is granted already.
    let in_full = all.state.map(|asked| granted.state.map_or(asked, |given| given.most(asked)));
    if let Some(quota) = change.state.or(in_full)
        && let Some(state) = table(document, "state")
    {
        for (key, number) in [("bytes", quota.bytes), ("keys", quota.keys)] {
            state.insert(key, toml_edit::value(i64::try_from(number).unwrap_or(i64::MAX)));
        }
    }
    for (key, value) in &change.limits {
        table(document, "limits").and_then(|limits| limits.insert(key, toml_edit::value(*value)));
    }
    for (key, number) in [("per_minute", change.per_minute), ("per_hour", change.per_hour)] {
        let Some(number) = number else { continue };
        table(document, "rate").and_then(|rate| rate.insert(key, toml_edit::value(i64::from(number))));
    }
    for (name, secret) in &change.credentials {
        let Some(credentials) = table(document, "credentials") else { continue };
        let credential = credentials.entry(name).or_insert_with(|| toml_edit::value(InlineTable::new()));
        credential.as_table_like_mut().and_then(|entry| entry.insert("secret", toml_edit::value(secret)));
    }
    for (key, list) in [("client_id", &change.clients), ("refresh_token", &change.refresh_tokens)] {
        for (name, value) in list {
            let asked = requested.credentials.get(name).and_then(|credential| credential.oauth2.as_ref());
            let asked = asked.ok_or_else(|| GrantFileError::NoOAuth2(name.clone()))?;
            client(document, name, asked).and_then(|client| client.insert(key, toml_edit::value(value)));
        }
    }
    Ok(())
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
        Item::Value(Value::Array(rules)) => rules.push(fields.as_table().clone().into_inline_table()),
        _ => return Err(wrong("`http` in the file is no list of rules".into())),
    }
    Ok(())
}

/// Adds to a list what is not in it.
fn extend_list(table: &mut dyn TableLike, key: &str, more: Vec<String>) {
    if more.is_empty() {
        return;
    }
    let Some(list) = table.entry(key).or_insert_with(|| toml_edit::value(Array::new())).as_array_mut() else { return };
    for text in more {
        if !list.iter().any(|there| there.as_str() == Some(&text)) {
            list.push(text);
        }
    }
}

/// The table `name`, made where there is none; `None` for what is no table, which a grant that was read cannot hold.
fn table<'a>(document: &'a mut DocumentMut, name: &str) -> Option<&'a mut dyn TableLike> {
    document.entry(name).or_insert_with(toml_edit::table).as_table_like_mut()
}

fn texts<T: Into<String>>(list: Vec<T>) -> Vec<String> {
    list.into_iter().map(Into::into).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source() -> SourceName {
        "weather".to_owned().try_into().unwrap()
    }

    /// What the package asks for, unless a test says otherwise.
    fn asks() -> Capabilities {
        let text = "env = [\"LANG\"]\n[[http]]\nurl = \"https://a.example/**\"\n[[http]]\nurl = \"https://b.example/**\"\n[[http]]\n\
                    url = \"https://**.example.org/**\"\nmethods = [\"*\"]\n[credentials]\n\
                    token = { place = \"bearer\", requests = [] }\nother = { place = \"bearer\", requests = [] }\n\
                    [secrets]\ntest = [\"a\", \"b\"]\n[workspace]\nread = [\"docs/**\"]\n[tools]\nsum = \"\"\n\
                    [state]\nbytes = 10\nkeys = 1\n";
        toml::from_str(text).unwrap()
    }

    #[test]
    fn a_grant_grows_and_keeps_its_comments() {
        let folder = tempfile::tempdir().unwrap();
        let grants = Grants::open(folder.path().join("grants")).unwrap();
        let change = GrantChange {
            http: vec!["GET https://api.example.org/v1/**".into()],
            credentials: vec![("token".into(), "weather_token".into())],
            read: vec!["docs/**".into()],
            env: vec![("LANG".into(), "en".into())],
            ..GrantChange::default()
        };
        let file = grants.extend(&source(), &asks(), &change).unwrap();
        assert_eq!(file.granted.http.len(), 1);
        fs_err::write(&file.path, format!("# mine\n{}", file.text)).unwrap();
        let more =
            GrantChange { http: vec!["POST https://b.example.org/x".into()], read: vec!["docs/**".into()], ..change };
        let file = grants.extend(&source(), &asks(), &more).unwrap();
        assert!(file.text.starts_with("# mine\n"), "{}", file.text);
        assert_eq!((file.granted.http.len(), file.granted.workspace.read.len()), (2, 1));
        assert_eq!(file.granted.credentials["token"].secret, "weather_token");
        assert_eq!(file.granted.env["LANG"], "en");
        let place = file.place(&["http"], Some(1));
        let line: usize = place.rsplit(':').next().unwrap().parse().unwrap();
        assert_eq!(file.text.lines().nth(line - 1), Some("[[http]]"), "{}", file.text);
        assert!(grants.remove(&source()).unwrap() && !grants.remove(&source()).unwrap());
        assert_eq!(grants.load(&source()).unwrap().granted, Granted::default());
    }

    #[test]
    fn what_is_taken_back_leaves_limits_and_rate() {
        let folder = tempfile::tempdir().unwrap();
        let grants = Grants::open(folder.path().to_owned()).unwrap();
        let change = GrantChange {
            read: vec!["docs/**".into()],
            limits: vec![("fuel".into(), 500)],
            per_hour: Some(9),
            ..GrantChange::default()
        };
        grants.extend(&source(), &asks(), &change).unwrap();
        let change = GrantChange { limits: vec![("fuel".into(), 700)], per_minute: Some(3), ..GrantChange::default() };
        let file = grants.extend(&source(), &asks(), &change).unwrap();
        let words: Vec<String> = file.ceiling().into_iter().map(|(_, text)| text).collect();
        assert_eq!(words, ["fuel 700", "3 calls of each tool in any minute", "9 calls of each tool in any hour"]);
        assert!(grants.remove(&source()).unwrap());
        let left = grants.load(&source()).unwrap();
        assert!(left.granted.workspace.read.is_empty());
        assert_eq!(left.ceiling().len(), 3, "{}", left.text);
        assert!(!grants.remove(&source()).unwrap(), "nothing that gives anything is left");
    }

    #[test]
    fn what_stands_there_in_another_form_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let grants = Grants::open(folder.path().to_owned()).unwrap();
        let path = folder.path().join("weather.toml");
        let text = "http = [{ url = \"https://a.example/\" }]\nsecrets = { test = [\"a\"] }\n\
                    credentials = { token = { secret = \"old\" } }\n";
        fs_err::write(&path, text).unwrap();
        let change = GrantChange {
            http: vec!["GET https://b.example/".into()],
            test: vec!["b".into()],
            credentials: vec![("token".into(), "new".into()), ("other".into(), "x".into())],
            ..GrantChange::default()
        };
        let granted = grants.extend(&source(), &asks(), &change).unwrap().granted;
        assert_eq!((granted.http.len(), granted.secrets.test.len(), granted.credentials.len()), (2, 2, 2));
        assert_eq!(granted.credentials["token"].secret, "new");
    }

    #[test]
    fn tools_are_named_and_what_is_kept_is_measured() {
        let folder = tempfile::tempdir().unwrap();
        let grants = Grants::open(folder.path().to_owned()).unwrap();
        let extend = |requested: &Capabilities, change: GrantChange| {
            grants.extend(&source(), requested, &change).unwrap().granted
        };
        let state = |bytes, keys| Some(StateQuota { bytes, keys });
        let tool = |tool: &str| vec![("sum".to_owned(), tool.to_owned())];
        let nothing = asks();
        let granted = extend(&nothing, GrantChange { tools: tool("calc__evaluate"), ..GrantChange::default() });
        assert_eq!((granted.tools["sum"].as_str(), granted.state), ("calc__evaluate", None));
        let change = GrantChange { tools: tool("echo"), state: state(10, 1), ..GrantChange::default() };
        let granted = extend(&nothing, change);
        assert_eq!((granted.tools["sum"].as_str(), granted.state), ("echo", state(10, 1)));
        // All that is asked for takes nothing away; what is said does.
        let asks = Capabilities { state: state(5, 2), ..asks() };
        assert_eq!(extend(&asks, GrantChange { all: true, ..GrantChange::default() }).state, state(10, 2));
        assert_eq!(extend(&asks, GrantChange { state: state(3, 1), ..GrantChange::default() }).state, state(3, 1));
    }

    #[test]
    fn a_client_is_written_with_what_is_asked_for_at_that_time() {
        let folder = tempfile::tempdir().unwrap();
        let grants = Grants::open(folder.path().to_owned()).unwrap();
        let asks = |scopes: &str| {
            let text = format!(
                "[credentials.token]\nplace = \"bearer\"\nrequests = []\n[credentials.token.oauth2]\n\
                 token_url = \"https://a.example/token\"\ngrant = \"refresh_token\"\nscopes = {scopes}\n"
            );
            toml::from_str::<Capabilities>(&text).unwrap()
        };
        let change = GrantChange {
            credentials: vec![("token".into(), "client_secret".into())],
            clients: vec![("token".into(), "id".into())],
            refresh_tokens: vec![("token".into(), "login".into())],
            ..GrantChange::default()
        };
        let granted = |capabilities: &Capabilities, change: &GrantChange| {
            let file = grants.extend(&source(), capabilities, change).unwrap();
            file.granted.credentials["token"].oauth2.clone().unwrap()
        };
        let first = granted(&asks("[\"a\"]"), &change);
        assert_eq!((first.client_id.as_str(), first.refresh_token.as_deref()), ("id", Some("login")));
        assert_eq!((first.token_url.to_string().as_str(), first.scopes.len()), ("https://a.example/token", 1));
        let again = GrantChange { clients: vec![("token".into(), "other".into())], ..GrantChange::default() };
        let second = granted(&asks("[\"a\", \"b\"]"), &again);
        assert_eq!((second.client_id.as_str(), second.scopes.len()), ("other", 2));
        let error = grants.extend(&source(), &Capabilities::default(), &again).unwrap_err();
        assert!(error.to_string().contains("`token`"), "{error}");
    }

    #[test]
    fn what_is_not_asked_for_is_not_granted() {
        let folder = tempfile::tempdir().unwrap();
        let grants = Grants::open(folder.path().to_owned()).unwrap();
        let pair = |name: &str| vec![(name.to_owned(), "x".to_owned())];
        for (change, said) in [
            (GrantChange { credentials: pair("tokn"), ..GrantChange::default() }, "`tokn` (did you mean `token`?)"),
            (GrantChange { env: pair("PATH"), ..GrantChange::default() }, "`PATH`"),
            (GrantChange { http: vec!["GET https://c.example/".into()], ..GrantChange::default() }, "HTTP GET"),
        ] {
            let error = grants.extend(&source(), &asks(), &change).unwrap_err();
            assert!(error.to_string().contains(said), "{error}");
        }
        assert!(grants.file(&source()).is_none());
        // What was written by hand is the operator's own, and in nobody's way.
        fs_err::write(folder.path().join("weather.toml"), "[env]\nPATH = \"/bin\"\n").unwrap();
        let change = GrantChange { env: pair("LANG"), ..GrantChange::default() };
        assert_eq!(grants.extend(&source(), &asks(), &change).unwrap().granted.env.len(), 2);
    }

    #[test]
    fn what_a_kill_left_half_written_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let left = folder.path().join(".tmp-x");
        fs_err::write(&left, "x").unwrap();
        Grants::open(folder.path().to_owned()).unwrap();
        assert!(!left.exists());
    }

    #[test]
    fn a_file_that_others_can_write_grants_nothing() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let grants = Grants::open(folder.path().to_owned()).unwrap();
        let change = GrantChange { read: vec!["docs/**".into()], ..GrantChange::default() };
        let path = grants.extend(&source(), &asks(), &change).unwrap().path;
        let mode = |path: &std::path::Path, mode| {
            fs_err::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
            grants.load(&source()).map_err(|error| error.to_string())
        };
        mode(&path, 0o644).unwrap();
        assert!(mode(&path, 0o664).unwrap_err().contains("chmod go-w"));
        mode(&path, 0o600).unwrap();
        assert!(mode(folder.path(), 0o777).unwrap_err().contains("chmod go-w"));
        // And neither does a link that leads nowhere, which would forget limits and rate.
        mode(folder.path(), 0o700).unwrap();
        fs_err::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("nowhere", &path).unwrap();
        assert!(grants.load(&source()).unwrap_err().to_string().contains("leads nowhere"));
    }

    #[test]
    fn what_means_nothing_is_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let grants = Grants::open(folder.path().to_owned()).unwrap();
        for change in [
            GrantChange { http: vec!["https://a.example".into()], ..GrantChange::default() },
            GrantChange { http: vec!["GET https://*".into()], ..GrantChange::default() },
            GrantChange { expires: Some("soon".into()), ..GrantChange::default() },
            GrantChange { addresses: vec!["localhost".into()], ..GrantChange::default() },
            GrantChange { read: vec!["../x".into()], ..GrantChange::default() },
            GrantChange { limits: vec![("feul".into(), 1)], ..GrantChange::default() },
            GrantChange { limits: vec![("fuel".into(), 0)], ..GrantChange::default() },
            GrantChange { per_minute: Some(0), ..GrantChange::default() },
        ] {
            assert!(grants.extend(&source(), &asks(), &change).is_err(), "{change:?}");
        }
        assert!(!folder.path().join("weather.toml").exists());
        for (text, expected) in [
            ("htpp = []\n", "weather.toml:1:1: unknown field `htpp`: did you mean `http`?"),
            ("\n[limits]\nfeul = 1\n", "weather.toml:3:1: unknown field `feul`: did you mean `fuel`?"),
            ("\nexpires = \"soon\"\n", "weather.toml:2: `expires` is"),
        ] {
            fs_err::write(folder.path().join("weather.toml"), text).unwrap();
            let error = grants.load(&source()).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
