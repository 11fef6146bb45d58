//! The HTTP clients: how connections are made, and who shares them.

mod connection;
mod idle;
mod message;

use std::collections::VecDeque;
use std::error::Error as StdError;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::Uri;
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::connect::HttpConnector;
use ringfence_core::finish::current::CurrentScrubber;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use thiserror::Error;
use tower_service::Service as _;

pub(crate) use self::connection::Arriving;
use self::connection::{Connection, Failed};
use self::idle::{Home, IdleConnections};
pub(crate) use self::message::{Answer, Message};
use crate::address::AddressGrants;
use crate::hosts::FixedHosts;
use crate::resolve::{CheckedResolver, Lookups, Resolver, SystemResolver};

/// Clients that are kept, one for each set of granted addresses. Few hosts have more than a handful of sets.
const MAX_CLIENTS: usize = 32;

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

/// Why a client has no answer. It knows no URL, since a credential may be in one.
#[derive(Debug, Error)]
pub enum ClientError {
    /// What the URL names cannot be written into a request.
    #[error("the URL cannot be sent")]
    Url(#[from] http::Error),
    /// No connection in time.
    #[error("there was no connection after {} ms", .0.as_millis())]
    Slow(Duration),
    /// No connection.
    #[error(transparent)]
    Connect(Box<dyn StdError + Send + Sync>),
    /// The connection broke, or what came over it was not HTTP.
    #[error(transparent)]
    Exchange(#[from] hyper::Error),
}

/// The clients. Connections are kept and shared inside one, so there is one for each set of granted addresses: a tool
/// must not get a connection to an address that only another tool may reach.
pub(crate) struct Clients {
    resolver: Arc<dyn Resolver>,
    hosts: Arc<FixedHosts>,
    tls: Arc<ClientConfig>,
    connect_timeout: Duration,
    /// The one used last stands last.
    kept: Mutex<VecDeque<(AddressGrants, Client)>>,
}

impl Clients {
    pub(crate) fn new(settings: Settings) -> Result<Self, SettingsError> {
        let tls = Arc::new(tls(&settings.authorities)?);
        let Settings { resolver, hosts, connect_timeout, .. } = settings;
        Ok(Self { resolver, hosts: Arc::new(hosts), tls, connect_timeout, kept: Mutex::default() })
    }

    /// The client of all tools with these `grants`.
    pub(crate) fn get(&self, grants: &AddressGrants) -> Client {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let place = kept.iter().position(|(own, _)| own == grants);
        let (grants, client) = match place.and_then(|place| kept.remove(place)) {
            Some(found) => found,
            None => (grants.clone(), self.build(grants)),
        };
        if kept.len() == MAX_CLIENTS {
            kept.pop_front();
        }
        kept.push_back((grants, client.clone()));
        client
    }

    fn build(&self, grants: &AddressGrants) -> Client {
        Client {
            resolver: Arc::clone(&self.resolver),
            hosts: Arc::clone(&self.hosts),
            grants: grants.clone(),
            tls: Arc::clone(&self.tls),
            connect_timeout: self.connect_timeout,
            idle: Arc::default(),
        }
    }
}

/// Speaks HTTP/1.1, where a connection serves one request at a time, so that dropping a response ends it at the server.
///
/// It uses no proxy: that would resolve names itself, and no address would be checked. It follows no redirect and asks
/// nothing twice: every redirect is a new decision, every request is counted.
#[derive(Clone)]
pub(crate) struct Client {
    resolver: Arc<dyn Resolver>,
    hosts: Arc<FixedHosts>,
    grants: AddressGrants,
    tls: Arc<ClientConfig>,
    connect_timeout: Duration,
    idle: Arc<IdleConnections>,
}

impl Client {
    /// Sends `message` and waits for the head of the answer. Who waits less than others for a connection says so by
    /// `patience`. A name that has to be looked up is one of `lookups`.
    pub(crate) async fn exchange(
        &self,
        message: Message,
        patience: Option<Duration>,
        lookups: &Lookups,
    ) -> Result<Answer, ClientError> {
        let Message { origin, mut request } = message;
        let home = Home::new(&self.idle, origin);
        while let Some(connection) = home.take() {
            match connection.exchange(request, &home).await {
                // The server has closed it meanwhile.
                Err(Failed { unsent: Some(unsent), .. }) => request = unsent,
                answer => return Ok(answer?),
            }
        }
        let connection = self.connect(home.origin(), patience, lookups).await?;
        Ok(connection.exchange(request, &home).await?)
    }

    async fn connect(
        &self,
        origin: &str,
        patience: Option<Duration>,
        lookups: &Lookups,
    ) -> Result<Connection, ClientError> {
        let origin = Uri::try_from(origin).map_err(http::Error::from)?;
        let patience = patience.map_or(self.connect_timeout, |patience| patience.min(self.connect_timeout));
        // A new connector is always ready.
        let connecting = self.connector(lookups).call(origin);
        let stream = tokio::time::timeout(patience, connecting).await;
        let stream = stream.map_err(|_| ClientError::Slow(patience))?.map_err(ClientError::Connect)?;
        Ok(Connection::new(stream).await?)
    }

    fn connector(&self, lookups: &Lookups) -> HttpsConnector<HttpConnector<CheckedResolver>> {
        let (resolver, hosts) = (Arc::clone(&self.resolver), Arc::clone(&self.hosts));
        let (grants, lookups) = (self.grants.clone(), lookups.clone());
        let mut tcp = HttpConnector::new_with_resolver(CheckedResolver { resolver, hosts, grants, lookups });
        tcp.enforce_http(false);
        // A request is written whole; waiting for more of it would only make it late.
        tcp.set_nodelay(true);
        HttpsConnector::from((tcp, Arc::clone(&self.tls)))
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

    #[test]
    fn few_clients_are_kept_and_those_used_last() {
        let clients = Clients::new(Settings::default()).unwrap();
        let grants = |i: u8| AddressGrants::new([format!("10.0.0.{i}/32").parse().unwrap()]);
        for i in 0..=u8::try_from(MAX_CLIENTS).unwrap() {
            clients.get(&grants(i));
            clients.get(&grants(0));
        }
        let kept = clients.kept.lock().unwrap();
        assert_eq!(kept.len(), MAX_CLIENTS);
        assert!(kept.iter().any(|(own, _)| *own == grants(0)) && !kept.iter().any(|(own, _)| *own == grants(1)));
    }
}
