//! The scrubber of now: what is secret changes while the host runs.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Instant;

use super::scrub::{Scrubber, ScrubberError};
use crate::secret::Secret;

/// The most secrets that are known for a time. Beyond it the one that ends first is forgotten early.
const MAX_LIVING: usize = 64;

/// Holds the scrubber that all calls share, until one that knows other secrets takes its place.
pub struct CurrentScrubber(RwLock<Known>);

struct Known {
    /// Knows what stays secret.
    lasting: Arc<Scrubber>,
    /// What is secret for a time: tokens that the host obtained.
    living: Vec<Living>,
    /// Knows both.
    now: Arc<Scrubber>,
}

struct Living {
    name: String,
    secret: Secret,
    until: Instant,
}

impl CurrentScrubber {
    /// Begins with `scrubber`.
    pub fn new(scrubber: Scrubber) -> Self {
        let lasting = Arc::new(scrubber);
        Self(RwLock::new(Known { now: lasting.clone(), lasting, living: Vec::new() }))
    }

    /// The scrubber of now.
    pub fn get(&self) -> Arc<Scrubber> {
        self.read().now.clone()
    }

    /// From now on `scrubber`, and the secrets that are known for a time. Calls that are running end with it as well.
    ///
    /// # Errors
    /// All together are too large to search for. Nothing changes then.
    pub fn replace(&self, scrubber: Scrubber) -> Result<(), ScrubberError> {
        let mut known = self.write();
        known.now = Arc::new(scrubber.knowing(pairs(&known.living))?);
        known.lasting = Arc::new(scrubber);
        Ok(())
    }

    /// Knows `secret` as well, until it is worth nothing any more.
    ///
    /// # Errors
    /// It is too short to be found, or all together are too large to search for. It must not be used then.
    pub fn learn(&self, name: &str, secret: &Secret, until: Instant) -> Result<(), ScrubberError> {
        let mut known = self.write();
        let now = Instant::now();
        known.living.retain(|living| living.until > now && living.secret.expose() != secret.expose());
        if known.living.len() == MAX_LIVING
            && let Some(first) = (0..MAX_LIVING).min_by_key(|place| known.living[*place].until)
        {
            known.living.swap_remove(first);
        }
        known.living.push(Living { name: name.to_owned(), secret: secret.clone(), until });
        let with = known.lasting.knowing(pairs(&known.living));
        if with.is_err() {
            known.living.pop();
        }
        known.now = Arc::new(with?);
        Ok(())
    }

    /// The secrets that are known for a time, with their names.
    pub fn living(&self) -> Vec<(String, Secret)> {
        pairs(&self.read().living)
    }

    fn read(&self) -> RwLockReadGuard<'_, Known> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Known> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

fn pairs(living: &[Living]) -> Vec<(String, Secret)> {
    living.iter().map(|living| (living.name.clone(), living.secret.clone())).collect()
}

/// Knows nothing.
impl Default for CurrentScrubber {
    fn default() -> Self {
        Self::new(Scrubber::default())
    }
}

/// Shows names only.
impl fmt::Debug for CurrentScrubber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CurrentScrubber").field(&self.read().now).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn secret(value: &str) -> Secret {
        Secret::new(value.into())
    }

    #[test]
    fn a_token_is_known_beside_what_lasts_and_after_that_was_replaced() {
        let current = CurrentScrubber::new(Scrubber::new(vec![("old".into(), secret("value-one"))]).unwrap());
        let later = Instant::now() + Duration::from_secs(3600);
        current.learn("token", &secret("value-two"), later).unwrap();
        assert_eq!(current.get().text("value-one value-two"), "[REDACTED:old] [REDACTED:token]");
        current.replace(Scrubber::new(vec![("new".into(), secret("value-three"))]).unwrap()).unwrap();
        assert_eq!(current.get().text("value-one value-two value-three"), "value-one [REDACTED:token] [REDACTED:new]");
        assert!(!format!("{current:?}").contains("value-two"));
    }

    #[test]
    fn what_has_ended_is_forgotten_and_what_is_too_short_refused() {
        let current = CurrentScrubber::default();
        current.learn("gone", &secret("value-one"), Instant::now()).unwrap();
        let later = Instant::now() + Duration::from_secs(3600);
        current.learn("token", &secret("value-two"), later).unwrap();
        current.learn("token", &secret("value-two"), later).unwrap();
        assert_eq!(current.living().len(), 1);
        assert!(current.learn("short", &secret("abc"), later).is_err());
        assert_eq!(current.living().len(), 1);
    }

    #[test]
    fn tokens_are_bounded() {
        let current = CurrentScrubber::default();
        let later = Instant::now() + Duration::from_secs(3600);
        for i in 0..=MAX_LIVING as u64 {
            current.learn("token", &secret(&format!("value-{i:09}")), later + Duration::from_secs(i)).unwrap();
        }
        assert_eq!(current.living().len(), MAX_LIVING);
        assert_eq!(current.get().text("value-000000000 value-000000001"), "value-000000000 [REDACTED:token]");
    }
}
