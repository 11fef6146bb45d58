//! What is installed: listing, loading and removing it.

use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::PathBuf;

use ringfence_core::name::nearest;
use ringfence_core::{Origin, SourceName};
use ringfence_store::{Digest, InstalledRow, Signed};

use crate::component;
use crate::error::PackageError;
use crate::install::Installer;
use crate::manifest::Manifest;
use crate::package_file::read_at_most;
use crate::section;
use crate::signature::Signature;
use crate::trust::TrustStore;

/// An installed package, as it is recorded. Nothing of its file was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Installed {
    row: InstalledRow,
    manifest: Manifest,
}

/// Everything that is recorded.
#[derive(Debug)]
pub struct Inventory {
    /// What can be used, by name.
    pub installed: Vec<Installed>,
    /// What cannot, with the reason. It can only be removed or installed again.
    pub broken: Vec<Broken>,
}

/// A package whose record cannot be used.
#[derive(Debug)]
pub struct Broken {
    /// The name that it was installed under.
    pub source: SourceName,
    /// Why it cannot be used.
    pub error: PackageError,
}

impl Installed {
    /// The name that it was installed under.
    pub fn source(&self) -> &SourceName {
        &self.row.source
    }

    /// Its manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// SHA-256 of the component.
    pub fn digest(&self) -> &Digest {
        &self.row.digest
    }

    /// Who made it: as the trust store calls the owner of the key, or, when it is unsigned, as its manifest claims.
    pub fn publisher(&self) -> &str {
        &self.row.publisher
    }

    /// Id of the key that signed it; `None` marks an unsigned package.
    pub fn key_id(&self) -> Option<&str> {
        self.row.signed.as_ref().map(|signed| signed.key_id.as_str())
    }

    /// Whose it is: the id of the key that signed it, or `unsigned/` and whom its manifest names.
    pub fn signer(&self) -> String {
        self.key_id().map_or_else(|| format!("unsigned/{}", self.publisher()), str::to_owned)
    }

    /// Whether the operator believes what its tools say of their effects.
    pub fn effects_accepted(&self) -> bool {
        self.row.effects_accepted
    }

    /// When it was installed, in milliseconds since the Unix epoch.
    pub fn installed_at(&self) -> u64 {
        self.row.installed_at
    }

    /// Where it came from; `None` where that is not known.
    pub fn location(&self) -> Option<&str> {
        self.row.location.as_deref()
    }

    /// How listings and audit mark its tools.
    pub fn origin(&self) -> Origin {
        Origin::Installed {
            digest: self.row.digest.to_string(),
            version: self.row.version.to_string(),
            key_id: self.key_id().map(str::to_owned),
        }
    }

    pub(crate) fn new(row: InstalledRow, manifest: Manifest) -> Self {
        Self { row, manifest }
    }

    fn from_row(row: InstalledRow) -> Result<Self, PackageError> {
        let manifest = Manifest::parse(row.manifest.as_bytes())?;
        Ok(Self { row, manifest })
    }
}

impl Installer {
    /// Everything that is installed. No guest code runs, and no component is read.
    ///
    /// # Errors
    /// When the records cannot be read at all. A record that cannot be used is [`Inventory::broken`].
    pub fn inventory(&self) -> Result<Inventory, PackageError> {
        let mut inventory = Inventory { installed: Vec::new(), broken: Vec::new() };
        for row in self.store().database().installed()? {
            let source = row.source.clone();
            match Installed::from_row(row) {
                Ok(installed) => inventory.installed.push(installed),
                Err(error) => inventory.broken.push(Broken { source, error }),
            }
        }
        Ok(inventory)
    }

    /// What is installed as `source`; `None` when nothing is.
    ///
    /// # Errors
    /// When its record cannot be used.
    pub fn installed(&self, source: &SourceName) -> Result<Option<Installed>, PackageError> {
        let row = self.store().database().installed_as(source)?;
        row.map(Installed::from_row).transpose()
    }

    /// Whether `installed` may run now: its key is trusted for it, and was not revoked since. Reads no file.
    ///
    /// # Errors
    /// Why it may not.
    pub fn runnable(&self, installed: &Installed) -> Result<(), PackageError> {
        if let Some(Signed { key_id, .. }) = &installed.row.signed {
            TrustStore::new(self.store().database()).key(key_id.parse()?)?.may_sign(installed.source())?;
        }
        Ok(())
    }

    /// The component of `installed`, proven to be the one that was installed: digest, signature and manifest are
    /// checked again, and that its key still counts.
    ///
    /// # Errors
    /// [`PackageError::Altered`] when the file is not what was installed; that of [`runnable`](Self::runnable).
    pub fn load(&self, installed: &Installed) -> Result<Vec<u8>, PackageError> {
        self.runnable(installed)?;
        let altered = |what| PackageError::Altered { source_name: installed.source().clone(), what };
        let bytes = match read_at_most(&self.component_path(installed.digest()), component::MAX_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(altered("its file is gone")),
            Err(error) => return Err(error.into()),
        };
        if Digest::of(&bytes) != *installed.digest() {
            return Err(altered("its file is not the one that was installed"));
        }
        if let Some(signed) = &installed.row.signed {
            let signer = self.verify(&bytes, &Signature::parse(signed.signature.as_bytes())?)?;
            if signer.key.id().to_string() != signed.key_id {
                return Err(altered("it is recorded for another key than the one that signed it"));
            }
        }
        if section::find(&bytes)? != Some(installed.row.manifest.as_bytes()) {
            return Err(altered("its recorded manifest is not the one in its file"));
        }
        Ok(bytes)
    }

    /// Removes what is installed as `source`. Its highest version and its signer stay remembered.
    ///
    /// # Errors
    /// [`PackageError::NotInstalled`], which names the nearest name that is.
    pub fn remove(&self, source: &SourceName) -> Result<(), PackageError> {
        let _one_at_a_time = self.change();
        if !self.store().database().remove_installed(source)? {
            return Err(self.not_installed(source)?);
        }
        self.sweep_or_warn();
        Ok(())
    }

    /// Removes files that no record speaks of. That they are still there harms nobody, so it fails nothing.
    pub(crate) fn sweep_or_warn(&self) {
        if let Err(error) = self.sweep() {
            tracing::warn!(%error, "files that are not needed any more are left for the next start");
        }
    }

    /// Removes files that no record speaks of: what a kill or a removal left.
    pub(crate) fn sweep(&self) -> Result<(), PackageError> {
        let rows = self.store().database().installed()?;
        let digests: HashSet<Digest> = rows.into_iter().map(|row| row.digest).collect();
        for entry in fs_err::read_dir(self.store().folder().tools())? {
            let path = entry?.path();
            let digest = path.file_stem().and_then(|stem| stem.to_str()).and_then(|stem| stem.parse().ok());
            if digest.is_some_and(|digest: Digest| !digests.contains(&digest)) {
                fs_err::remove_file(&path)?;
            }
        }
        self.compiled().sweep(|component| digests.contains(component))
    }

    /// Where the component with this digest is.
    pub(crate) fn component_path(&self, digest: &Digest) -> PathBuf {
        self.store().folder().tools().join(format!("{digest}.wasm"))
    }

    /// The error of who asks for `source`, which is not installed; it names the nearest that is.
    ///
    /// # Errors
    /// When the records cannot be read.
    pub fn not_installed(&self, source: &SourceName) -> Result<PackageError, PackageError> {
        let rows = self.store().database().installed()?;
        let near = nearest(source.as_str(), rows.iter().map(|row| row.source.as_str()), 1).pop();
        let hint =
            near.map_or_else(|| ": `ringfence list` shows what is".into(), |near| format!(": did you mean `{near}`?"));
        Ok(PackageError::NotInstalled { source_name: source.clone(), hint })
    }
}
