//! The scrubber of now: what is secret changes while the host runs.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak};
use std::time::{Duration, Instant};

use super::scrub::{Scrubber, ScrubberError};
use crate::secret::Secret;

/// The most tokens of one owner that are known: the one in use, and those before it that what is under way may hold. The
/// oldest is forgotten early. It is no bound for all owners: what one of them obtains must not make the host forget
/// another one's, and there are as many as the operator granted.
const MAX_OF_ONE: usize = 4;

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

/// Whose tokens take the place of each other: a client of an authorization server, while somebody may use its tokens.
#[derive(Debug, Default)]
pub struct TokenOwner(Arc<()>);

#[derive(Clone)]
struct Living {
    name: String,
    secret: Secret,
    /// `None`: it took the place of the stored secret with its name.
    owner: Option<Weak<()>>,
    /// `None`: until another one takes its place.
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

    /// Knows `token` as well, until it is worth nothing any more. `owner` uses it from now on, instead of the one before.
    ///
    /// # Errors
    /// It is too short to be found, or all together are too large to search for. It must not be used then.
    pub fn learn_token(
        &self,
        owner: &TokenOwner,
        name: &str,
        token: &Secret,
        until: Instant,
    ) -> Result<(), ScrubberError> {
        let (name, secret, owner) = (name.to_owned(), token.clone(), Some(Arc::downgrade(&owner.0)));
        self.learn(Living { name, secret, owner, until: Some(until) })
    }

    /// Knows `secret` as well, which took the place of the stored secret `name`, until another one does.
    ///
    /// # Errors
    /// As [`CurrentScrubber::learn_token`].
    pub fn learn_replacement(&self, name: &str, secret: &Secret) -> Result<(), ScrubberError> {
        self.learn(Living { name: name.to_owned(), secret: secret.clone(), owner: None, until: None })
    }

    fn learn(&self, new: Living) -> Result<(), ScrubberError> {
        let mut known = self.write();
        let living = with(&known.living, new, Instant::now());
        known.now = Arc::new(known.lasting.knowing(pairs(&living))?);
        known.living = living;
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

impl Living {
    /// Whether it has the same owner.
    fn is_beside(&self, other: &Self) -> bool {
        match (&self.owner, &other.owner) {
            (Some(own), Some(other)) => own.ptr_eq(other),
            (None, None) => self.name == other.name,
            _ => false,
        }
    }

    /// The same, if nobody gets it any more.
    fn retired(mut self, now: Instant) -> Self {
        self.until = Some(self.until.map_or(now + OVERLAP, |until| until.min(now + OVERLAP)));
        self
    }
}

/// Those of `living` that are still to be known, the oldest first, and `new`.
fn with(living: &[Living], mut new: Living, now: Instant) -> Vec<Living> {
    let mut with: Vec<Living> = Vec::with_capacity(living.len() + 1);
    for one in living.iter().filter(|one| one.until.is_none_or(|until| until > now)).cloned() {
        let is_unowned = one.owner.as_ref().is_some_and(|owner| owner.strong_count() == 0);
        match one.is_beside(&new) {
            // The same once more. It ends when the later one does.
            true if one.secret.expose() == new.secret.expose() => {
                new.until = new.until.zip(one.until).map(|(one, other)| one.max(other));
            }
            // A token may be good as long as it was to be, and so is looked for as long.
            true if one.until.is_none() => with.push(one.retired(now)),
            false if is_unowned => with.push(one.retired(now)),
            _ => with.push(one),
        }
    }
    let mut beside = (0..with.len()).filter(|place| with[*place].is_beside(&new));
    if let Some(oldest) = beside.next()
        && beside.count() + 2 > MAX_OF_ONE
    {
        with.remove(oldest);
    }
    with.push(new);
    with
}

/// Each value once: a server may give two clients the same token.
fn pairs(living: &[Living]) -> Vec<(String, Secret)> {
    let mut seen = HashSet::new();
    let first = living.iter().filter(|living| seen.insert(living.secret.expose()));
    first.map(|living| (living.name.clone(), living.secret.clone())).collect()
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

    fn later(seconds: u64) -> Instant {
        Instant::now() + Duration::from_secs(seconds)
    }

    fn is_known(current: &CurrentScrubber, value: &str) -> bool {
        current.get().text(value) != value
    }

    #[test]
    fn a_token_is_known_beside_what_lasts_and_after_that_was_replaced() {
        let current = CurrentScrubber::new(Scrubber::new(vec![("old".into(), secret("value-one"))]).unwrap());
        current.learn_token(&TokenOwner::default(), "token", &secret("value-two"), later(3600)).unwrap();
        assert_eq!(current.get().text("value-one value-two"), "[REDACTED:old] [REDACTED:token]");
        current.replace(Scrubber::new(vec![("new".into(), secret("value-three"))]).unwrap()).unwrap();
        assert_eq!(current.get().text("value-one value-two value-three"), "value-one [REDACTED:token] [REDACTED:new]");
        assert!(!format!("{current:?}").contains("value-two"));
    }

    #[test]
    fn what_has_ended_is_forgotten_and_what_is_too_short_refused() {
        let (current, owner) = (CurrentScrubber::default(), TokenOwner::default());
        current.learn_token(&owner, "gone", &secret("value-one"), Instant::now()).unwrap();
        current.learn_token(&owner, "token", &secret("value-two"), later(3600)).unwrap();
        current.learn_token(&owner, "token", &secret("value-two"), later(3600)).unwrap();
        assert_eq!(current.living().len(), 1);
        assert!(current.learn_token(&owner, "short", &secret("abc"), later(3600)).is_err());
        assert_eq!(current.living().len(), 1);
    }

    #[test]
    fn what_has_no_end_stays_until_it_is_replaced_and_a_while_longer() {
        let current = CurrentScrubber::default();
        current.learn_replacement("login", &secret("value-one")).unwrap();
        current.learn_replacement("other", &secret("value-two")).unwrap();
        current.learn_replacement("login", &secret("value-three")).unwrap();
        let ends: Vec<bool> = current.read().living.iter().map(|living| living.until.is_some()).collect();
        assert_eq!(ends, [true, false, false]);
        assert_eq!(current.get().text("value-one value-three"), "[REDACTED:login] [REDACTED:login]");
    }

    #[test]
    fn of_one_owner_the_oldest_token_is_forgotten_and_the_one_in_use_never() {
        let (current, owner) = (CurrentScrubber::default(), TokenOwner::default());
        for i in 0..20 {
            // Each ends before the one before it.
            current.learn_token(&owner, "token", &secret(&format!("value-{i:09}")), later(3600 - i)).unwrap();
            current.learn_replacement("login", &secret(&format!("login-{i:09}"))).unwrap();
            assert!(is_known(&current, &format!("value-{i:09}")) && is_known(&current, &format!("login-{i:09}")));
        }
        assert_eq!(current.living().len(), 2 * MAX_OF_ONE);
        assert!(is_known(&current, "value-000000016") && !is_known(&current, "value-000000015"));
        assert!(is_known(&current, "login-000000016") && !is_known(&current, "login-000000015"));
    }

    #[test]
    fn nobodys_tokens_take_the_place_of_anothers() {
        let (current, honest, hostile) = (CurrentScrubber::default(), TokenOwner::default(), TokenOwner::default());
        current.learn_token(&honest, "token", &secret("honest-token"), later(60)).unwrap();
        current.learn_replacement("login", &secret("honest-login")).unwrap();
        for i in 0..100 {
            // By the same name, which is no more than what a mark says.
            current.learn_token(&hostile, "token", &secret(&format!("value-{i:09}")), later(3600)).unwrap();
            current.learn_replacement("other", &secret(&format!("login-{i:09}"))).unwrap();
        }
        // Whoever gets to know a token does not make it end earlier either.
        current.learn_token(&hostile, "token", &secret("honest-token"), Instant::now()).unwrap();
        current.learn_token(&hostile, "token", &secret("value-last"), later(3600)).unwrap();
        assert!(is_known(&current, "honest-token") && is_known(&current, "honest-login"));
    }

    #[test]
    fn the_tokens_of_as_many_owners_as_there_are_stay_known() {
        let (current, owners) = (CurrentScrubber::default(), Vec::from_iter((0..200).map(|_| TokenOwner::default())));
        for (i, owner) in owners.iter().enumerate() {
            current.learn_token(owner, "token", &secret(&format!("value-{i:09}")), later(3600)).unwrap();
        }
        assert!((0..owners.len()).all(|i| is_known(&current, &format!("value-{i:09}"))));
    }

    #[test]
    fn tokens_that_nobody_uses_any_more_are_forgotten_after_a_while() {
        let current = CurrentScrubber::default();
        current.learn_token(&TokenOwner::default(), "token", &secret("value-one"), later(30 * 24 * 3600)).unwrap();
        current.learn_token(&TokenOwner::default(), "token", &secret("value-two"), later(3600)).unwrap();
        let until = current.read().living[0].until.unwrap();
        assert!(until <= Instant::now() + OVERLAP && is_known(&current, "value-one"));
    }
}
