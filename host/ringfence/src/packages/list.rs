//! What is installed, as listings show it.

use ringfence_core::ToolId;
use ringfence_core::limit::LimitSet;
use ringfence_core::tool::ToolSpec;
use ringfence_package::Installed;

use super::{Packages, refused};
use crate::request::{ErrorKind, PackageEntry, RequestError};

impl Packages {
    /// What is installed. Every component is read and proven for that, so that none is called ready that is not.
    pub(super) async fn list(&self) -> Result<Vec<PackageEntry>, RequestError> {
        let inventory = self.installer.inventory().map_err(refused)?;
        let installer = self.installer.clone();
        let proven = tokio::task::spawn_blocking(move || {
            let is_current =
                |one: &Installed| installer.installed(one.source()).is_ok_and(|now| now.as_ref() == Some(one));
            let proof = |installed: &Installed| {
                // What was replaced or removed meanwhile was not altered.
                let error = installer.load(installed).err().filter(|_| is_current(installed));
                error.map(|error| error.to_string())
            };
            let proofs: Vec<_> = inventory.installed.iter().map(proof).collect();
            (inventory, proofs)
        });
        let (inventory, proofs) = proven.await.map_err(|error| RequestError::new(ErrorKind::Failed, "list", &error))?;
        let mut entries: Vec<_> = inventory.installed.iter().map(|installed| self.entry(installed)).collect();
        for (entry, proof) in entries.iter_mut().zip(proofs) {
            entry.stopped = entry.stopped.take().or(proof);
        }
        entries.extend(inventory.broken.iter().map(|broken| PackageEntry {
            source: broken.source.to_string(),
            version: String::new(),
            publisher: String::new(),
            description: String::new(),
            location: None,
            key_id: None,
            digest: String::new(),
            tools: Vec::new(),
            effects_accepted: false,
            requested: LimitSet::default(),
            stopped: Some(broken.error.to_string()),
        }));
        Ok(entries)
    }

    /// The wire names of the tools that are called `name` in packages that do not run.
    pub(crate) fn stopped_tools(&self, name: &str) -> Vec<String> {
        let stopped = self.registry.stopped_sources();
        let packages = stopped.iter().filter_map(|source| self.installer.installed(source).ok()?);
        let tools = |package: Installed| {
            let called = package.manifest().tools.iter().filter(|spec| spec.name == name);
            called.map(|spec| wire_name(&package, spec)).collect::<Vec<_>>()
        };
        packages.flat_map(tools).collect()
    }

    pub(super) fn entry(&self, installed: &Installed) -> PackageEntry {
        let package = &installed.manifest().package;
        PackageEntry {
            source: installed.source().to_string(),
            version: package.version.to_string(),
            publisher: installed.publisher().to_owned(),
            description: package.description.clone(),
            location: installed.location().map(str::to_owned),
            key_id: installed.key_id().map(str::to_owned),
            digest: installed.digest().to_string(),
            tools: installed.manifest().tools.iter().map(|spec| wire_name(installed, spec)).collect(),
            effects_accepted: installed.effects_accepted(),
            requested: package.limits.clone(),
            stopped: self.registry.stopped(installed.source().as_str()),
        }
    }
}

fn wire_name(installed: &Installed, spec: &ToolSpec) -> String {
    let id = ToolId::new(installed.source().as_str(), &spec.name);
    id.map_or_else(|_| spec.name.clone(), |id| id.wire_name())
}
