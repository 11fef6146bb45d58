//! Names become addresses, and every address is checked before anything is connected to.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::vec;

use async_trait::async_trait;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use hyper_util::client::legacy::connect::dns::Name;
use thiserror::Error;
use tokio::sync::Semaphore;
use tower_service::Service;

use crate::address::{AddressGrants, AddressRefused};
use crate::hosts::FixedHosts;

/// Look-ups at once. Each holds a thread until the system answers, even when nobody waits for it any more.
const MAX_LOOKUPS: usize = 64;

/// Says which addresses a name has.
#[async_trait]
pub trait Resolver: Send + Sync {
    /// All addresses of `name`.
    ///
    /// # Errors
    /// When the name has none, or nobody can be asked.
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

/// Asks the operating system.
pub struct SystemResolver {
    lookups: Arc<Semaphore>,
}

impl Default for SystemResolver {
    fn default() -> Self {
        Self { lookups: Arc::new(Semaphore::new(MAX_LOOKUPS)) }
    }
}

#[async_trait]
impl Resolver for SystemResolver {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let place = Arc::clone(&self.lookups).acquire_owned().await.map_err(io::Error::other)?;
        let name = name.to_owned();
        let look_up = move || {
            let _place = place;
            (name.as_str(), 0).to_socket_addrs().map(|found| found.map(|address| address.ip()).collect())
        };
        tokio::task::spawn_blocking(look_up).await.map_err(io::Error::other)?.map_err(reason)
    }
}

/// What the system says about a name, without the words that std puts in front of it: that a name could not be looked up is
/// for [`ResolveError`] to say.
fn reason(error: io::Error) -> io::Error {
    match error.to_string().strip_prefix("failed to lookup address information: ") {
        Some(reason) => io::Error::new(error.kind(), reason.to_owned()),
        None => error,
    }
}

/// Why a name is not connected to.
#[derive(Debug, Error)]
pub enum ResolveError {
    /// Nobody knows it.
    #[error("the name `{name}` could not be resolved")]
    Lookup {
        /// The name.
        name: String,
        /// What the resolver says.
        #[source]
        source: io::Error,
    },
    /// It has no addresses.
    #[error("the name `{0}` has no addresses")]
    Empty(String),
    /// One of its addresses is refused, and with it the name: who mixes them is up to something.
    #[error("the name `{name}` leads to {refused}")]
    Refused {
        /// The name.
        name: String,
        /// The address and its range.
        refused: AddressRefused,
    },
}

impl ResolveError {
    /// The same error once more: the connector keeps its own.
    pub(crate) fn again(&self) -> Self {
        match self {
            Self::Lookup { name, source } => {
                Self::Lookup { name: name.clone(), source: io::Error::new(source.kind(), source.to_string()) }
            }
            Self::Empty(name) => Self::Empty(name.clone()),
            Self::Refused { name, refused } => Self::Refused { name: name.clone(), refused: refused.clone() },
        }
    }
}

/// The resolver of one client: what it returns is all that is ever connected to.
#[derive(Clone)]
pub(crate) struct CheckedResolver {
    pub(crate) resolver: Arc<dyn Resolver>,
    pub(crate) hosts: Arc<FixedHosts>,
    pub(crate) grants: AddressGrants,
}

impl Service<Name> for CheckedResolver {
    type Response = vec::IntoIter<SocketAddr>;
    type Error = ResolveError;
    type Future = BoxFuture<'static, Result<Self::Response, ResolveError>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), ResolveError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let Self { resolver, hosts, grants } = self.clone();
        let resolve = async move {
            let found = match hosts.get(name.as_str()) {
                Some(address) => vec![address],
                None => look_up(&*resolver, name.as_str()).await?,
            };
            check(&found, &grants, name.as_str())?;
            Ok(found.into_iter())
        };
        resolve.boxed()
    }
}

async fn look_up(resolver: &dyn Resolver, name: &str) -> Result<Vec<SocketAddr>, ResolveError> {
    let own = || name.to_owned();
    let found = resolver.resolve(name).await.map_err(|source| ResolveError::Lookup { name: own(), source })?;
    if found.is_empty() {
        return Err(ResolveError::Empty(own()));
    }
    // The port is the URL's.
    Ok(found.into_iter().map(|address| SocketAddr::new(address, 0)).collect())
}

fn check(found: &[SocketAddr], grants: &AddressGrants, name: &str) -> Result<(), ResolveError> {
    let refused = |refused| ResolveError::Refused { name: name.to_owned(), refused };
    found.iter().try_for_each(|address| grants.check(address.ip())).map_err(refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn that_a_name_is_not_known_is_said_once() {
        // Nobody ever has such a name (RFC 6761), and without a network nobody can be asked.
        let error = SystemResolver::default().resolve("nobody.invalid").await.unwrap_err().to_string();
        assert!(!error.is_empty() && !error.contains("lookup"), "{error}");
    }
}
