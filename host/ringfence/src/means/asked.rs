//! What a package asks for, in words, and what of it is granted.

use std::fmt;

use ringfence_core::tool_state::StateQuota;
use ringfence_egress::{GrantType, Scope};
use ringfence_package::grant::{Capabilities, Credential, GrantedCredential};
use ringfence_package::{Granted, PackageInfo};
use ringfence_vault::Vault;
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
    /// Why it is not, where the grant names it.
    pub(crate) held_back: Option<HeldBack>,
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
}

impl fmt::Display for HeldBack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Suspended => f.write_str("suspended"),
            Self::Ended(end) => write!(f, "ended {end}"),
            Self::NoSecret(name) => write!(f, "no secret `{name}`"),
        }
    }
}

/// What a package asks for beside limits, in words.
pub(crate) fn asked_by(package: &PackageInfo) -> Vec<String> {
    let asked = asked(&package.capabilities, &Granted::default(), |_| None);
    asked.into_iter().map(|asked| asked.what).collect()
}

/// The first secret behind `given` that is not there.
fn missing(given: &GrantedCredential, vault: &Vault) -> Option<HeldBack> {
    let stored = vault.list();
    let login = given.oauth2.as_ref().and_then(|client| client.refresh_token.as_ref());
    let is_there = |name: &str| stored.iter().any(|listed| listed.name.as_str() == name);
    [Some(&given.secret), login]
        .into_iter()
        .flatten()
        .find(|name| !is_there(name))
        .map(|name| HeldBack::NoSecret(name.clone()))
}

impl SourceGrant {
    /// What the package asks for, one by one.
    pub(crate) fn asked(&self, vault: &Vault) -> Vec<Asked> {
        let held_back = match (&self.suspended, &self.file.granted.expires) {
            (Some(_), _) => Some(HeldBack::Suspended),
            (None, Some(end)) if self.effective.has_ended() => Some(HeldBack::Ended(end.clone())),
            _ => None,
        };
        let lacks = |given: &GrantedCredential| held_back.clone().or_else(|| missing(given, vault));
        let mut list = asked(self.effective.requested(), &self.file.granted, lacks);
        for asked in list.iter_mut().filter(|asked| asked.granted) {
            asked.held_back = held_back.clone();
            asked.granted = held_back.is_none();
        }
        list
    }
}

/// What a package asks for, one by one. What `lacks` says of a credential holds it back.
pub(crate) fn asked(
    requested: &Capabilities,
    granted: &Granted,
    lacks: impl Fn(&GrantedCredential) -> Option<HeldBack>,
) -> Vec<Asked> {
    let mut list = Vec::new();
    let asked_for = |what: String, given: bool, option: &str| Asked {
        what,
        granted: given,
        option: Some(option.to_owned()),
        held_back: None,
    };
    let mut add = |what: String, given: bool| list.push(asked_for(what, given, ALL));
    for rule in &requested.http {
        add(
            format!("HTTP {rule}"),
            granted.http.iter().any(|given| given.url == rule.url && given.methods == rule.methods),
        );
    }
    for (name, asked) in &requested.credentials {
        let optional = if asked.optional { " (optional)" } else { "" };
        let what =
            format!("credential `{name}`{}{optional} {}", obtained(asked), asked.description).trim_end().to_owned();
        let held_back = granted.credentials.get(name).filter(|given| is_given(asked, given)).map(&lacks);
        let option = (!asked.optional).then(|| credential_option(name, asked));
        list.push(Asked { what, granted: held_back == Some(None), option, held_back: held_back.flatten() });
    }
    let mut add = |what: String, given: bool| list.push(asked_for(what, given, ALL));
    let (asked, given) = (&requested.secrets, &granted.secrets);
    for (verb, asked, given) in [("asking for", &asked.test, &given.test), ("signing with", &asked.sign, &given.sign)] {
        asked.iter().for_each(|pattern| add(format!("{verb} the secret `{pattern}`"), given.contains(pattern)));
    }
    let (asked, given) = (&requested.workspace, &granted.workspace);
    for (verb, asked, given) in [("reading", &asked.read, &given.read), ("writing", &asked.write, &given.write)] {
        asked.iter().for_each(|pattern| add(format!("{verb} `{pattern}`"), given.contains(pattern)));
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
        let StateQuota { bytes, keys } = asked;
        let given = granted.state.is_some_and(|given| given.least(asked) == asked);
        list.push(asked_for(format!("keeping {bytes} bytes and {keys} keys for each user"), given, ALL));
    }
    list
}

/// What `ringfence grant` is told for the credential `name`.
pub(super) fn credential_option(name: &str, asked: &Credential) -> String {
    match asked.oauth2.as_ref().map(|oauth2| oauth2.grant) {
        None => format!("--credential {name}=SECRET"),
        Some(GrantType::ClientCredentials) => format!("--credential {name}=SECRET --client {name}=ID"),
        Some(GrantType::RefreshToken) => {
            format!("--credential {name}=SECRET --client {name}=ID --refresh-token {name}=SECRET")
        }
    }
}

/// Whether `given` is what `asked` asks for.
fn is_given(asked: &Credential, given: &GrantedCredential) -> bool {
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
