//! What the built-in tools may ask about secrets.

use std::sync::Arc;

use async_trait::async_trait;
use ringfence_core::error::{Failure, FailureKind, ToolError};
use ringfence_core::secret::{Revealed, SecretNote, SecretShelf, SecretUse};
use ringfence_egress::Placement;
use ringfence_package::grant::{Credential, GrantedCredential, NamePattern};
use ringfence_package::{Installed, Installer};
use ringfence_vault::SecretName;

use crate::means::Means;

/// The vault, as the built-in tools see it.
pub(crate) struct Shelf {
    pub(crate) means: Arc<Means>,
    pub(crate) installer: Arc<Installer>,
    /// The secrets whose values may be seen: `reveal` under `[secrets]` in the configuration.
    pub(crate) reveal: Vec<NamePattern>,
}

#[async_trait]
impl SecretShelf for Shelf {
    async fn list(&self) -> Result<Vec<SecretNote>, ToolError> {
        let (means, installer) = (self.means.clone(), self.installer.clone());
        blocking(move || notes(&means, &installer)).await
    }

    async fn reveal(&self, name: &str) -> Result<Revealed, ToolError> {
        if !self.reveal.iter().any(|pattern| pattern.matches(name)) {
            let message = format!("the operator does not let the secret `{name}` be seen");
            return Err(failed(FailureKind::Failed, "secret.hidden", message));
        }
        let (means, wanted) = (self.means.clone(), name.parse::<SecretName>());
        let found = blocking(move || {
            let Ok(wanted) = wanted else { return Ok(None) };
            means.vault.get(&wanted).map_err(|error| {
                tracing::warn!(target: "vault", secret = wanted.as_str(), "{error}");
                failed(FailureKind::Unavailable, "secret.unavailable", "the secrets cannot be read now".into())
            })
        });
        let missing = || failed(FailureKind::NotFound, "secret.unknown", format!("there is no secret `{name}`"));
        let secret = found.await?.ok_or_else(missing)?;
        Ok(Revealed { name: name.to_owned(), secret })
    }
}

fn notes(means: &Means, installer: &Installer) -> Result<Vec<SecretNote>, ToolError> {
    let unreadable = |error: &dyn std::error::Error| {
        tracing::warn!("the packages cannot be listed: {error}");
        failed(FailureKind::Unavailable, "packages", "the packages cannot be read now".into())
    };
    let installed = installer.inventory().map_err(|error| unreadable(&error))?.installed;
    // A grant file that cannot be read grants nothing.
    let uses: Vec<(String, SecretUse)> = installed.iter().flat_map(|package| uses(means, package)).collect();
    let note = |name: &str| SecretNote {
        name: name.to_owned(),
        used_for: uses.iter().filter(|(secret, _)| secret == name).map(|(_, one)| one.clone()).collect(),
    };
    Ok(means.vault.list().iter().map(|listed| note(listed.name.as_str())).collect())
}

/// The secrets behind the credentials of a package, with what they are for.
fn uses(means: &Means, package: &Installed) -> Vec<(String, SecretUse)> {
    let granted = means.grant(package).map(|grant| grant.effective.granted().credentials.clone()).unwrap_or_default();
    let mut uses = Vec::new();
    for (name, asked) in &package.manifest().package.capabilities.credentials {
        let secrets = granted.get(name).map(|given| places(asked, given)).unwrap_or_default();
        uses.extend(secrets.into_iter().map(|(secret, place)| {
            let source = package.source().to_string();
            let (credential, description) = (name.clone(), asked.description.clone());
            (secret, SecretUse { source, credential, place, description })
        }));
    }
    uses
}

/// The secrets behind a credential, each with its place.
fn places(asked: &Credential, given: &GrantedCredential) -> Vec<(String, String)> {
    let Some(oauth2) = &asked.oauth2 else { return vec![(given.secret.clone(), place(&asked.place))] };
    let mut places = vec![(given.secret.clone(), format!("client secret for tokens from {}", oauth2.token_url))];
    let refresh_token = given.oauth2.as_ref().and_then(|client| client.refresh_token.clone());
    places.extend(refresh_token.map(|name| (name, format!("refresh token for tokens from {}", oauth2.token_url))));
    places
}

fn place(place: &Placement) -> String {
    match place {
        Placement::Bearer => "bearer token".into(),
        Placement::Basic { username } => format!("password of the user {username}"),
        Placement::Header { name, .. } => format!("header {name}"),
        Placement::Query(parameter) => format!("query parameter {parameter}"),
        Placement::Path(placeholder) => format!("{{{placeholder}}} in the path"),
        Placement::Json(pointer) => format!("{pointer} in the JSON body"),
    }
}

/// The vault may wait for a keyring.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(failed(FailureKind::Failed, "secret", error.to_string())))
}

fn failed(kind: FailureKind, code: &str, message: String) -> ToolError {
    ToolError::Failed(Failure { kind, code: code.into(), message, retry_after: None })
}
