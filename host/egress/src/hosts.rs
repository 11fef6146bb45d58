//! Names that lead to a fixed address, whatever the resolver says.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use ringfence_core::grant::normal_host;
use schemars::JsonSchema;
use serde::Deserialize;
use thiserror::Error;
use url::Host;

/// Names and where they lead, whatever the resolver says: to a stand-in for a service, or to a machine whose name only
/// this host knows. Written as `{ "api.example.org" = "10.0.0.5:8443" }`.
///
/// It grants nothing. The name needs its rule, the address is checked like one that the resolver gave, and the server
/// needs a certificate for the name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "BTreeMap<String, String>")]
pub struct FixedHosts(BTreeMap<String, SocketAddr>);

/// Why a name cannot lead somewhere.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FixedHostError {
    /// Not one name.
    #[error("{0:?} is no name of a host: write one such as \"api.example.org\", without scheme, port or wildcard")]
    Name(String),
    /// Not one address.
    #[error(
        "`{name}` cannot lead to {address:?}: write an address such as \"10.0.0.5\", or with a port \"10.0.0.5:8443\""
    )]
    Address {
        /// The name.
        name: String,
        /// What stands behind it.
        address: String,
    },
    /// Two spellings of one name.
    #[error("`{0}` stands there twice, in two spellings: leave one")]
    Twice(String),
}

impl FixedHosts {
    /// Where `name` leads, if that is fixed. Port 0 means that of the URL. Another one stands in the place of the
    /// scheme's own; a port that the URL names itself remains.
    pub(crate) fn get(&self, name: &str) -> Option<SocketAddr> {
        self.0.get(name).copied()
    }
}

impl TryFrom<BTreeMap<String, String>> for FixedHosts {
    type Error = FixedHostError;

    fn try_from(hosts: BTreeMap<String, String>) -> Result<Self, FixedHostError> {
        let mut fixed = BTreeMap::new();
        for (name, address) in hosts {
            let leads_to = parse_address(&address);
            let Some(Host::Domain(host)) = normal_host(&name).filter(|_| !name.contains('*')) else {
                return Err(FixedHostError::Name(name));
            };
            let leads_to = leads_to.ok_or_else(|| FixedHostError::Address { name: name.clone(), address })?;
            if fixed.insert(host, leads_to).is_some() {
                return Err(FixedHostError::Twice(name));
            }
        }
        Ok(Self(fixed))
    }
}

/// An address, with or without a port.
fn parse_address(text: &str) -> Option<SocketAddr> {
    match text.parse::<IpAddr>() {
        Ok(address) => Some(SocketAddr::new(address, 0)),
        Err(_) => text.parse().ok().filter(|address: &SocketAddr| address.port() != 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixed(hosts: &[(&str, &str)]) -> Result<FixedHosts, FixedHostError> {
        let owned = hosts.iter().map(|(name, address)| ((*name).to_owned(), (*address).to_owned()));
        owned.collect::<BTreeMap<_, _>>().try_into()
    }

    #[test]
    fn a_name_leads_to_an_address_in_any_spelling() {
        for (name, address, leads_to) in [
            ("a.test", "10.0.0.5", "10.0.0.5:0"),
            ("A.Test.", "10.0.0.5:8443", "10.0.0.5:8443"),
            ("a.test", "::1", "[::1]:0"),
            ("a.test", "[::1]:8443", "[::1]:8443"),
        ] {
            let hosts = fixed(&[(name, address)]).unwrap();
            assert_eq!(
                hosts.get("a.test").map(|found| found.to_string()).as_deref(),
                Some(leads_to),
                "{name} {address}"
            );
            assert_eq!(hosts.get("sub.a.test"), None);
        }
    }

    #[test]
    fn what_leads_nowhere_is_named() {
        for name in ["", "*.a.test", "https://a.test", "a.test:443", "a..test", "10.0.0.1", "[::1]"] {
            assert_eq!(fixed(&[(name, "10.0.0.5")]), Err(FixedHostError::Name(name.into())));
        }
        for address in ["", "b.test", "10.0.0.5:0", "10.0.0.5:65536", "10.0.0.0/8", "::1:"] {
            let error = fixed(&[("a.test", address)]).unwrap_err();
            assert_eq!(error, FixedHostError::Address { name: "a.test".into(), address: address.into() });
        }
        assert_eq!(fixed(&[("a.test", "::1"), ("A.test", "::1")]), Err(FixedHostError::Twice("a.test".into())));
    }
}
