//! Secrets for guests, used without being seen.

use std::sync::Arc;

use ringfence_vault::{SecretName, Vault};
use wasmtime::Result;

use crate::bindings::ringfence::tool::secrets::{self, Algorithm, Error};
use crate::state::GuestState;

impl secrets::Host for GuestState {
    async fn exists(&mut self, name: String) -> Result<std::result::Result<bool, Error>> {
        let Some((vault, name)) = self.vault(name, |grant, name| grant.may_test(name)) else {
            return Ok(Err(Error::Denied));
        };
        Ok(Ok(vault.list().iter().any(|listed| listed.name == name)))
    }

    async fn sign(
        &mut self,
        name: String,
        algorithm: Algorithm,
        message: Vec<u8>,
    ) -> Result<std::result::Result<Vec<u8>, Error>> {
        let Some((vault, name)) = self.vault(name, |grant, name| grant.may_sign(name)) else {
            return Ok(Err(Error::Denied));
        };
        // A keyring may take its time.
        let signed = tokio::task::spawn_blocking(move || sign(&vault, &name, algorithm, &message)).await;
        Ok(signed.unwrap_or(Err(Error::Missing)))
    }
}

fn sign(
    vault: &Arc<Vault>,
    name: &SecretName,
    algorithm: Algorithm,
    message: &[u8],
) -> std::result::Result<Vec<u8>, Error> {
    let secret = vault.get(name).map_err(|error| {
        tracing::warn!(target: "vault", secret = name.as_str(), "{error}");
        Error::Missing
    })?;
    let secret = secret.ok_or(Error::Missing)?;
    let algorithm = match algorithm {
        Algorithm::HmacSha256 => ringfence_vault::Algorithm::HmacSha256,
        Algorithm::Ed25519 => ringfence_vault::Algorithm::Ed25519,
    };
    ringfence_vault::sign(&secret, algorithm, message).map_err(|_unsuitable| Error::Unsuitable)
}
