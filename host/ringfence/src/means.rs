//! What guests reach beyond their instances, and how far each source may use it.

use std::sync::Arc;

use ringfence_core::Secret;
use ringfence_core::grant::{HttpRule, RuleSet};
use ringfence_core::name::SourceName;
use ringfence_core::tool_state::{StateQuota, ToolState};
use ringfence_egress::{Access, BoundCredential, Egress, LackingCredential};
use ringfence_package::grant::RequestPattern;
use ringfence_package::{Effective, PackageInfo};
use ringfence_source_wasm::{Network, Reach, StatePlace, Workspace};
use ringfence_vault::Vault;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::grants::{GrantFileError, Grants};
use crate::known_secrets::{KnownSecrets, SecretsError};

/// The door to the network, the vault, the workspace, what tools keep, and the grants.
pub(crate) struct Means {
    pub(crate) door: Arc<Egress>,
    pub(crate) vault: Arc<Vault>,
    pub(crate) secrets: KnownSecrets,
    pub(crate) workspace: Option<Workspace>,
    pub(crate) state: Arc<dyn ToolState>,
    pub(crate) grants: Grants,
}

/// Why a source gets nothing.
#[derive(Debug, Error)]
pub(crate) enum MeansError {
    #[error(transparent)]
    Grant(#[from] GrantFileError),
    #[error(transparent)]
    Secrets(#[from] SecretsError),
}

/// One thing that a package asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// What, in words.
    pub what: String,
    /// Whether it is granted, as it was asked for.
    pub granted: bool,
}

impl Means {
    /// What the tools of `source`, whose package is `package`, reach.
    pub(crate) fn reach(&self, source: &SourceName, package: &PackageInfo) -> Result<Reach, MeansError> {
        let grant = self.grants.load(source)?.effective(package.capabilities.clone())?;
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
        let (bound, lacking) = credentials(grant, &secrets.all);
        let requested = RuleSet::new(grant.requested().http.clone());
        let access = Access::new(requested, grant.addresses().clone(), bound, secrets.scanner.clone());
        Ok(access.within(RuleSet::new(grant.granted().http.clone())).lacking(lacking))
    }
}

/// The credentials that there are, and those that are needed and missing.
fn credentials(grant: &Effective, secrets: &[(String, Secret)]) -> (Vec<BoundCredential>, Vec<LackingCredential>) {
    let (mut bound, mut lacking) = (Vec::new(), Vec::new());
    for (name, asked) in &grant.requested().credentials {
        let requests = rule_set(&asked.requests);
        let given = grant.granted().credentials.get(name);
        let secret = given.and_then(|given| secrets.iter().find(|(secret, _)| *secret == given.secret));
        match (given, secret) {
            (Some(given), Some((secret_name, secret))) => {
                let narrowed = given.requests.as_deref().map(rule_set);
                bound.push(BoundCredential {
                    name: secret_name.clone(),
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

fn rule_set(requests: &[RequestPattern]) -> RuleSet {
    RuleSet::new(requests.iter().cloned().map(HttpRule::from).collect())
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
