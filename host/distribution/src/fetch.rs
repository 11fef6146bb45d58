//! Bringing a package from where it is.

use std::path::Path;
use std::sync::Arc;

use ringfence_egress::Egress;
use ringfence_package::{PackageError, PackageFile, reading, signature};
use ringfence_store::Digest;

use crate::client::{Allowance, Client, Watcher};
use crate::download::{self, Signature};
use crate::error::DistributionError;
use crate::index::{self, Index};
use crate::location::{IndexPlace, Location};
use crate::oci::{self, auth::Login};

/// Brings packages from where they are.
pub struct Fetcher {
    pub(crate) client: Client,
}

/// What else is known of a package that is to be fetched.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// SHA-256 of its component.
    pub digest: Option<Digest>,
    /// Where its signature is, when that is not beside it.
    pub signature: Option<Location>,
    /// How to log in, should its registry ask.
    pub login: Option<Login>,
    /// The keys that are trusted, by their ids. A signature by one of them is taken before others.
    pub trusted: Vec<String>,
    /// The component that is there already.
    pub have: Option<Digest>,
}

impl Fetcher {
    /// One that asks through `door`, as far as `allowance` lets it, and tells `watcher` how far it is.
    pub fn new(door: Arc<Egress>, allowance: Allowance, watcher: Watcher) -> Self {
        Self { client: Client { door, allowance, watcher } }
    }

    /// The package at `location`, which nobody has verified yet; `None` when that is [`Wanted::have`].
    ///
    /// # Errors
    /// [`DistributionError`]: not there, too large, broken off, or other bytes than a digest says.
    pub async fn fetch(&self, location: &Location, wanted: &Wanted) -> Result<Option<PackageFile>, DistributionError> {
        let found = match location {
            Location::File(path) => Some(self.file(path, wanted).await?),
            Location::Url { target, digest } => {
                let signature = self.signature(wanted).await?;
                let digest = digest.as_ref().or(wanted.digest.as_ref());
                Some(download::download(&self.client, target, digest, signature).await?)
            }
            Location::Oci(reference) => {
                no_signature(location, wanted)?;
                oci::pull(&self.client, reference, wanted).await?
            }
            Location::Listed { index, name, version } => {
                no_signature(location, wanted)?;
                index::fetch(&self.client, index, name, version.as_ref(), wanted).await?
            }
        };
        let Some(package) = found else { return Ok(None) };
        expect(wanted.digest.as_ref(), &package.component, &location.to_string())?;
        Ok((Some(Digest::of(&package.component)) != wanted.have).then_some(package))
    }

    /// The index at `place`.
    ///
    /// # Errors
    /// When it cannot be read.
    pub async fn index(&self, place: &IndexPlace) -> Result<Index, DistributionError> {
        Index::read(place, &self.client).await
    }

    async fn file(&self, path: &Path, wanted: &Wanted) -> Result<PackageFile, DistributionError> {
        if path.is_dir() {
            let folder = path.display().to_string();
            return Err(match path.join("ringfence.toml").exists() {
                true => DistributionError::Project { folder },
                false => DistributionError::Folder { folder },
            });
        }
        let signature = match self.signature(wanted).await? {
            None => return Ok(PackageFile::read(path)?),
            Some(Signature::Given(bytes)) => bytes,
            Some(Signature::At(target)) => download::text(&self.client, target.url().as_str()).await?,
        };
        Ok(PackageFile { component: PackageFile::read_component(path)?, signature: Some(signature) })
    }

    /// The signature that the operator names.
    async fn signature(&self, wanted: &Wanted) -> Result<Option<Signature>, DistributionError> {
        match &wanted.signature {
            None => Ok(None),
            Some(Location::File(path)) => Ok(Some(Signature::Given(read_signature(path)?))),
            Some(Location::Url { target, digest: None }) => Ok(Some(Signature::At(target.clone()))),
            Some(other) => Err(DistributionError::Meaningless { flag: "--signature", place: other.to_string() }),
        }
    }
}

/// A signature stands in an index or registry itself.
fn no_signature(location: &Location, wanted: &Wanted) -> Result<(), DistributionError> {
    match wanted.signature {
        Some(_) => Err(DistributionError::Meaningless { flag: "--signature", place: location.to_string() }),
        None => Ok(()),
    }
}

fn read_signature(path: &Path) -> Result<Vec<u8>, DistributionError> {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    reading::open(path)?.take(signature::MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    signature::check_size(&bytes).map_err(PackageError::from)?;
    Ok(bytes)
}

/// Checks that `bytes`, which are those of `what`, have this digest, where one is known.
pub(crate) fn expect(digest: Option<&Digest>, bytes: &[u8], what: &str) -> Result<(), DistributionError> {
    let Some(expected) = digest else { return Ok(()) };
    let found = Digest::of(bytes);
    if found == *expected {
        return Ok(());
    }
    let (expected, found) = (expected.to_string(), found.to_string());
    Err(DistributionError::OtherDigest { what: what.to_owned(), expected, found })
}
