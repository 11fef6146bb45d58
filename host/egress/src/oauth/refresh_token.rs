//! A refresh token in the vault, which the server may replace each time it is used.

use std::sync::Arc;

use ringfence_core::Secret;
use ringfence_vault::{SecretName, Vault};
use tokio::sync::{Mutex, MutexGuard};

use super::TokenError;
use super::source::read;

/// A refresh token. It is used by one at a time: the second would come with a token that the first had replaced.
pub(crate) struct RefreshToken {
    name: SecretName,
    vault: Arc<Vault>,
    unsaved: Mutex<Option<Replaced>>,
}

/// What the server put in the place of a token, while the vault could not take it.
struct Replaced {
    old: Secret,
    new: Secret,
}

/// The right to use it. It is held while the server is asked, which is bounded in time.
pub(super) struct Turn<'a> {
    token: &'a RefreshToken,
    unsaved: MutexGuard<'a, Option<Replaced>>,
}

impl RefreshToken {
    pub(super) fn new(name: SecretName, vault: Arc<Vault>) -> Self {
        Self { name, vault, unsaved: Mutex::default() }
    }

    pub(super) fn name(&self) -> &SecretName {
        &self.name
    }

    pub(super) async fn turn(&self) -> Turn<'_> {
        Turn { token: self, unsaved: self.unsaved.lock().await }
    }
}

impl Turn<'_> {
    pub(super) fn name(&self) -> &SecretName {
        &self.token.name
    }

    /// The token to use now.
    pub(super) async fn value(&mut self) -> Result<Secret, TokenError> {
        let stored = read(&self.token.vault, &self.token.name).await?;
        match self.unsaved.take() {
            Some(Replaced { old, new }) if old.expose() == stored.expose() => {
                self.replace(old, new.clone()).await;
                Ok(new)
            }
            // The operator has stored another one meanwhile.
            _ => Ok(stored),
        }
    }

    /// The server put `new` in the place of `old`. Where the vault cannot take it, it is kept here, since the old one
    /// is worth nothing any more, and stored the next time.
    pub(super) async fn replace(&mut self, old: Secret, new: Secret) {
        let old = self.unsaved.take().map_or(old, |replaced| replaced.old);
        let (vault, name) = (self.token.vault.clone(), self.token.name.clone());
        let (expected, value) = (old.clone(), new.clone());
        let stored = tokio::task::spawn_blocking(move || vault.replace(&name, &expected, &value)).await;
        let name = self.token.name.as_str();
        match stored {
            Ok(Ok(true)) => {}
            // What the operator stored meanwhile is what they want.
            Ok(Ok(false)) => {
                tracing::warn!(target: "vault", secret = name, "the refresh token was changed while it was in use");
            }
            Ok(Err(error)) => {
                tracing::error!(target: "vault", secret = name, "the new refresh token is lost when this process ends: {error}");
                *self.unsaved = Some(Replaced { old, new });
            }
            Err(_panicked) => *self.unsaved = Some(Replaced { old, new }),
        }
    }
}
