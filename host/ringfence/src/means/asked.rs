//! What a package asks for, in words, and what of it is granted.

use std::fmt;

use ringfence_core::name::SourceName;
use ringfence_core::tool_state::StateQuota;
use ringfence_egress::{GrantType, Scope};
use ringfence_package::grant::{Capabilities, Credential, GrantedCredential};
use ringfence_package::{Granted, PackageInfo};
use ringfence_vault::{Listed, MAX_SECRET_NAME, SecretName, Vault};
use serde::{Deserialize, Serialize};

use super::SourceGrant;

/// The option of `ringfence grant` for what needs no choice.
const ALL: &str = "--all";

/// One thing that a package asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Asked {
    /// What, in words.
    pub(crate) what: String,
    /// Whether it is granted, as it was asked for.
    pub(crate) granted: bool,
    /// What of `ringfence grant` gives it; `None` where the package does without.
    pub(crate) option: Option<String>,
    /// The secrets that it needs: those that the grant names, else those that `option` proposes.
    pub(crate) secrets: Vec<NeededSecret>,
    /// Why it is not, where the grant names it.
    pub(crate) held_back: Option<HeldBack>,
}

/// A secret that something needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NeededSecret {
    /// Its name.
    pub(crate) name: String,
    /// Whether it is there.
    pub(crate) stored: bool,
}

/// Why what a grant names is not given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum HeldBack {
    /// The grant was given to the package of somebody else.
    Suspended,
    /// It has ended, at this time.
    Ended(String),
    /// There is no secret of this name.
    NoSecret(String),
    /// Only these parts of it are.
    Part(Vec<String>),
}

impl fmt::Display for HeldBack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Suspended => f.write_str("suspended"),
            Self::Ended(end) => write!(f, "ended {end}"),
            Self::NoSecret(name) => write!(f, "no secret `{name}`"),
            Self::Part(parts) => write!(f, "in part: {}", parts.join(", ")),
        }
    }
}

/// What a package asks for beside limits, in words.
pub(crate) fn asked_by(package: &PackageInfo) -> Vec<String> {
    let asked = asked(&package.name, &package.capabilities, &Granted::default(), &[]);
    asked.into_iter().map(|asked| asked.what).collect()
}

impl SourceGrant {
    /// What the package asks for, one by one.
    pub(crate) fn asked(&self, source: &SourceName, vault: &Vault) -> Vec<Asked> {
        let held_back = match (&self.suspended, &self.file.granted.expires) {
            (Some(_), _) => Some(HeldBack::Suspended),
            (None, Some(end)) if self.effective.has_ended() => Some(HeldBack::Ended(end.clone())),
            _ => None,
        };
        let mut list = asked(source, self.effective.requested(), &self.file.granted, &vault.list());
        if held_back.is_some() {
            for asked in list.iter_mut().filter(|asked| asked.granted || asked.held_back.is_some()) {
                asked.held_back = held_back.clone();
                asked.granted = false;
            }
        }
        list
    }
}

/// What the package that is installed as `source` asks for, one by one. Secrets that are not `stored` hold back what needs
/// them.
pub(crate) fn asked(source: &SourceName, requested: &Capabilities, granted: &Granted, stored: &[Listed]) -> Vec<Asked> {
    let mut list = Vec::new();
    let asked_for = |what: String, given: bool, option: &str| Asked {
        what,
        granted: given,
        option: Some(option.to_owned()),
        secrets: Vec::new(),
        held_back: None,
    };
    for rule in &requested.http {
        let given = granted.http.iter().any(|given| given.url == rule.url && given.methods == rule.methods);
        let parts = granted.http.iter().filter(|given| given.meets(rule));
        list.push(asked_for(format!("HTTP {rule}"), given, ALL).or_in_part(parts));
    }
    for (name, asked) in &requested.credentials {
        let optional = if asked.optional { " (optional)" } else { "" };
        let what =
            format!("credential `{name}`{}{optional} {}", obtained(asked), asked.description).trim_end().to_owned();
        let given = granted.credentials.get(name);
        let option = (!asked.optional).then(|| credential_option(source, name, asked, given));
        let secrets = secrets_behind(source, name, asked, given);
        let given = given.is_some_and(|given| is_given(asked, given));
        list.push(Asked { option, ..asked_for(what, given, ALL) }.needing(secrets, stored));
    }
    let (asked, given) = (&requested.secrets, &granted.secrets);
    for pattern in &asked.test {
        let test = asked_for(format!("asking for the secret `{pattern}`"), given.test.contains(pattern), ALL);
        list.push(test.or_in_part(given.test.iter().filter(|given| given.meets(pattern))));
    }
    for pattern in &asked.sign {
        let sign = asked_for(format!("signing with the secret `{pattern}`"), given.sign.contains(pattern), ALL);
        let sign = sign.or_in_part(given.sign.iter().filter(|given| given.meets(pattern)));
        list.push(sign.needing(pattern.exact().map(str::to_owned), stored));
    }
    let (asked, given) = (&requested.workspace, &granted.workspace);
    for (verb, asked, given) in [("reading", &asked.read, &given.read), ("writing", &asked.write, &given.write)] {
        for pattern in asked {
            let parts = given.iter().filter(|given| given.meets(pattern));
            list.push(asked_for(format!("{verb} `{pattern}`"), given.contains(pattern), ALL).or_in_part(parts));
        }
    }
    for name in &requested.env {
        let (what, given) = (format!("the environment value `{name}`"), granted.env.contains_key(name));
        list.push(asked_for(what, given, &format!("--env {name}=VALUE")));
    }
    for (alias, wanted) in &requested.tools {
        let tool = granted.tools.get(alias).map_or_else(|| "a tool".into(), |tool| format!("`{tool}`"));
        let what = format!("calling {tool} as `{alias}` {wanted}").trim_end().to_owned();
        list.push(asked_for(what, granted.tools.contains_key(alias), &format!("--tool {alias}=TOOL")));
    }
    if let Some(asked) = requested.state {
        let quota = |StateQuota { bytes, keys }| format!("{bytes} bytes and {keys} keys");
        let given = granted.state.map(|given| given.least(asked));
        let keeping = asked_for(format!("keeping {} for each user", quota(asked)), given == Some(asked), ALL);
        list.push(keeping.or_in_part(given.map(quota)));
    }
    list
}

impl Asked {
    /// The same, of which only `parts` are given, where it is not given as a whole.
    fn or_in_part(mut self, parts: impl IntoIterator<Item = impl ToString>) -> Self {
        let parts: Vec<String> = parts.into_iter().map(|part| part.to_string()).collect();
        if !self.granted && !parts.is_empty() {
            self.held_back = Some(HeldBack::Part(parts));
        }
        self
    }

    /// The same, which needs `secrets`. Where it is given, the first one that is not `stored` holds it back.
    fn needing(mut self, secrets: impl IntoIterator<Item = String>, stored: &[Listed]) -> Self {
        let is_there = |name: &str| stored.iter().any(|listed| listed.name.as_str() == name);
        self.secrets = secrets.into_iter().map(|name| NeededSecret { stored: is_there(&name), name }).collect();
        let missing = self.secrets.iter().find(|secret| self.granted && !secret.stored);
        if let Some(secret) = missing {
            self.held_back = Some(HeldBack::NoSecret(secret.name.clone()));
            self.granted = false;
        }
        self
    }
}

/// What `ringfence grant` is told for the credential `name`, of which `given` is granted so far.
pub(super) fn credential_option(
    source: &SourceName,
    name: &str,
    asked: &Credential,
    given: Option<&GrantedCredential>,
) -> String {
    let secrets = secrets_behind(source, name, asked, given);
    let [secret, login] = [0, 1].map(|place| secrets.get(place).map_or("SECRET", String::as_str));
    match asked.oauth2.as_ref().map(|oauth2| oauth2.grant) {
        None => format!("--credential {name}={secret}"),
        Some(GrantType::ClientCredentials) => format!("--credential {name}={secret} --client {name}=ID"),
        Some(GrantType::RefreshToken) => {
            format!("--credential {name}={secret} --client {name}=ID --refresh-token {name}={login}")
        }
    }
}

/// The secrets behind the credential `name`: those that the grant names, else such as would be well called.
pub(super) fn secrets_behind(
    source: &SourceName,
    name: &str,
    asked: &Credential,
    given: Option<&GrantedCredential>,
) -> Vec<String> {
    let login = given.and_then(|given| given.oauth2.as_ref()?.refresh_token.clone());
    let needs_login = asked.oauth2.as_ref().is_some_and(|oauth2| oauth2.grant == GrantType::RefreshToken);
    let secret = given.map_or_else(|| proposed(source, name), |given| given.secret.clone());
    let login = needs_login.then(|| login.unwrap_or_else(|| proposed(source, &format!("{name}_refresh"))));
    [secret].into_iter().chain(login).collect()
}

/// A name for the secret behind what `source` calls `name`.
fn proposed(source: &SourceName, name: &str) -> String {
    let text = format!("{source}_{name}").replace('-', "_");
    let short: String = text.chars().take(MAX_SECRET_NAME).collect();
    SecretName::cleaned(&short).map_or(short, |name| name.to_string())
}

/// Whether `given` is what `asked` asks for.
pub(super) fn is_given(asked: &Credential, given: &GrantedCredential) -> bool {
    match (&asked.oauth2, &given.oauth2) {
        (None, None) => true,
        (Some(asked), Some(given)) => given.narrow(asked).as_ref() == Some(asked),
        _ => false,
    }
}

/// What a credential is obtained with, where it is a token.
fn obtained(asked: &Credential) -> String {
    let Some(oauth2) = &asked.oauth2 else { return String::new() };
    let scopes: Vec<&str> = oauth2.scopes.iter().map(Scope::as_str).collect();
    let scopes = if scopes.is_empty() { String::new() } else { format!(" for {}", scopes.join(" ")) };
    format!(" (a token from {} by {}{scopes})", oauth2.token_url, oauth2.grant)
}
