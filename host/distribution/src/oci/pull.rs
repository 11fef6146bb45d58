//! Getting a package from a registry: its manifest, its one layer, and the signature that refers to it.

use ringfence_package::{PackageFile, Signature, component, signature};
use ringfence_store::Digest;
use semver::Version;

use super::auth::Action;
use super::manifest::{BUNDLE, Descriptor, SIGNATURE};
use super::reference::{Reference, algorithm_and};
use super::registry::Registry;
use crate::client::Client;
use crate::error::DistributionError;
use crate::fetch::Wanted;

/// The most signatures of one package that are looked at.
const MAX_SIGNATURES: usize = 16;

/// The package called `reference`; `None` when that is the one with the digest that is there already.
pub(crate) async fn pull(
    client: &Client,
    reference: &Reference,
    wanted: &Wanted,
) -> Result<Option<PackageFile>, DistributionError> {
    let mut registry = Registry::new(client, reference, wanted.login.as_ref(), Action::Pull)?;
    let name = match (&reference.digest, &reference.tag) {
        (Some(digest), _) => algorithm_and(digest),
        (None, Some(tag)) => tag.clone(),
        (None, None) => newest(registry.tags().await?).ok_or_else(|| DistributionError::NotFound {
            what: format!("a version of {}/{}", reference.registry, reference.repository),
        })?,
    };
    let (manifest, bytes) = registry.manifest(&name).await?;
    let not_a_package = |problem| DistributionError::NotAPackage { what: format!("oci://{reference}"), problem };
    let layer = manifest.wasm_layer().map_err(not_a_package)?;
    if wanted.have.is_some() && layer.sha256() == wanted.have {
        return Ok(None);
    }
    let signature = signature_of(&mut registry, &Digest::of(&bytes), &wanted.trusted).await?;
    let component = registry.blob(layer, component::MAX_BYTES).await?.to_vec();
    Ok(Some(PackageFile { component, signature }))
}

/// The tag of the highest version; one that is no release only where there is no other.
fn newest(tags: Vec<String>) -> Option<String> {
    let version = |tag: &String| Version::parse(&tag.replace('_', "+")).ok();
    let versions = tags.into_iter().filter_map(|tag| version(&tag).map(|version| (version, tag)));
    versions.max_by_key(|(version, _)| (version.pre.is_empty(), version.clone())).map(|(_, tag)| tag)
}

/// A signature of the package: by a trusted key, where there is one, else the first. Anybody who may write to the
/// repository can add some, so one that cannot be used does not hide the others.
async fn signature_of(
    registry: &mut Registry<'_>,
    subject: &Digest,
    trusted: &[String],
) -> Result<Option<Vec<u8>>, DistributionError> {
    let mut first = None;
    for kind in [SIGNATURE, BUNDLE] {
        for descriptor in registry.signatures(subject, kind).await?.into_iter().take(MAX_SIGNATURES) {
            let Some(bytes) = read(registry, &descriptor, subject).await? else { continue };
            match Signature::parse(&bytes) {
                Ok(signature) if trusted.contains(&signature.key_id().to_string()) => return Ok(Some(bytes)),
                _ => first = first.or(Some(bytes)),
            }
        }
    }
    Ok(first)
}

/// The signature that `descriptor` describes; `None` when it is that of something else.
async fn read(
    registry: &mut Registry<'_>,
    descriptor: &Descriptor,
    subject: &Digest,
) -> Result<Option<Vec<u8>>, DistributionError> {
    let (manifest, _) = registry.manifest(&descriptor.digest).await?;
    let of_subject = manifest.subject.as_ref().and_then(Descriptor::sha256) == Some(*subject);
    match manifest.layers.as_slice() {
        [layer] if of_subject => Ok(Some(registry.blob(layer, signature::MAX_BYTES).await?.to_vec())),
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_is_the_highest_release() {
        let of = |tags: &[&str]| newest(tags.iter().map(|tag| (*tag).to_owned()).collect());
        assert_eq!(of(&["latest", "1.9.0", "1.10.0", "2.0.0-rc.1", "sha256-00"]).as_deref(), Some("1.10.0"));
        assert_eq!(of(&["0.1.0-alpha", "0.1.0-beta"]).as_deref(), Some("0.1.0-beta"));
        assert_eq!(of(&["1.0.0", "1.0.0_build"]).as_deref(), Some("1.0.0_build"));
        assert_eq!(of(&["latest", "v1"]), None);
    }
}
