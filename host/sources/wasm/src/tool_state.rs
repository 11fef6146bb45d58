//! What guests keep between calls: the store writes it for them, under the package and the caller's user.

use std::sync::Arc;

use ringfence_core::tool_state::{MAX_STATE_KEY, StateError, StateOwner, StateQuota, ToolState, WriteIf};
use wasmtime::Result;

use crate::bindings::ringfence::tool::state::{self, Error};
use crate::reach::StatePlace;
use crate::state::GuestState;

type Answer<T> = std::result::Result<T, Error>;

impl state::Host for GuestState {
    async fn get(&mut self, key: String) -> Result<Answer<Option<Vec<u8>>>> {
        self.in_state(move |kept| kept.store.get(&kept.owner, checked(&key)?).map_err(failed)).await
    }

    async fn set(&mut self, key: String, value: Vec<u8>) -> Result<Answer<()>> {
        self.in_state(move |kept| kept.set(&key, &value, &WriteIf::Always).map(drop)).await
    }

    async fn swap(&mut self, key: String, expected: Option<Vec<u8>>, value: Vec<u8>) -> Result<Answer<bool>> {
        self.in_state(move |kept| kept.set(&key, &value, &WriteIf::Holds(expected))).await
    }

    async fn delete(&mut self, key: String) -> Result<Answer<bool>> {
        self.in_state(move |kept| kept.store.delete(&kept.owner, checked(&key)?).map_err(failed)).await
    }

    async fn keys(&mut self, prefix: String) -> Result<Answer<Vec<String>>> {
        self.in_state(move |kept| match prefix.is_empty() {
            true => kept.store.keys(&kept.owner, "").map_err(failed),
            false => kept.store.keys(&kept.owner, checked(&prefix)?).map_err(failed),
        })
        .await
    }
}

/// The state of one package for one user.
struct Kept {
    store: Arc<dyn ToolState>,
    owner: StateOwner,
    quota: StateQuota,
}

impl Kept {
    fn set(&self, key: &str, value: &[u8], condition: &WriteIf) -> Answer<bool> {
        self.store.set(&self.owner, checked(key)?, value, condition, self.quota).map_err(|error| match error {
            StateError::Quota(_) => Error::OverQuota,
            other => failed(other),
        })
    }
}

impl GuestState {
    /// Does `work` with what is kept, where blocking is allowed: a write waits for the disk.
    async fn in_state<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&Kept) -> Answer<T> + Send + 'static,
    ) -> Result<Answer<T>> {
        self.take_state_call()?;
        let Some(kept) = self.kept() else { return Ok(Err(Error::Denied)) };
        let done = tokio::task::spawn_blocking(move || work(&kept)).await;
        Ok(done.unwrap_or(Err(Error::Failed)))
    }

    fn kept(&mut self) -> Option<Kept> {
        let user = self.user().map(str::to_owned);
        let reach = self.reach()?;
        let (place, quota) = (reach.state.as_ref()?, reach.grant.state()?);
        let StatePlace { store, source, signer, package } = place.clone();
        Some(Kept { store, owner: StateOwner { source, signer, package, user }, quota })
    }
}

fn checked(key: &str) -> Answer<&str> {
    let good = (1..=MAX_STATE_KEY).contains(&key.len()) && !key.chars().any(char::is_control);
    if good { Ok(key) } else { Err(Error::InvalidKey) }
}

fn failed(error: impl std::fmt::Display) -> Error {
    tracing::error!(target: "state", %error, "what a tool keeps cannot be read or written");
    Error::Failed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_short_and_plain() {
        for good in ["a", "a/b c%_ø", &"x".repeat(MAX_STATE_KEY)] {
            assert_eq!(checked(good), Ok(good));
        }
        for wrong in ["", "a\0b", "a\nb", &"x".repeat(MAX_STATE_KEY + 1), &"ø".repeat(MAX_STATE_KEY / 2 + 1)] {
            assert_eq!(checked(wrong), Err(Error::InvalidKey), "{wrong:?}");
        }
    }
}
