//! What guests reach beyond their instances, and how far each source may use it.

use std::sync::Arc;

use ringfence_core::Secret;
use ringfence_core::grant::RuleSet;
use ringfence_core::name::SourceName;
use ringfence_egress::{
    Access, BoundCredential, CredentialValue, Egress, GrantType, LackingCredential, MIN_CREDENTIAL, OAuthClient,
    Request, ScannerError, Scope, Tokens,
};
use ringfence_package::Effective;
use ringfence_package::grant::{Capabilities, Credential, GrantedCredential};
use ringfence_source_wasm::{Network, Reach, Workspace};
use ringfence_vault::{SecretName, Vault, VaultError};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::grants::{GrantFile, GrantFileError, Grants};

/// The door to the network, the vault, the workspace, and the grants.
pub(crate) struct Means {
    pub(crate) door: Arc<Egress>,
    pub(crate) vault: Arc<Vault>,
    pub(crate) tokens: Tokens,
    pub(crate) workspace: Option<Workspace>,
    pub(crate) grants: Grants,
}

/// Why a source gets nothing.
#[derive(Debug, Error)]
pub(crate) enum MeansError {
    #[error(transparent)]
    Grant(#[from] GrantFileError),
    #[error("its credentials cannot be read: {0}")]
    Vault(#[from] VaultError),
    #[error(transparent)]
    Scanner(#[from] ScannerError),
}

/// One thing that a package asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// What, in words.
    pub what: String,
    /// Whether it is granted, as it was asked for.
    pub granted: bool,
}

/// Whether a request would be sent, and who says so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Explanation {
    /// Whether it would be sent.
    pub allowed: bool,
    /// Who says so, in sentences, in the order in which they are asked.
    pub reasons: Vec<String>,
}

impl Means {
    /// What the tools of `source`, whose package asks for `requested`, reach.
    pub(crate) fn reach(&self, source: &SourceName, requested: &Capabilities) -> Result<Reach, MeansError> {
        let grant = self.grants.load(source)?.effective(requested.clone())?;
        let network = self.access(&grant)?.map(|access| Network { door: self.door.clone(), access: Arc::new(access) });
        let vault = Some(self.vault.clone());
        Ok(Reach { grant: Arc::new(grant), network, vault, workspace: self.workspace.clone() })
    }

    fn access(&self, grant: &Effective) -> Result<Option<Access>, MeansError> {
        if !grant.reaches_http() {
            return Ok(None);
        }
        let secrets = self.vault.all()?;
        let (bound, lacking) = self.credentials(grant, &secrets);
        let others: Vec<(String, Secret)> =
            secrets.into_iter().map(|(name, secret)| (name.as_str().to_owned(), secret)).collect();
        let rules = RuleSet::new(grant.requested().http.clone());
        let access = Access::new(rules, grant.addresses().clone(), bound, &others)?;
        Ok(Some(access.within(RuleSet::new(grant.granted().http.clone())).lacking(lacking)))
    }

    /// The credentials that there are, and those that are needed and missing.
    fn credentials(
        &self,
        grant: &Effective,
        secrets: &[(SecretName, Secret)],
    ) -> (Vec<BoundCredential>, Vec<LackingCredential>) {
        let (mut bound, mut lacking) = (Vec::new(), Vec::new());
        for (name, asked) in &grant.requested().credentials {
            let requests = RuleSet::new(asked.requests.clone());
            let given = grant.granted().credentials.get(name);
            match given.and_then(|given| Some((given, self.value(asked, given, secrets, grant)?))) {
                Some((given, (value_name, value))) => {
                    let narrowed = given.requests.clone().map(RuleSet::new);
                    bound.push(BoundCredential {
                        name: value_name,
                        value,
                        placement: asked.place.clone(),
                        bound_to: [requests].into_iter().chain(narrowed).collect(),
                    });
                }
                None if asked.optional => {}
                None => {
                    let given_by = given_by(name, asked);
                    lacking.push(LackingCredential { name: name.clone(), given_by, bound_to: requests });
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

    /// All secrets that can be found in texts. `secret set` takes no others, but a keyring can be changed from outside.
    pub(crate) fn all_secrets(&self) -> Result<Vec<(String, Secret)>, VaultError> {
        let all = self.vault.all()?.into_iter();
        let (known, short): (Vec<_>, Vec<_>) =
            all.partition(|(_, secret)| secret.expose().trim().len() >= MIN_CREDENTIAL);
        for (name, _) in &short {
            tracing::warn!("the secret `{}` is too short to be found in results, and is placed nowhere", name.as_str());
        }
        Ok(known.into_iter().map(|(name, secret)| (name.as_str().to_owned(), secret)).collect())
    }

    /// Whether a request by the tools of `source` would be sent.
    pub(crate) fn explain(
        &self,
        source: &SourceName,
        requested: &Capabilities,
        request: &Request,
    ) -> Result<Explanation, MeansError> {
        let file = self.grants.load(source)?;
        let grant = file.effective(requested.clone())?;
        let mut reasons = Vec::new();
        if grant.has_ended() {
            reasons.push(format!("{}: the grant has ended", file.path.display()));
            return Ok(Explanation { allowed: false, reasons });
        }
        let (seen, method) = (request.target().seen(), request.method().as_str());
        for (whose, rules) in [("manifest", &requested.http), ("grant", &grant.granted().http)] {
            match RuleSet::new(rules.clone()).decide(seen, method) {
                Ok(place) => {
                    reasons.push(format!("{}: `{}` allows it", place_of(whose, source, &file, place), rules[place]));
                }
                Err(refusal) => {
                    let remedy = match whose {
                        "manifest" => "its author has to ask for it in the manifest".to_owned(),
                        _ => format!("`ringfence grant {source} --http \"{method} {seen}\"` would allow it"),
                    };
                    reasons.push(format!("the {whose} of `{source}` refuses it: {refusal}; {remedy}"));
                    return Ok(Explanation { allowed: false, reasons });
                }
            }
        }
        let decided = self.access(&grant)?.map(|access| match access.decide(request.target(), request.method()) {
            Ok(decision) => Ok(decision.credentials.iter().map(|credential| credential.name.clone()).collect()),
            Err(error) => Err(error.for_operator(source.as_str())),
        });
        let credentials: Vec<String> = match decided.transpose() {
            Ok(credentials) => credentials.unwrap_or_default(),
            Err(reason) => {
                reasons.push(reason);
                return Ok(Explanation { allowed: false, reasons });
            }
        };
        reasons.extend(credentials.iter().map(|name| format!("`{name}` is placed into it")));
        Ok(Explanation { allowed: true, reasons })
    }
}

fn place_of(whose: &str, source: &SourceName, file: &GrantFile, place: usize) -> String {
    match (whose, file.line_of_rule(place)) {
        ("grant", Some(line)) => format!("{}:{line}", file.path.display()),
        _ => format!("HTTP rule {} of the {whose} of `{source}`", place + 1),
    }
}

/// What grants the credential `name`.
fn given_by(name: &str, asked: &Credential) -> String {
    match &asked.oauth2 {
        None => format!("--credential {name}=NAME"),
        Some(oauth2) => match oauth2.grant {
            GrantType::ClientCredentials => format!("--credential {name}=NAME --client {name}=ID"),
            GrantType::RefreshToken => {
                format!("--credential {name}=NAME --client {name}=ID --refresh-token {name}=NAME")
            }
        },
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

/// What a package asks for, one by one.
pub(crate) fn asked(grant: &Effective) -> Vec<Asked> {
    let (requested, granted, ended) = (grant.requested(), grant.granted(), grant.has_ended());
    let mut list = Vec::new();
    let mut add = |what: String, given: bool| list.push(Asked { what, granted: given && !ended });
    for rule in &requested.http {
        add(
            format!("HTTP {rule}"),
            granted.http.iter().any(|given| given.url == rule.url && given.methods == rule.methods),
        );
    }
    for (name, asked) in &requested.credentials {
        let optional = if asked.optional { " (optional)" } else { "" };
        add(
            format!("credential `{name}`{}{optional} {}", obtained(asked), asked.description).trim_end().to_owned(),
            granted.credentials.get(name).is_some_and(|given| is_given(asked, given)),
        );
    }
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
    list
}
