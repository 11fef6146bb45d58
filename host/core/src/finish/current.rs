//! The scrubber of now: what is secret changes while the host runs.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

use super::scrub::{Scrubber, ScrubberError};
use crate::secret::Secret;

/// The most secrets that are known for a time. Beyond it the one that ends first is forgotten early.
const MAX_LIVING: usize = 64;

/// How long a secret that another one replaced is still looked for: what is under way may hold it.
const OVERLAP: Duration = Duration::from_secs(3600);

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
    /// `None`: until another one of its name takes its place.
    until: Option<Instant>,
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

    /// Knows `secret` as well: until it is worth nothing any more, or, without an end, until another one of its name
    /// takes its place.
    ///
    /// # Errors
    /// It is too short to be found, or all together are too large to search for. It must not be used then.
    pub fn learn(&self, name: &str, secret: &Secret, until: Option<Instant>) -> Result<(), ScrubberError> {
        let mut known = self.write();
        let now = Instant::now();
        let replaced = |living: &&mut Living| until.is_none() && living.until.is_none() && living.name == name;
        known.living.iter_mut().filter(replaced).for_each(|living| living.until = Some(now + OVERLAP));
        known
            .living
            .retain(|living| living.until.is_none_or(|end| end > now) && living.secret.expose() != secret.expose());
        let end = |living: &Living| (living.until.is_none(), living.until);
        if known.living.len() == MAX_LIVING
            && let Some(first) = (0..MAX_LIVING).min_by_key(|place| end(&known.living[*place]))
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
    use super::*;

    fn secret(value: &str) -> Secret {
        Secret::new(value.into())
    }

    #[test]
    fn a_token_is_known_beside_what_lasts_and_after_that_was_replaced() {
        let current = CurrentScrubber::new(Scrubber::new(vec![("old".into(), secret("value-one"))]).unwrap());
        let later = Some(Instant::now() + Duration::from_secs(3600));
        current.learn("token", &secret("value-two"), later).unwrap();
        assert_eq!(current.get().text("value-one value-two"), "[REDACTED:old] [REDACTED:token]");
        current.replace(Scrubber::new(vec![("new".into(), secret("value-three"))]).unwrap()).unwrap();
        assert_eq!(current.get().text("value-one value-two value-three"), "value-one [REDACTED:token] [REDACTED:new]");
        assert!(!format!("{current:?}").contains("value-two"));
    }

    #[test]
    fn what_has_ended_is_forgotten_and_what_is_too_short_refused() {
        let current = CurrentScrubber::default();
        current.learn("gone", &secret("value-one"), Some(Instant::now())).unwrap();
        let later = Some(Instant::now() + Duration::from_secs(3600));
        current.learn("token", &secret("value-two"), later).unwrap();
        current.learn("token", &secret("value-two"), later).unwrap();
        assert_eq!(current.living().len(), 1);
        assert!(current.learn("short", &secret("abc"), later).is_err());
        assert_eq!(current.living().len(), 1);
    }

    #[test]
    fn what_has_no_end_stays_until_it_is_replaced_and_a_while_longer() {
        let current = CurrentScrubber::default();
        current.learn("login", &secret("value-one"), None).unwrap();
        current.learn("other", &secret("value-two"), None).unwrap();
        current.learn("login", &secret("value-three"), None).unwrap();
        let ends: Vec<bool> = current.read().living.iter().map(|living| living.until.is_some()).collect();
        assert_eq!(ends, [true, false, false]);
        assert_eq!(current.get().text("value-one value-three"), "[REDACTED:login] [REDACTED:login]");
    }

    #[test]
    fn tokens_are_bounded() {
        let current = CurrentScrubber::default();
        let later = Some(Instant::now() + Duration::from_secs(3600));
        for i in 0..=MAX_LIVING as u64 {
            current
                .learn("token", &secret(&format!("value-{i:09}")), later.map(|later| later + Duration::from_secs(i)))
                .unwrap();
        }
        assert_eq!(current.living().len(), MAX_LIVING);
        assert_eq!(current.get().text("value-000000000 value-000000001"), "value-000000000 [REDACTED:token]");
    }
}
