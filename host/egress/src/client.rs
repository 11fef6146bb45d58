//! The HTTP clients: how connections are made, and who shares them.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::Client;
use reqwest::redirect::Policy;
use ringfence_core::finish::current::CurrentScrubber;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use thiserror::Error;

use crate::address::AddressGrants;
use crate::hosts::FixedHosts;
use crate::resolve::{CheckedResolver, Resolver, SystemResolver};

/// Clients that are kept, one for each set of granted addresses. Few hosts have more than a handful of sets.
const MAX_CLIENTS: usize = 32;

/// Idle connections that are kept for each host and client.
const MAX_IDLE: usize = 8;

/// How long an idle connection is kept. Most servers close theirs after 60 to 120 s.
const IDLE: Duration = Duration::from_secs(60);

/// The most headers of a response; the largest of real ones have some 60.
const MAX_HEADERS: usize = 128;

/// What differs from host to host.
pub struct Settings {
    /// Who resolves names.
    pub resolver: Arc<dyn Resolver>,
    /// Names for which the resolver is not asked.
    pub hosts: FixedHosts,
    /// Certificates in PEM of authorities that are trusted besides Mozilla's.
    pub authorities: Vec<u8>,
    /// The longest time for a connection, TLS included. The time for the request holds as well.
    pub connect_timeout: Duration,
    /// Keeps tokens that the host obtains out of results; the door tells it of each.
    pub scrubber: Arc<CurrentScrubber>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            resolver: Arc::new(SystemResolver::default()),
            hosts: FixedHosts::default(),
            authorities: Vec::new(),
            connect_timeout: Duration::from_secs(10),
            scrubber: Arc::default(),
        }
    }
}

/// Why nothing can be sent at all.
#[derive(Debug, Error)]
pub enum SettingsError {
    /// Not PEM.
    #[error("the additional certificate authorities are not PEM: they begin with `-----BEGIN CERTIFICATE-----`")]
    Pem(#[source] rustls::pki_types::pem::Error),
    /// PEM, and no certificate in it.
    #[error("the additional certificate authorities contain no certificate: name a file that does, or none")]
    NoCertificate,
    /// TLS cannot be set up like this.
    #[error("an additional certificate authority cannot be used")]
    Tls(#[from] rustls::Error),
}

/// The clients. Connections are kept and shared inside one, so there is one for each set of granted addresses: a tool
/// must not get a connection to an address that only another tool may reach.
pub(crate) struct Clients {
    resolver: Arc<dyn Resolver>,
    hosts: Arc<FixedHosts>,
    tls: ClientConfig,
    connect_timeout: Duration,
    /// The one used last stands last.
    kept: Mutex<VecDeque<(AddressGrants, Client)>>,
}

impl Clients {
    pub(crate) fn new(settings: Settings) -> Result<Self, SettingsError> {
        let tls = tls(&settings.authorities)?;
        let Settings { resolver, hosts, connect_timeout, .. } = settings;
        Ok(Self { resolver, hosts: Arc::new(hosts), tls, connect_timeout, kept: Mutex::default() })
    }

    /// The client of all tools with these `grants`, for whoever waits `patience` for a connection. One who waits less
    /// than the others gets a client of its own, since a client has one time for that.
    pub(crate) fn get(&self, grants: &AddressGrants, patience: Option<Duration>) -> Result<Client, reqwest::Error> {
        if let Some(patience) = patience.filter(|patience| *patience < self.connect_timeout) {
            return self.build(grants, patience);
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let place = kept.iter().position(|(own, _)| own == grants);
        let (grants, client) = match place.and_then(|place| kept.remove(place)) {
            Some(found) => found,
            None => (grants.clone(), self.build(grants, self.connect_timeout)?),
        };
        if kept.len() == MAX_CLIENTS {
            kept.pop_front();
        }
        kept.push_back((grants, client.clone()));
        Ok(client)
    }

    fn build(&self, grants: &AddressGrants, connect_timeout: Duration) -> Result<Client, reqwest::Error> {
        let (resolver, hosts) = (Arc::clone(&self.resolver), Arc::clone(&self.hosts));
        let resolver = CheckedResolver { resolver, hosts, grants: grants.clone() };
        Client::builder()
            // A proxy resolves names itself: with HTTPS_PROXY set, no address would be checked.
            .no_proxy()
            .dns_resolver(resolver)
            // Every redirect is a new decision, every request is counted: the client does neither by itself.
            .redirect(Policy::none())
            .retry(reqwest::retry::never())
            .referer(false)
            // With HTTP/1.1 a connection serves one request at a time, so dropping a response ends it at the server.
            .http1_only()
            .http1_max_headers(MAX_HEADERS)
            .tls_backend_preconfigured(self.tls.clone())
            .connect_timeout(connect_timeout)
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(MAX_IDLE)
            .user_agent(concat!("ringfence/", env!("CARGO_PKG_VERSION")))
            .build()
    }
}

fn tls(authorities: &[u8]) -> Result<ClientConfig, SettingsError> {
    let mut roots = RootCertStore::from_iter(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    if !authorities.is_empty() {
        let own: Vec<_> =
            CertificateDer::pem_slice_iter(authorities).collect::<Result<_, _>>().map_err(SettingsError::Pem)?;
        if own.is_empty() {
            return Err(SettingsError::NoCertificate);
        }
        own.into_iter().try_for_each(|certificate| roots.add(certificate))?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn authorities_are_certificates_in_pem() {
        let with = |authorities: &[u8]| {
            Clients::new(Settings { authorities: authorities.to_vec(), ..Settings::default() }).map(drop).unwrap_err()
        };
        assert!(matches!(with(b"nonsense"), SettingsError::NoCertificate));
        assert!(matches!(with(b"-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n"), SettingsError::Pem(_)));
        assert!(matches!(
            with(b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
            SettingsError::Tls(_)
        ));
    }

    #[tokio::test]
    async fn few_clients_are_kept_and_those_used_last() {
        let clients = Clients::new(Settings::default()).unwrap();
        let grants = |i: u8| AddressGrants::new([format!("10.0.0.{i}/32").parse().unwrap()]);
        for i in 0..=u8::try_from(MAX_CLIENTS).unwrap() {
            clients.get(&grants(i), None).unwrap();
            clients.get(&grants(0), Some(Duration::MAX)).unwrap();
        }
        let kept = clients.kept.lock().unwrap();
        assert_eq!(kept.len(), MAX_CLIENTS);
        assert!(kept.iter().any(|(own, _)| *own == grants(0)) && !kept.iter().any(|(own, _)| *own == grants(1)));
    }

    #[tokio::test]
    async fn who_waits_less_for_a_connection_takes_no_place() {
        let clients = Clients::new(Settings::default()).unwrap();
        clients.get(&AddressGrants::default(), Some(Duration::from_millis(1))).unwrap();
        assert!(clients.kept.lock().unwrap().is_empty());
    }
}
