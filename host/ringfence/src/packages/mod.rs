//! The installed packages of a running host, and what of them can be called.
//!
//! - [`install`]: how they come and go;
//! - [`list`]: what there is;
//! - [`grants`]: what they ask for and are granted;
//! - [`followed`]: which file of a grant each runs by;
//! - [`trust`]: whose signatures count;
//! - [`code`]: how a component becomes code that runs.

mod code;
mod followed;
mod grants;
mod install;
mod list;
mod trust;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ringfence_core::name::SourceName;
use ringfence_core::registry::Registry;
use ringfence_core::source::ToolSource;
use ringfence_package::{Installed, Installer, PackageError};
use ringfence_source_wasm::{Concurrency, Engine, GuestComponent, WasmSource};
use ringfence_store::Store;
use tokio::sync::mpsc;

use crate::means::{Means, MeansError};
use crate::request::{ErrorKind, Event, PackageRequest, Reply, RequestError};

use code::InstalledCode;
use followed::Followed;

/// What is installed, and how it becomes tools.
pub(crate) struct Packages {
    installer: Arc<Installer>,
    engine: Engine,
    concurrency: Arc<Concurrency>,
    registry: Arc<Registry>,
    means: Arc<Means>,
    /// Held while what runs is changed, so that what was installed or granted last is what runs in the end.
    followed: Mutex<Followed>,
}

impl Packages {
    /// Registers the tools of everything that is installed. A package that may not run is left out, and listed as such.
    pub(crate) fn open(
        store: Arc<Store>,
        engine: Engine,
        concurrency: Arc<Concurrency>,
        registry: Arc<Registry>,
        means: Arc<Means>,
    ) -> Result<Self, PackageError> {
        let installer = Arc::new(Installer::open(store)?);
        let packages = Self { installer, engine, concurrency, registry, means, followed: Mutex::default() };
        let inventory = packages.installer.inventory()?;
        for broken in inventory.broken {
            packages.stop(&broken.source, &broken.error.to_string());
        }
        packages.start_all(&inventory.installed);
        Ok(packages)
    }

    /// What knows the installed packages.
    pub(crate) fn installer(&self) -> &Arc<Installer> {
        &self.installer
    }

    /// Answers a request about packages and keys.
    pub(crate) async fn answer(
        &self,
        request: PackageRequest,
        events: &mpsc::Sender<Event>,
    ) -> Result<Reply, RequestError> {
        match request {
            PackageRequest::Install(request) => self.install(request, events).await,
            PackageRequest::List => self.list().await.map(Reply::Packages),
            PackageRequest::Remove { source } => self.remove(source).map(Reply::Removed),
            PackageRequest::TrustAdd { key, publisher, names } => {
                self.trust(&key, &publisher, names).map(Reply::KeyTrusted)
            }
            PackageRequest::TrustList => self.keys().map(Reply::Keys),
            PackageRequest::TrustRevoke { key_id, reason } => self.revoke(&key_id, &reason).map(Reply::KeyRevoked),
            PackageRequest::TrustRename { key_id, publisher } => self.rename(&key_id, &publisher).map(Reply::Keys),
            PackageRequest::TrustRotate { statement, signature } => {
                self.rotate(&statement, &signature).map(Reply::Keys)
            }
            PackageRequest::Verify { file } => self.verify(&file).map(Reply::Verified),
            PackageRequest::Grant { source, change } => {
                self.grant(&source, &change).map(|entry| Reply::Grants(vec![entry]))
            }
            PackageRequest::GrantRevoke { source } => self.revoke_grant(&source).map(|()| Reply::Done),
            PackageRequest::Grants => {
                self.follow_grants();
                self.grants().map(Reply::Grants)
            }
            PackageRequest::Explain { tool, request } => {
                self.follow_grants();
                self.explain(&tool, &request).map(Reply::Explained)
            }
        }
    }

    /// After a change of trust or of secrets: what may run runs, what may not stops.
    pub(crate) fn restart(&self) -> Result<(), RequestError> {
        for installed in self.installer.inventory().map_err(refused)?.installed {
            self.start(&installed);
        }
        Ok(())
    }

    /// Starts anew whatever runs by another grant than the one that now stands in its file: the operator has edited it.
    /// What is wrong with one stops its source, as at a start.
    pub(crate) fn follow_grants(&self) {
        let mut followed = self.followed();
        for source in followed.outdated(&self.means.grants) {
            match self.installer.installed(&source) {
                Ok(Some(installed)) => {
                    tracing::info!(%source, "its grant was edited: it runs by the new one");
                    self.start_following(&installed, &mut followed);
                }
                Ok(None) => followed.forget(&source),
                Err(error) => {
                    followed.note(&source, &self.means.grants);
                    self.stop(&source, &error.to_string());
                }
            }
        }
    }

    /// Registers the tools of all packages that may run; says of the others why not.
    fn start_all(&self, packages: &[Installed]) {
        let mut followed = self.followed();
        let mut sources = Vec::with_capacity(packages.len());
        for installed in packages {
            followed.note(installed.source(), &self.means.grants);
            match self.installer.runnable(installed) {
                Ok(()) => match self.source(installed) {
                    Ok(source) => sources.push(source),
                    Err(error) => self.stop(installed.source(), &error.to_string()),
                },
                Err(error) => self.stop(installed.source(), &error.to_string()),
            }
        }
        for (source, error) in self.registry.put_all(sources.iter().map(|source| source as &dyn ToolSource)) {
            self.stop(&source, &error.to_string());
        }
    }

    /// Registers the tools of a package, where it may run; else says why not.
    fn start(&self, installed: &Installed) {
        self.start_following(installed, &mut self.followed());
    }

    /// The same, and ends the calls that still have what was granted before.
    fn start_afresh(&self, installed: &Installed) {
        let mut followed = self.followed();
        self.registry.remove(installed.source());
        self.start_following(installed, &mut followed);
    }

    fn start_following(&self, installed: &Installed, followed: &mut Followed) {
        let source = installed.source();
        followed.note(source, &self.means.grants);
        if let Err(error) = self.installer.runnable(installed) {
            return self.stop(source, &error.to_string());
        }
        let started = self.source(installed).map_err(|error| error.to_string());
        if let Err(error) = started.and_then(|tools| self.registry.put(&tools).map_err(|error| error.to_string())) {
            self.stop(source, &error);
        }
    }

    /// Ends what runs as `source`, which is not installed any more.
    fn end(&self, source: &SourceName) {
        let mut followed = self.followed();
        self.registry.remove(source);
        followed.forget(source);
    }

    fn followed(&self) -> MutexGuard<'_, Followed> {
        self.followed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stop(&self, source: &SourceName, reason: &str) {
        tracing::info!(%source, reason, "an installed package does not run");
        self.registry.stop(source, reason);
    }

    fn source(&self, installed: &Installed) -> Result<WasmSource, MeansError> {
        let reach = self.means.reach(installed)?;
        let code = InstalledCode { installer: self.installer.clone(), installed: installed.clone() };
        let manifest = installed.manifest();
        let component = GuestComponent::new(self.engine.clone(), Box::new(code), reach);
        let component = Arc::new(component.of_package(manifest.package.name.clone()));
        Ok(WasmSource::new(
            installed.source().clone(),
            &installed.origin(),
            manifest.tools.clone(),
            &manifest.package.limits,
            installed.effects_accepted(),
            &component,
            &self.concurrency,
        ))
    }

    /// What is installed as `source`.
    pub(crate) fn installed(&self, source: &str) -> Result<Installed, RequestError> {
        let name = SourceName::try_from(source.to_owned());
        let name = name.map_err(|error| RequestError::new(ErrorKind::Usage, "name", &error))?;
        let found = self.installer.installed(&name).map_err(refused)?;
        found.ok_or_else(|| refused(self.installer.not_installed(&name).unwrap_or_else(|error| error)))
    }
}

fn refused(error: PackageError) -> RequestError {
    let kind = match &error {
        PackageError::NotInstalled { .. } => ErrorKind::NotFound,
        PackageError::Io(_) | PackageError::Store(_) => ErrorKind::Failed,
        _ => ErrorKind::Refused,
    };
    RequestError::new(kind, error.code(), &error)
}
