//! Tokens that the host obtained, while they live: looked for beside the secrets that stay.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;

use ringfence_core::Secret;
use ringfence_core::finish::current::{CurrentScrubber, TokenOwner};
use ringfence_core::finish::scrub::ScrubberError;

use super::Scanner;
use crate::oauth::TokenError;

/// The tokens of the whole host. One that a tool was given must not reach another tool either.
pub(crate) struct Living {
    /// Keeps them out of results, and remembers them.
    scrubber: Arc<CurrentScrubber>,
    /// `None` while there are none.
    scanner: RwLock<Option<Scanner>>,
}

impl Living {
    pub(crate) fn new(scrubber: Arc<CurrentScrubber>) -> Self {
        Self { scrubber, scanner: RwLock::default() }
    }

    /// What looks for them now.
    pub(crate) fn scanner(&self) -> Option<Scanner> {
        self.scanner.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Looks for `token` as well, in results too; see [`CurrentScrubber::learn_token`].
    pub(crate) fn learn_token(
        &self,
        owner: &TokenOwner,
        name: &str,
        token: &Secret,
        until: Instant,
    ) -> Result<(), TokenError> {
        self.learn(|scrubber| scrubber.learn_token(owner, name, token, until))
    }

    /// Looks for `secret` as well, in results too; see [`CurrentScrubber::learn_replacement`].
    pub(crate) fn learn_replacement(&self, name: &str, secret: &Secret) -> Result<(), TokenError> {
        self.learn(|scrubber| scrubber.learn_replacement(name, secret))
    }

    fn learn(&self, tell: impl FnOnce(&CurrentScrubber) -> Result<(), ScrubberError>) -> Result<(), TokenError> {
        // Held throughout, so that of two who learn at once the later one sees both.
        let mut scanner = self.scanner.write().unwrap_or_else(PoisonError::into_inner);
        tell(&self.scrubber)?;
        *scanner = Some(Scanner::new(&self.scrubber.living())?);
        Ok(())
    }
}
