//! To whom a grant was given. A name can change hands; what was granted to its tools does not go along.
//!
//! The operator granted something to a package that somebody signed, or that nobody signed and somebody claimed. When
//! another one takes its name, the grant is suspended until the operator gives it to that one, unless the key of the other
//! one took the place of the first by that one's own statement. Limits and rate hold all the while: they only take away. A
//! grant that was written by hand is given to whoever has the name when it is first read. The record is kept apart from
//! the file, which is the operator's to write, replace and copy.

use std::fmt;
use std::sync::Arc;

use ringfence_core::name::SourceName;
use ringfence_package::grant::Granted;
use ringfence_package::{Installed, UNSIGNED};
use ringfence_store::{GrantHolder, Store, StoreError};

/// The records of who holds which grant.
pub(crate) struct GrantHolders(Arc<Store>);

/// A grant that was given to the package of somebody else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Suspended {
    source: SourceName,
    given_to: GrantHolder,
    now: GrantHolder,
}

impl GrantHolders {
    /// Those in the state of `store`.
    pub(crate) fn new(store: Arc<Store>) -> Self {
        Self(store)
    }

    /// Whether `granted` was given to somebody else than whose package `installed` is. Where nobody has it so far, it is
    /// given to this one.
    ///
    /// # Errors
    /// When the record cannot be read or written.
    pub(crate) fn check(&self, installed: &Installed, granted: &Granted) -> Result<Option<Suspended>, StoreError> {
        if !granted.gives() {
            return Ok(None);
        }
        let now = holder(installed);
        match self.0.database().grant_holder(installed.source())? {
            None => self.give(installed).map(|()| None),
            Some(given_to) if is_same(&given_to, &now) => Ok(None),
            Some(given_to) if self.succeeds(&now, &given_to)? => self.give(installed).map(|()| None),
            Some(given_to) => Ok(Some(Suspended { source: installed.source().clone(), given_to, now })),
        }
    }

    /// Whether the key of `now` took the place of that of `before`, by that one's own statement.
    fn succeeds(&self, now: &GrantHolder, before: &GrantHolder) -> Result<bool, StoreError> {
        match (&now.key_id, &before.key_id) {
            (Some(now), Some(before)) => self.0.database().succeeds(now, before),
            _ => Ok(false),
        }
    }

    /// Gives the grant to whose package `installed` is.
    ///
    /// # Errors
    /// When it cannot be recorded.
    pub(crate) fn give(&self, installed: &Installed) -> Result<(), StoreError> {
        self.0.database().put_grant_holder(installed.source(), &holder(installed))
    }

    /// Forgets to whom the grant of `source` was given: there is none any more.
    ///
    /// # Errors
    /// When it cannot be recorded.
    pub(crate) fn forget(&self, source: &SourceName) -> Result<(), StoreError> {
        self.0.database().forget_grant_holder(source)
    }
}

fn holder(installed: &Installed) -> GrantHolder {
    GrantHolder { key_id: installed.key_id().map(str::to_owned), publisher: installed.publisher().to_owned() }
}

/// A key says whose a package is; without one, only its claim can.
fn is_same(one: &GrantHolder, other: &GrantHolder) -> bool {
    match (&one.key_id, &other.key_id) {
        (None, None) => one.publisher == other.publisher,
        (one, other) => one == other,
    }
}

fn signer(holder: &GrantHolder) -> &str {
    holder.key_id.as_deref().unwrap_or(UNSIGNED)
}

impl fmt::Display for Suspended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { source, given_to, now } = self;
        write!(
            f,
            "the grant of `{source}` is suspended: it was given to a package of {} ({}), and this one is of {} ({signer}). \
             `ringfence grant {source} --accept-signer {signer}` gives it to this one, `ringfence revoke {source}` takes \
             it back",
            given_to.publisher,
            signer(given_to),
            now.publisher,
            signer = signer(now),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_tells_whose_a_package_is_and_without_one_its_claim() {
        let of = |key_id: Option<&str>, publisher: &str| GrantHolder {
            key_id: key_id.map(str::to_owned),
            publisher: publisher.to_owned(),
        };
        for (one, other, same) in [
            (of(Some("A"), "acme"), of(Some("A"), "renamed"), true),
            (of(Some("A"), "acme"), of(Some("B"), "acme"), false),
            (of(Some("A"), "acme"), of(None, "acme"), false),
            (of(None, "acme"), of(Some("A"), "acme"), false),
            (of(None, "acme"), of(None, "acme"), true),
            (of(None, "acme"), of(None, "evil"), false),
        ] {
            assert_eq!(is_same(&one, &other), same, "{one:?} {other:?}");
        }
    }
}
