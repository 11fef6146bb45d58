//! Putting a package where others find it.

use ringfence_package::{Component, ComponentError, PackageFile, Signature};
use ringfence_store::Digest;
use semver::Version;
use serde::Serialize;

use crate::error::DistributionError;
use crate::fetch::Fetcher;
use crate::folder;
use crate::location::{IndexPlace, Location};
use crate::oci::{self, auth::Login};

/// What was published.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Published {
    /// What the package is called.
    pub name: String,
    /// Its version.
    pub version: Version,
    /// SHA-256 of its component, as `--digest` takes it.
    pub digest: String,
    /// Where it is installed from: the highest version that is there.
    pub location: String,
    /// Where just this one is.
    pub exactly: String,
}

/// Puts `package`, whose file is called `file`, into the folder or registry `to`.
///
/// # Errors
/// When it is no signed package, is there already with other contents, or cannot be put there.
pub async fn publish(
    fetcher: &Fetcher,
    package: &PackageFile,
    file: &str,
    to: &Location,
    login: Option<&Login>,
) -> Result<Published, DistributionError> {
    let manifest = Component::read(&package.component)?.manifest()?.ok_or(ComponentError::NoManifest)?;
    let signature = package.signature.as_deref().ok_or_else(|| DistributionError::Unsigned(file.to_owned()))?;
    drop(Signature::parse(signature)?);
    let info = &manifest.package;
    let (location, exactly) = match to {
        Location::Oci(reference) if reference.digest.is_none() => {
            let bytes = &package.component;
            let exactly = oci::push(&fetcher.client, reference, login, bytes, signature, &manifest).await?;
            (to.clone(), Location::Oci(exactly))
        }
        Location::File(path) => {
            let path = folder::publish(path, package, signature, &manifest)?;
            let index = IndexPlace::Folder(path.parent().unwrap_or(&path).to_owned());
            (Location::Listed { index, name: info.name.clone(), version: None }, Location::File(path))
        }
        other => return Err(DistributionError::NoTarget(other.to_string())),
    };
    Ok(Published {
        name: info.name.to_string(),
        version: info.version.clone(),
        digest: format!("sha256:{}", Digest::of(&package.component)),
        location: location.to_string(),
        exactly: exactly.to_string(),
    })
}
