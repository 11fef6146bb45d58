//! What one tool may reach, and the decision about one request.

use std::net::IpAddr;
use std::sync::Arc;

use http::Method;
use ringfence_core::Secret;
use ringfence_core::grant::{HttpRefusal, HttpRule, HttpTarget, RuleSet};
use url::Host;

use crate::address::AddressGrants;
use crate::credential::Placement;
use crate::error::EgressError;
use crate::oauth::TokenSource;
use crate::resolve::Lookups;
use crate::scan::{Scanner, ScannerError};
use crate::target::Target;

/// What one tool may reach.
#[derive(Clone)]
pub struct Access {
    /// Each has to let a request pass: what is asked for, and what of it is granted. None of what the operator asks.
    rules: Vec<RuleSet>,
    addresses: AddressGrants,
    credentials: Vec<BoundCredential>,
    lacking: Vec<LackingCredential>,
    scanner: Scanner,
    lookups: Lookups,
}

/// A credential that nobody gave a value, and without which the requests that it is for are not sent.
#[derive(Clone, Debug)]
pub struct LackingCredential {
    /// What the package calls it.
    pub name: String,
    /// What the operator can do about it.
    pub remedy: String,
    /// The requests that would carry it.
    pub bound_to: RuleSet,
}

/// A credential and the requests it is for.
#[derive(Clone, Debug)]
pub struct BoundCredential {
    /// What the operator calls it.
    pub name: String,
    /// Its value.
    pub value: CredentialValue,
    /// Where it goes in a request.
    pub placement: Placement,
    /// The requests that carry it, by scheme, host, port, path and method: those that each of these sets names. They let no
    /// request pass; the rules do.
    pub bound_to: Vec<RuleSet>,
}

/// What is placed.
#[derive(Clone, Debug)]
pub enum CredentialValue {
    /// A secret as it is.
    Fixed(Secret),
    /// An access token, obtained and renewed when it is needed.
    Token(Arc<TokenSource>),
}

impl BoundCredential {
    fn is_for(&self, target: &HttpTarget, method: &Method) -> bool {
        !self.bound_to.is_empty() && self.bound_to.iter().all(|set| set.decide(target, method.as_str()).is_ok())
    }
}

/// A request that may be sent.
#[derive(Clone, Debug)]
pub struct Decision<'a> {
    /// The rules that let it pass, one of each set, with their places from 0.
    pub rules: Vec<(usize, &'a HttpRule)>,
    /// The credentials that it will carry.
    pub credentials: Vec<&'a BoundCredential>,
}

/// A request that one of the rule sets refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denied {
    /// The places of the rules by which the sets before let it pass; the set that refuses is the next one.
    pub passed: Vec<usize>,
    /// What that set says.
    pub refusal: Box<HttpRefusal>,
}

impl Access {
    /// What `rules` let pass, to public addresses and those in `addresses`, with `credentials`. What `scanner` looks for,
    /// the values of the credentials among it, is kept out of what guests send and receive.
    pub fn new(rules: RuleSet, addresses: AddressGrants, credentials: Vec<BoundCredential>, scanner: Scanner) -> Self {
        let lookups = Lookups::default();
        Self { rules: vec![rules], addresses, credentials, lacking: Vec::new(), scanner, lookups }
    }

    /// What the operator asks for himself, such as a download: no rules, but addresses are checked all the same, and
    /// `credentials` go where they are bound and nowhere else.
    ///
    /// # Errors
    /// The credentials are too large to search for.
    pub fn of_operator(addresses: AddressGrants, credentials: Vec<BoundCredential>) -> Result<Self, ScannerError> {
        let fixed = credentials.iter().filter_map(|credential| match &credential.value {
            CredentialValue::Fixed(secret) => Some((credential.name.clone(), secret.clone())),
            CredentialValue::Token(_) => None,
        });
        let scanner = Scanner::new(&fixed.collect::<Vec<_>>())?;
        Ok(Self { rules: Vec::new(), ..Self::new(RuleSet::default(), addresses, credentials, scanner) })
    }

    /// The same, as far as `rules` let it pass as well.
    #[must_use]
    pub fn within(mut self, rules: RuleSet) -> Self {
        self.rules.push(rules);
        self
    }

    /// The same, without the requests that these credentials are for.
    #[must_use]
    pub fn lacking(mut self, credentials: Vec<LackingCredential>) -> Self {
        self.lacking = credentials;
        self
    }

    /// The addresses that are granted.
    pub(crate) fn addresses(&self) -> &AddressGrants {
        &self.addresses
    }

    /// The names that are being looked up for it.
    pub(crate) fn lookups(&self) -> &Lookups {
        &self.lookups
    }

    /// What looks for the secrets.
    pub(crate) fn scanner(&self) -> &Scanner {
        &self.scanner
    }

    /// Decides about a request, before any name is resolved. Sends nothing.
    ///
    /// # Errors
    /// [`EgressError::Denied`], [`EgressError::Lacking`] and [`EgressError::Address`].
    pub fn decide(&self, target: &Target, method: &Method) -> Result<Decision<'_>, EgressError> {
        let seen = target.seen();
        let rules = self.pass(seen, method).map_err(EgressError::Denied)?;
        if let Some(lacking) = self.lacking.iter().find(|l| l.bound_to.decide(seen, method.as_str()).is_ok()) {
            let LackingCredential { name, remedy, .. } = lacking.clone();
            return Err(EgressError::Lacking { name, remedy });
        }
        // The client resolves names, and connects to addresses as they stand.
        let literal: Option<IpAddr> = match seen.host() {
            Host::Ipv4(address) => Some((*address).into()),
            Host::Ipv6(address) => Some((*address).into()),
            Host::Domain(_) => None,
        };
        literal.map_or(Ok(()), |address| self.addresses.check(address))?;
        let bound = |credential: &&BoundCredential| credential.is_for(seen, method);
        let credentials = self.credentials.iter().filter(bound).collect();
        Ok(Decision { rules, credentials })
    }

    /// The rule of each set that lets the request pass, with its place.
    fn pass(&self, target: &HttpTarget, method: &Method) -> Result<Vec<(usize, &HttpRule)>, Denied> {
        let mut rules = Vec::with_capacity(self.rules.len());
        for set in &self.rules {
            match set.decide(target, method.as_str()) {
                Ok(place) => rules.push((place, &set.rules()[place])),
                Err(refusal) => {
                    let passed = rules.iter().map(|(place, _)| *place).collect();
                    return Err(Denied { passed, refusal });
                }
            }
        }
        Ok(rules)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringfence_core::grant::Methods;

    #[test]
    fn the_operator_needs_no_rule_and_passes_no_address_check() {
        let here = HttpRule::new("https://a.example/**".parse().unwrap(), Methods::All);
        let credential = BoundCredential {
            name: "login".into(),
            value: CredentialValue::Fixed(Secret::new("correct horse".into())),
            placement: Placement::Bearer,
            bound_to: vec![RuleSet::new(vec![here])],
        };
        let access = Access::of_operator(AddressGrants::default(), vec![credential]).unwrap();
        let credentials = |url: &str| {
            let target = Target::parse(url).unwrap();
            access.decide(&target, &Method::PUT).map(|decision| decision.credentials.len())
        };
        assert_eq!((credentials("https://a.example/x").unwrap(), credentials("https://b.example/x").unwrap()), (1, 0));
        assert!(matches!(credentials("https://127.0.0.1/x"), Err(EgressError::Address(_))));
    }
}
