//! Putting a package into a registry. The tag comes last: whoever finds it finds the signature too.

use ringfence_package::{Component, Manifest};
use ringfence_store::Digest;

use super::auth::{Action, Login};
use super::manifest::{Descriptor, EMPTY_CONFIG, INDEX, ImageManifest, MANIFEST, signature_type};
use super::reference::{Reference, algorithm_and};
use super::registry::{Registry, fallback_tag};
use crate::client::Client;
use crate::error::DistributionError;

/// What a registry answers that keeps the referrers itself.
const KEEPS_REFERRERS: &str = "oci-subject";

/// Puts the package `bytes` and its signature into a registry, and says what it is called there.
pub(crate) async fn push(
    client: &Client,
    reference: &Reference,
    login: Option<&Login>,
    bytes: &[u8],
    signature: &[u8],
    manifest: &Manifest,
) -> Result<Reference, DistributionError> {
    let component = Component::read(bytes)?;
    let (image, config) = ImageManifest::of_package(bytes, &component, manifest);
    let image = serde_json::to_vec(&image).map_err(std::io::Error::other)?;
    // A tag cannot have the `+` of a version.
    let tag = reference.tag.clone().unwrap_or_else(|| manifest.package.version.to_string().replace('+', "_"));
    let is_version = reference.tag.is_none();
    let mut registry = Registry::new(client, reference, login, Action::Push)?;
    if let Some((_, there)) = registry.manifest_if_there(&tag).await?.filter(|_| is_version)
        && there != image
    {
        let what = format!("{}/{}:{tag}", reference.registry, reference.repository);
        return Err(DistributionError::Published { what });
    }
    let digest = Digest::of(&image);
    for blob in [bytes, config.as_slice(), signature, EMPTY_CONFIG] {
        registry.put_blob(blob).await?;
    }
    registry.put_manifest(&algorithm_and(&digest), MANIFEST, &image).await?;
    refer(&mut registry, &image, signature).await?;
    registry.put_manifest(&tag, MANIFEST, &image).await?;
    Ok(Reference { tag: Some(tag), digest: Some(digest), ..reference.clone() })
}

/// Makes `signature` refer to the package with the manifest `image`.
async fn refer(registry: &mut Registry<'_>, image: &[u8], signature: &[u8]) -> Result<(), DistributionError> {
    let subject = Digest::of(image);
    let referrer = ImageManifest::of_signature(signature, Descriptor::of(MANIFEST, image));
    let referrer = serde_json::to_vec(&referrer).map_err(std::io::Error::other)?;
    let name = algorithm_and(&Digest::of(&referrer));
    let answer = registry.put_manifest(&name, MANIFEST, &referrer).await?;
    if answer.headers.contains_key(KEEPS_REFERRERS) {
        return Ok(());
    }
    let mut index = registry.fallback_index(&subject).await?;
    if index.manifests.iter().all(|other| other.digest != name) {
        let artifact_type = Some(signature_type(signature).into());
        let described = Descriptor { artifact_type, ..Descriptor::of(MANIFEST, &referrer) };
        index.manifests.push(described);
        let index = serde_json::to_vec(&index).map_err(std::io::Error::other)?;
        registry.put_manifest(&fallback_tag(&subject), INDEX, &index).await?;
    }
    Ok(())
}
