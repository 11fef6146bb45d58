//! What guests reach beyond their instances, and how far each source may use it.

use std::fmt;
use std::sync::Arc;

use ringfence_core::Secret;
use ringfence_core::grant::{HttpRule, RuleSet};
use ringfence_core::tool_state::{StateQuota, ToolState};
use ringfence_egress::{
    Access, BoundCredential, CredentialValue, Egress, GrantType, LackingCredential, OAuthClient, Scope, Tokens,
};
use ringfence_package::grant::{Capabilities, Credential, GrantedCredential, RequestPattern};
use ringfence_package::{Effective, Granted, Installed, PackageInfo};
use ringfence_source_wasm::{Network, Reach, StatePlace, Workspace};
use ringfence_store::StoreError;
use ringfence_vault::{SecretName, Vault};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::grant_holder::{GrantHolders, Suspended};
use crate::grants::{GrantFile, GrantFileError, Grants};
use crate::known_secrets::{KnownSecrets, Secrets, SecretsError};

/// The door to the network, the vault, the workspace, what tools keep, and the grants.
pub(crate) struct Means {
    pub(crate) door: Arc<Egress>,
    pub(crate) vault: Arc<Vault>,
    pub(crate) secrets: KnownSecrets,
    pub(crate) tokens: Tokens,
    pub(crate) workspace: Option<Workspace>,
    pub(crate) state: Arc<dyn ToolState>,
    pub(crate) grants: Grants,
    pub(crate) holders: GrantHolders,
}

/// What a source is granted, and what of it holds.
pub(crate) struct SourceGrant {
    /// The operator's file.
    pub(crate) file: GrantFile,
    /// What may be used.
    pub(crate) effective: Effective,
    /// Why nothing of it may, where it was given to another's package.
    pub(crate) suspended: Option<Suspended>,
}

/// Why a source gets nothing.
#[derive(Debug, Error)]
pub(crate) enum MeansError {
    #[error(transparent)]
    Grant(#[from] GrantFileError),
    #[error(transparent)]
    Secrets(#[from] SecretsError),
    #[error(transparent)]
    Holder(#[from] StoreError),
}

/// One thing that a package asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// What, in words.
    pub what: String,
    /// Whether it is granted, as it was asked for.
    pub granted: bool,
    /// Why it is not, where the grant names it.
    pub held_back: Option<HeldBack>,
}

/// Why what a grant names is not given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HeldBack {
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

impl Means {
    /// What `installed` is granted, and what of it holds.
    pub(crate) fn grant(&self, installed: &Installed) -> Result<SourceGrant, MeansError> {
        let file = self.grants.load(installed.source())?;
        let suspended = self.holders.check(installed, &file.granted)?;
        let requested = installed.manifest().package.capabilities.clone();
        let effective = match suspended {
            None => file.effective(requested)?,
            Some(_) => file.taking_away().effective(requested)?,
        };
        Ok(SourceGrant { file, effective, suspended })
    }

    /// What the tools of `installed` reach.
    pub(crate) fn reach(&self, installed: &Installed) -> Result<Reach, MeansError> {
        let grant = self.grant(installed)?.effective;
        let (source, package) = (installed.source(), &installed.manifest().package);
        let access = grant.reaches_http().then(|| self.access(&grant)).transpose()?;
        let network = access.map(|access| Network { door: self.door.clone(), access: Arc::new(access) });
        let vault = Some(self.vault.clone());
        let state =
            Some(StatePlace { store: self.state.clone(), source: source.clone(), package: package.name.clone() });
        Ok(Reach { grant: Arc::new(grant), network, vault, workspace: self.workspace.clone(), state })
    }

    /// What `grant` lets pass: what the manifest asks for is asked first, then what of it is granted.
    pub(crate) fn access(&self, grant: &Effective) -> Result<Access, MeansError> {
        let secrets = self.secrets.get()?;
        let (bound, lacking) = self.credentials(grant, &secrets);
        let requested = RuleSet::new(grant.requested().http.clone());
        let access = Access::new(requested, grant.addresses().clone(), bound, secrets.scanner.clone());
        Ok(access.within(RuleSet::new(grant.granted().http.clone())).lacking(lacking))
    }

    /// The credentials that there are, and those that are needed and missing.
    fn credentials(&self, grant: &Effective, secrets: &Secrets) -> (Vec<BoundCredential>, Vec<LackingCredential>) {
        let (mut bound, mut lacking) = (Vec::new(), Vec::new());
        for (name, asked) in &grant.requested().credentials {
            let requests = rule_set(&asked.requests);
            let given = grant.granted().credentials.get(name);
            match given.and_then(|given| Some((given, self.value(asked, given, &secrets.all, grant)?))) {
                Some((given, (value_name, value))) => {
                    let narrowed = given.requests.as_deref().map(rule_set);
                    bound.push(BoundCredential {
                        name: value_name,
                        value,
                        placement: asked.place.clone(),
                        bound_to: [requests].into_iter().chain(narrowed).collect(),
                    });
                }
                None if asked.optional => {}
                None => {
                    let lost = given.and_then(|given| lost(given, secrets));
                    let remedy = lost.unwrap_or_else(|| not_given(name, asked));
                    lacking.push(LackingCredential { name: name.clone(), remedy, bound_to: requests });
                }
            }
        }
        (bound, lacking)
    }

    /// What is placed for `asked`, and what marks call it. The two sides have to speak of the same kind: an update that
    /// asks for a plain secret must not get the one that is meant for a token endpoint.
    fn value(
        &self,
        asked: &Credential,
        given: &GrantedCredential,
        secrets: &[(SecretName, Secret)],
        grant: &Effective,
    ) -> Option<(String, CredentialValue)> {
        let find = |name: &str| secrets.iter().find(|(secret, _)| secret.as_str() == name);
        let (name, secret) = find(&given.secret)?;
        match (&asked.oauth2, &given.oauth2) {
            (None, None) => Some((name.to_string(), CredentialValue::Fixed(secret.clone()))),
            (Some(asked), Some(given)) => {
                let refresh_token = match &given.refresh_token {
                    Some(name) => Some(find(name)?.0.clone()),
                    None => None,
                };
                let oauth2 = given.narrow(asked)?;
                let client_id = given.client_id.clone();
                let client = OAuthClient { oauth2, client_id, secret: name.clone(), refresh_token };
                let source = self.tokens.of(client, grant.addresses().clone());
                Some((format!("{name}/access_token"), CredentialValue::Token(source)))
            }
            _ => None,
        }
    }
}

/// What to do about a credential that was given, where a secret of it has no value any more.
fn lost(given: &GrantedCredential, secrets: &Secrets) -> Option<String> {
    let refresh_token = given.oauth2.as_ref().and_then(|oauth2| oauth2.refresh_token.as_deref());
    let lost = secrets.lost.iter().find(|lost| [Some(&*given.secret), refresh_token].contains(&Some(lost.as_str())))?;
    Some(format!("the secret `{lost}` has no value any more; `ringfence secret rotate {lost}` gives it one"))
}

/// What to do about the credential `name`, which was not given.
fn not_given(name: &str, asked: &Credential) -> String {
    let given_by = match &asked.oauth2 {
        None => format!("--credential {name}=NAME"),
        Some(oauth2) => match oauth2.grant {
            GrantType::ClientCredentials => format!("--credential {name}=NAME --client {name}=ID"),
            GrantType::RefreshToken => {
                format!("--credential {name}=NAME --client {name}=ID --refresh-token {name}=NAME")
            }
        },
    };
    format!("`ringfence secret set NAME` stores its value, and `ringfence grant SOURCE {given_by}` gives it")
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

fn rule_set(requests: &[RequestPattern]) -> RuleSet {
    RuleSet::new(requests.iter().cloned().map(HttpRule::from).collect())
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
    let mut add = |what: String, given: bool| list.push(Asked { what, granted: given, held_back: None });
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
        list.push(Asked { what, granted: held_back == Some(None), held_back: held_back.flatten() });
    }
    let mut add = |what: String, given: bool| list.push(Asked { what, granted: given, held_back: None });
    let (asked, given) = (&requested.secrets, &granted.secrets);
    for (verb, asked, given) in [("asking for", &asked.test, &given.test), ("signing with", &asked.sign, &given.sign)] {
        asked.iter().for_each(|pattern| add(format!("{verb} the secret `{pattern}`"), given.contains(pattern)));
    }
    let (asked, given) = (&requested.workspace, &granted.workspace);
    for (verb, asked, given) in [("reading", &asked.read, &given.read), ("writing", &asked.write, &given.write)] {
        asked.iter().for_each(|pattern| add(format!("{verb} `{pattern}`"), given.contains(pattern)));
    }
    for name in &requested.env {
        add(format!("the environment value `{name}`"), granted.env.contains_key(name));
    }
    for (alias, wanted) in &requested.tools {
        let tool = granted.tools.get(alias).map_or_else(|| "a tool".into(), |tool| format!("`{tool}`"));
        add(format!("calling {tool} as `{alias}` {wanted}").trim_end().to_owned(), granted.tools.contains_key(alias));
    }
    if let Some(asked) = requested.state {
        let StateQuota { bytes, keys } = asked;
        let given = granted.state.is_some_and(|given| given.least(asked) == asked);
        add(format!("keeping {bytes} bytes and {keys} keys for each user"), given);
    }
    list
}
