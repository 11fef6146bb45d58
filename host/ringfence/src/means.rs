//! What guests reach beyond their instances, and how far each source may use it.

mod asked;

use std::sync::Arc;

use ringfence_core::Secret;
use ringfence_core::grant::{HttpRule, RuleSet};
use ringfence_core::name::SourceName;
use ringfence_core::tool_state::ToolState;
use ringfence_egress::{Access, BoundCredential, CredentialValue, Egress, LackingCredential, OAuthClient, Tokens};
use ringfence_package::grant::{Credential, GrantedCredential, RequestPattern};
use ringfence_package::{Effective, Installed};
use ringfence_source_wasm::{Granter, Network, Reach, StatePlace, Workspace};
use ringfence_store::StoreError;
use ringfence_vault::{SecretName, Vault};
use thiserror::Error;

use crate::grants::{GrantFile, GrantFileError, GrantHolders, Grants, Suspended};
use crate::known_secrets::{KnownSecrets, Secrets, SecretsError};

pub(crate) use asked::{Asked, HeldBack, NeededSecret};
pub(crate) use asked::{asked, asked_by};
use asked::{credential_option, is_given, secrets_behind};

/// What stands in place of a signer where an embedding program vouches for a component. It is no key's id.
const EMBEDDED: &str = "embedded";

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
        let SourceGrant { effective, suspended, .. } = self.grant(installed)?;
        let package = installed.manifest().package.name.clone();
        let source = installed.source().clone();
        let reach = self.reach_of(effective, Granter::Operator, source, installed.signer(), package)?;
        Ok(Reach { suspended: suspended.as_ref().map(ToString::to_string), ..reach })
    }

    /// What the tools of the embedded component `source` reach by `grant`, with the secrets as they are now.
    pub(crate) fn reach_embedded(&self, grant: Effective, source: &SourceName) -> Result<Reach, MeansError> {
        self.reach_of(grant, Granter::Program, source.clone(), EMBEDDED.to_owned(), source.clone())
    }

    fn reach_of(
        &self,
        grant: Effective,
        granter: Granter,
        source: SourceName,
        signer: String,
        package: SourceName,
    ) -> Result<Reach, MeansError> {
        let access = grant.reaches_http().then(|| self.access(&source, &grant)).transpose()?;
        let network = access.map(|access| Network { door: self.door.clone(), access: Arc::new(access) });
        let vault = Some(self.vault.clone());
        let state = Some(StatePlace { store: self.state.clone(), source, signer, package });
        let (grant, workspace) = (Arc::new(grant), self.workspace.clone());
        Ok(Reach { grant, network, vault, workspace, state, granter, suspended: None })
    }

    /// What `grant` of `source` lets pass: what the manifest asks for is asked first, then what of it is granted.
    pub(crate) fn access(&self, source: &SourceName, grant: &Effective) -> Result<Access, MeansError> {
        let secrets = self.secrets.get()?;
        let (bound, lacking) = self.credentials(source, grant, &secrets);
        let requested = RuleSet::new(grant.requested().http.clone());
        let access = Access::new(requested, grant.addresses().clone(), bound, secrets.scanner.clone());
        Ok(access.within(RuleSet::new(grant.granted().http.clone())).lacking(lacking))
    }

    /// The credentials that there are, and those that are needed and missing.
    fn credentials(
        &self,
        source: &SourceName,
        grant: &Effective,
        secrets: &Secrets,
    ) -> (Vec<BoundCredential>, Vec<LackingCredential>) {
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
                    let remedy = remedy(source, name, asked, given, secrets);
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

/// What to do about the credential `name`, of which there is no value to be placed.
fn remedy(
    source: &SourceName,
    name: &str,
    asked: &Credential,
    given: Option<&GrantedCredential>,
    secrets: &Secrets,
) -> String {
    let needed = secrets_behind(source, name, asked, given);
    if let Some(lost) = secrets.lost.iter().find(|lost| needed.iter().any(|name| name == lost.as_str())) {
        return format!("the secret `{lost}` has no value any more; `ringfence secret rotate {lost}` gives it one");
    }
    let is_there = |name: &String| secrets.all.iter().any(|(secret, _)| secret.as_str() == name);
    let missing = needed.iter().filter(|name| !is_there(name)).map(|name| format!("`ringfence secret set {name}`"));
    let missing = missing.collect::<Vec<_>>().join(" and ");
    let grant = format!("`ringfence grant {source} {}`", credential_option(source, name, asked, given));
    match (missing.is_empty(), given.is_some_and(|given| is_given(asked, given))) {
        (false, true) => format!("{missing} stores its value"),
        (false, false) => format!("{missing} stores its value, and {grant} gives it"),
        (true, _) => format!("{grant} gives it"),
    }
}

fn rule_set(requests: &[RequestPattern]) -> RuleSet {
    RuleSet::new(requests.iter().cloned().map(HttpRule::from).collect())
}
