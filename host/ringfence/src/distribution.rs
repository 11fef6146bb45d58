//! Fetching and publishing packages as the configuration allows. This happens in the process of whoever asks, with their
//! logins, and not in the one that runs guests: the owner of the state gets a file.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use ringfence_distribution::{
    Allowance, DistributionError, Fetcher, IndexPlace, Location, Login, Published, Wanted, Watcher, publish,
};
use ringfence_egress::{Egress, Target};
use ringfence_package::{PackageError, PackageFile, signature};
use tempfile::TempDir;

use crate::builder::{BuildError, door};
use crate::config::{Config, DistributionConfig};
use crate::docker_login::{self, DockerLoginError};
use crate::request::{ErrorKind, RequestError};

/// What the operator allows beside the configuration, for one command.
#[derive(Clone, Debug, Default)]
pub(crate) struct Allowed {
    /// Ranges of private addresses.
    pub(crate) addresses: Vec<String>,
    /// Whether the place itself may be asked over plain HTTP.
    pub(crate) plain_http: bool,
}

/// Fetches and publishes.
pub(crate) struct Distribution {
    door: Arc<Egress>,
    settings: DistributionConfig,
    allowed: Allowed,
}

/// A package that was fetched, if need be into a folder of its own, which is removed with this.
pub(crate) struct Staged {
    /// The component. Its signature stands beside it.
    pub(crate) file: PathBuf,
    _folder: Option<TempDir>,
}

impl Distribution {
    /// As `config` and `allowed` say.
    ///
    /// # Errors
    /// When the door to the network cannot be made.
    pub(crate) fn new(config: &Config, allowed: Allowed) -> Result<Self, BuildError> {
        Ok(Self { door: Arc::new(door(config, &Arc::default())?), settings: config.distribution.clone(), allowed })
    }

    /// Fetches the package at `location`; `None` when that is [`Wanted::have`].
    ///
    /// # Errors
    /// Why there is none.
    pub(crate) async fn fetch(
        &self,
        location: &Location,
        wanted: Wanted,
        watcher: Watcher,
    ) -> Result<Option<Staged>, RequestError> {
        let wanted = Wanted { login: login(location).await?, ..wanted };
        let package = self.fetcher(location, watcher)?.fetch(location, &wanted).await.map_err(refused)?;
        let staged = package.map(|package| match location {
            // It is where the owner can read it, with its signature.
            Location::File(path) if wanted.signature.is_none() && wanted.digest.is_none() => {
                Ok(Staged { file: path.clone(), _folder: None })
            }
            _ => stage(&package),
        });
        staged.transpose().map_err(|error| RequestError::new(ErrorKind::Failed, "fetch.io", &error))
    }

    /// Publishes `package`, whose file is called `file`, at `to`.
    ///
    /// # Errors
    /// Why it is not there now.
    pub(crate) async fn publish(
        &self,
        package: &PackageFile,
        file: &str,
        to: &Location,
        watcher: Watcher,
    ) -> Result<Published, RequestError> {
        let login = login(to).await?;
        publish(&self.fetcher(to, watcher)?, package, file, to, login.as_ref()).await.map_err(refused)
    }

    /// The index at `place`.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub(crate) async fn index(
        &self,
        place: &IndexPlace,
        watcher: Watcher,
    ) -> Result<ringfence_distribution::Index, RequestError> {
        let host = match place {
            IndexPlace::Url(target) => Some(host(target)),
            IndexPlace::Folder(_) => None,
        };
        self.fetcher_for(host, watcher)?.index(place).await.map_err(refused)
    }

    fn fetcher(&self, location: &Location, watcher: Watcher) -> Result<Fetcher, RequestError> {
        let host = match location {
            Location::Oci(reference) => Some(reference.registry.clone()),
            Location::Url { target, .. } | Location::Listed { index: IndexPlace::Url(target), .. } => {
                Some(host(target))
            }
            Location::File(_) | Location::Listed { .. } => None,
        };
        self.fetcher_for(host, watcher)
    }

    fn fetcher_for(&self, host: Option<String>, watcher: Watcher) -> Result<Fetcher, RequestError> {
        let ranges = self.settings.addresses.iter().chain(&self.allowed.addresses);
        let plain = self.settings.plain_http.iter().cloned().chain(host.filter(|_| self.allowed.plain_http));
        let allowance = Allowance::new(ranges, plain).map_err(refused)?;
        Ok(Fetcher::new(self.door.clone(), allowance, watcher))
    }
}

fn host(target: &Target) -> String {
    let url = target.url();
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// The login to the registry of `location`, as docker keeps it.
async fn login(location: &Location) -> Result<Option<Login>, RequestError> {
    let Location::Oci(reference) = location else { return Ok(None) };
    let registry = reference.registry.clone();
    let failed = |error: &dyn std::error::Error| RequestError::new(ErrorKind::Failed, "registry.login", error);
    let found = tokio::task::spawn_blocking(move || docker_login::find(&registry)).await;
    found.map_err(|error| failed(&error))?.map_err(|error: DockerLoginError| failed(&error))
}

/// Writes a package where only we can read it.
fn stage(package: &PackageFile) -> std::io::Result<Staged> {
    let private = Permissions::from_mode(0o700);
    let folder = tempfile::Builder::new().prefix("ringfence-").permissions(private).tempdir()?;
    let file = folder.path().join("package.wasm");
    fs_err::write(&file, &package.component)?;
    if let Some(bytes) = &package.signature {
        let name = format!("package.wasm.{}", signature::extension_of(bytes));
        fs_err::write(folder.path().join(name), bytes)?;
    }
    Ok(Staged { file, _folder: Some(folder) })
}

/// What kind of no an error is.
fn refused(error: DistributionError) -> RequestError {
    use DistributionError as E;
    let kind = match &error {
        E::NotFound { .. } | E::NotListed { .. } => ErrorKind::NotFound,
        E::Location(_) | E::Range(_) | E::Meaningless { .. } | E::NoTarget(_) => ErrorKind::Usage,
        E::Project { .. } | E::Folder { .. } => ErrorKind::Usage,
        E::Unreachable { .. } | E::NotTls(_) | E::NotPlain { .. } => ErrorKind::Failed,
        E::Truncated { .. } | E::Status { .. } | E::Io(_) => ErrorKind::Failed,
        E::Package(PackageError::Io(_)) => ErrorKind::Failed,
        _ => ErrorKind::Refused,
    };
    RequestError::new(kind, error.code(), &error)
}
