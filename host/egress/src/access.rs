//! What one tool may reach, and the decision about one request.

use std::net::IpAddr;

use http::Method;
use ringfence_core::Secret;
use ringfence_core::grant::{HttpRule, RuleSet};
use url::Host;

use crate::address::AddressGrants;
use crate::credential::Placement;
use crate::error::EgressError;
use crate::scan::{Scanner, ScannerError};
use crate::target::Target;

/// What one tool may reach.
#[derive(Clone)]
pub struct Access {
    rules: RuleSet,
    addresses: AddressGrants,
    credentials: Vec<BoundCredential>,
    scanner: Scanner,
}

/// A credential and the requests it is for.
#[derive(Clone, Debug)]
pub struct BoundCredential {
    /// What the operator calls it.
    pub name: String,
    /// Its value.
    pub secret: Secret,
    /// Where it goes in a request.
    pub placement: Placement,
    /// The requests that carry it: scheme, host, port, path and method. It lets no request pass; the rules do.
    pub bound_to: HttpRule,
}

/// A request that may be sent.
#[derive(Clone, Debug)]
pub struct Decision<'a> {
    /// The place of the rule that let it pass, from 0.
    pub place: usize,
    /// That rule.
    pub rule: &'a HttpRule,
    /// The credentials that it will carry.
    pub credentials: Vec<&'a BoundCredential>,
}

impl Access {
    /// What `rules` let pass, to public addresses and those in `addresses`, with `credentials`. Their values, and those
    /// of the `other` secrets (names and values), are kept out of what guests send and receive.
    ///
    /// # Errors
    /// When the secrets are too large to search for.
    pub fn new(
        rules: RuleSet,
        addresses: AddressGrants,
        credentials: Vec<BoundCredential>,
        other: &[(String, Secret)],
    ) -> Result<Self, ScannerError> {
        let own = credentials.iter().map(|credential| (credential.name.clone(), credential.secret.clone()));
        let secrets: Vec<(String, Secret)> = own.chain(other.iter().cloned()).collect();
        Ok(Self { rules, addresses, credentials, scanner: Scanner::new(&secrets)? })
    }

    /// The addresses that are granted.
    pub(crate) fn addresses(&self) -> &AddressGrants {
        &self.addresses
    }

    /// What looks for the secrets.
    pub(crate) fn scanner(&self) -> &Scanner {
        &self.scanner
    }

    /// Decides about a request, before any name is resolved. Sends nothing.
    ///
    /// # Errors
    /// [`EgressError::Denied`] and [`EgressError::Address`].
    pub fn decide(&self, target: &Target, method: &Method) -> Result<Decision<'_>, EgressError> {
        let seen = target.seen();
        let place = self.rules.decide(seen, method.as_str()).map_err(EgressError::Denied)?;
        // The client resolves names, and connects to addresses as they stand.
        let literal: Option<IpAddr> = match seen.host() {
            Host::Ipv4(address) => Some((*address).into()),
            Host::Ipv6(address) => Some((*address).into()),
            Host::Domain(_) => None,
        };
        literal.map_or(Ok(()), |address| self.addresses.check(address))?;
        let bound = |credential: &&BoundCredential| credential.bound_to.matches(seen, method.as_str());
        let credentials = self.credentials.iter().filter(bound).collect();
        Ok(Decision { place, rule: &self.rules.rules()[place], credentials })
    }
}
