//! What guests reach beyond their instances, and how far each source may use it.

use std::sync::Arc;

use ringfence_core::Secret;
use ringfence_core::grant::RuleSet;
use ringfence_core::name::SourceName;
use ringfence_core::tool_state::{StateQuota, ToolState};
use ringfence_egress::{Access, BoundCredential, Egress, LackingCredential, MIN_CREDENTIAL, Request, ScannerError};
use ringfence_package::grant::Capabilities;
use ringfence_package::{Effective, PackageInfo};
use ringfence_source_wasm::{Network, Reach, StatePlace, Workspace};
use ringfence_vault::{SecretName, Vault, VaultError};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::grants::{GrantFile, GrantFileError, Grants};

/// The door to the network, the vault, the workspace, what tools keep, and the grants.
pub(crate) struct Means {
    pub(crate) door: Arc<Egress>,
    pub(crate) vault: Arc<Vault>,
    pub(crate) workspace: Option<Workspace>,
    pub(crate) state: Arc<dyn ToolState>,
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
    /// What the tools of `source`, whose package is `package`, reach.
    pub(crate) fn reach(&self, source: &SourceName, package: &PackageInfo) -> Result<Reach, MeansError> {
        let grant = self.grants.load(source)?.effective(package.capabilities.clone())?;
        let network = self.access(&grant)?.map(|access| Network { door: self.door.clone(), access: Arc::new(access) });
        let vault = Some(self.vault.clone());
        let state =
            Some(StatePlace { store: self.state.clone(), source: source.clone(), package: package.name.clone() });
        Ok(Reach { grant: Arc::new(grant), network, vault, workspace: self.workspace.clone(), state })
    }

    fn access(&self, grant: &Effective) -> Result<Option<Access>, MeansError> {
        if !grant.reaches_http() {
            return Ok(None);
        }
        let secrets = self.vault.all()?;
        let (bound, lacking) = credentials(grant, &secrets);
        let others: Vec<(String, Secret)> =
            secrets.into_iter().map(|(name, secret)| (name.as_str().to_owned(), secret)).collect();
        let rules = RuleSet::new(grant.requested().http.clone());
        let access = Access::new(rules, grant.addresses().clone(), bound, &others)?;
        Ok(Some(access.within(RuleSet::new(grant.granted().http.clone())).lacking(lacking)))
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
        reasons.extend(credentials.iter().map(|name| format!("the secret `{name}` is placed into it")));
        Ok(Explanation { allowed: true, reasons })
    }
}

fn place_of(whose: &str, source: &SourceName, file: &GrantFile, place: usize) -> String {
    match (whose, file.line_of_rule(place)) {
        ("grant", Some(line)) => format!("{}:{line}", file.path.display()),
        _ => format!("HTTP rule {} of the {whose} of `{source}`", place + 1),
    }
}

/// The credentials that there are, and those that are needed and missing.
fn credentials(grant: &Effective, secrets: &[(SecretName, Secret)]) -> (Vec<BoundCredential>, Vec<LackingCredential>) {
    let (mut bound, mut lacking) = (Vec::new(), Vec::new());
    for (name, asked) in &grant.requested().credentials {
        let requests = RuleSet::new(asked.requests.clone());
        let given = grant.granted().credentials.get(name);
        let secret = given.and_then(|given| secrets.iter().find(|(secret, _)| secret.as_str() == given.secret));
        match (given, secret) {
            (Some(given), Some((secret_name, secret))) => {
                let narrowed = given.requests.clone().map(RuleSet::new);
                bound.push(BoundCredential {
                    name: secret_name.as_str().to_owned(),
                    secret: secret.clone(),
                    placement: asked.place.clone(),
                    bound_to: [requests].into_iter().chain(narrowed).collect(),
                });
            }
            _ if asked.optional => {}
            _ => lacking.push(LackingCredential { name: name.clone(), bound_to: requests }),
        }
    }
    (bound, lacking)
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
            format!("credential `{name}`{optional} {}", asked.description).trim_end().to_owned(),
            granted.credentials.contains_key(name),
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
