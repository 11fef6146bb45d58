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
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tower_service::Service;

use crate::address::{AddressGrants, AddressRefused};
use crate::hosts::FixedHosts;

/// Look-ups at once. Each holds a thread until the system answers, even when nobody waits for it any more.
const MAX_LOOKUPS: usize = 64;

/// Of them, those of one source at once, so that names which nobody answers for leave places to others.
const MAX_OF_ONE: usize = 8;

/// The look-ups of one source: what one tool reaches, or one client of a token endpoint.
#[derive(Clone)]
pub(crate) struct Lookups(Arc<Semaphore>);

/// A place for one look-up. Whoever is busy with it longer than anybody waits for it keeps the place as long.
pub struct LookupPlace {
    _place: OwnedSemaphorePermit,
}

impl Default for Lookups {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MAX_OF_ONE)))
    }
}

impl Lookups {
    async fn place(&self) -> io::Result<LookupPlace> {
        let place = Arc::clone(&self.0).acquire_owned().await.map_err(io::Error::other)?;
        Ok(LookupPlace { _place: place })
    }
}

/// Says which addresses a name has.
#[async_trait]
pub trait Resolver: Send + Sync {
    /// All addresses of `name`. `place` is given back when nobody is busy with it any more.
    ///
    /// # Errors
    /// When the name has none, or nobody can be asked.
    async fn resolve(&self, name: &str, place: LookupPlace) -> io::Result<Vec<IpAddr>>;
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
    async fn resolve(&self, name: &str, own: LookupPlace) -> io::Result<Vec<IpAddr>> {
        let place = Arc::clone(&self.lookups).acquire_owned().await.map_err(io::Error::other)?;
        let name = name.to_owned();
        let look_up = move || {
            let _places = (own, place);
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

/// The resolver of one connection: what it returns is all that is ever connected to.
#[derive(Clone)]
pub(crate) struct CheckedResolver {
    pub(crate) resolver: Arc<dyn Resolver>,
    pub(crate) hosts: Arc<FixedHosts>,
    pub(crate) grants: AddressGrants,
    pub(crate) lookups: Lookups,
}

impl Service<Name> for CheckedResolver {
    type Response = vec::IntoIter<SocketAddr>;
    type Error = ResolveError;
    type Future = BoxFuture<'static, Result<Self::Response, ResolveError>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), ResolveError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let Self { resolver, hosts, grants, lookups } = self.clone();
        let resolve = async move {
            let found = match hosts.get(name.as_str()) {
                Some(address) => vec![address],
                None => look_up(&*resolver, name.as_str(), &lookups).await?,
            };
            check(&found, &grants, name.as_str())?;
            Ok(found.into_iter())
        };
        resolve.boxed()
    }
}

async fn look_up(resolver: &dyn Resolver, name: &str, lookups: &Lookups) -> Result<Vec<SocketAddr>, ResolveError> {
    let own = || name.to_owned();
    let found = async { resolver.resolve(name, lookups.place().await?).await };
    let found = found.await.map_err(|source| ResolveError::Lookup { name: own(), source })?;
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
    use std::sync::Mutex;

    use super::*;

    #[tokio::test]
    async fn that_a_name_is_not_known_is_said_once() {
        // Nobody ever has such a name (RFC 6761), and without a network nobody can be asked.
        let place = Lookups::default().place().await.unwrap();
        let error = SystemResolver::default().resolve("nobody.invalid", place).await.unwrap_err().to_string();
        assert!(!error.is_empty() && !error.contains("lookup"), "{error}");
    }

    /// Goes on with names below `slow.test` for ever, as the system does when nobody waits any more, and answers all others.
    #[derive(Default)]
    struct Slow(Mutex<Vec<LookupPlace>>);

    #[async_trait]
    impl Resolver for Slow {
        async fn resolve(&self, name: &str, place: LookupPlace) -> io::Result<Vec<IpAddr>> {
            if name.ends_with("slow.test") {
                self.0.lock().unwrap().push(place);
                return std::future::pending().await;
            }
            Ok(vec!["192.0.2.1".parse().unwrap()])
        }
    }

    #[tokio::test]
    async fn names_that_nobody_answers_for_keep_no_other_source_from_its_own() {
        let slow = Arc::<Slow>::default();
        let (hostile, honest) = (Lookups::default(), Lookups::default());
        for i in 0..3 * MAX_LOOKUPS {
            // Given up at once; the look-up goes on.
            assert!(look_up(&*slow, &format!("a{i}.slow.test"), &hostile).now_or_never().is_none());
        }
        assert_eq!(slow.0.lock().unwrap().len(), MAX_OF_ONE);
        assert!(look_up(&*slow, "a.test", &hostile).now_or_never().is_none(), "it has used up its places");
        assert!(look_up(&*slow, "a.test", &honest).now_or_never().is_some_and(|found| found.is_ok()));
        slow.0.lock().unwrap().pop();
        assert!(look_up(&*slow, "a.test", &hostile).now_or_never().is_some_and(|found| found.is_ok()));
    }
}
