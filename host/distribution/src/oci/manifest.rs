//! What stands in manifests (OCI image specification 1.1; WebAssembly artifacts by CNCF TAG Runtime).

use std::collections::BTreeMap;

use ringfence_package::{Component, Manifest, signature};
use ringfence_store::Digest;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::reference::{algorithm_and, digest_of};

/// The media type of a manifest.
pub(super) const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

/// The media type of an index of manifests.
pub(super) const INDEX: &str = "application/vnd.oci.image.index.v1+json";

/// The media type of the configuration of a WebAssembly artifact.
pub(super) const WASM_CONFIG: &str = "application/vnd.wasm.config.v0+json";

/// The media type of WebAssembly.
pub(super) const WASM: &str = "application/wasm";

/// The type of an artifact that is a minisign signature of the WebAssembly layer of its subject.
pub(super) const SIGNATURE: &str = "application/vnd.ringfence.signature.minisign.v1";

/// The type of an artifact that is a sigstore bundle, which signs the WebAssembly layer of its subject as well. What has
/// sigstore's own type here speaks of the subject itself.
pub(super) const BUNDLE: &str = "application/vnd.ringfence.signature.sigstore.v1";

/// The media type of a configuration that says nothing, and that configuration.
pub(super) const EMPTY: &str = "application/vnd.oci.empty.v1+json";
pub(super) const EMPTY_CONFIG: &[u8] = b"{}";

/// The largest manifest or index, in bytes; registries take no larger ones.
pub(super) const MAX_BYTES: u64 = 4 << 20;

/// A manifest. What is not of interest here is left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ImageManifest {
    pub(super) schema_version: u32,
    pub(super) media_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) artifact_type: Option<String>,
    pub(super) config: Descriptor,
    pub(super) layers: Vec<Descriptor>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) subject: Option<Descriptor>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) annotations: BTreeMap<String, String>,
}

/// An index of manifests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ImageIndex {
    pub(super) schema_version: u32,
    pub(super) media_type: Option<String>,
    #[serde(default)]
    pub(super) manifests: Vec<Descriptor>,
}

/// What a blob or manifest is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Descriptor {
    pub(super) media_type: String,
    pub(super) digest: String,
    pub(super) size: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) artifact_type: Option<String>,
}

impl Descriptor {
    /// The descriptor of `bytes`.
    pub(super) fn of(media_type: &str, bytes: &[u8]) -> Self {
        let digest = algorithm_and(&Digest::of(bytes));
        Self { media_type: media_type.to_owned(), digest, size: bytes.len() as u64, artifact_type: None }
    }

    /// Its digest, if that is one of ours.
    pub(super) fn sha256(&self) -> Option<Digest> {
        digest_of(&self.digest).ok()
    }
}

impl Default for ImageIndex {
    fn default() -> Self {
        Self { schema_version: 2, media_type: Some(INDEX.into()), manifests: Vec::new() }
    }
}

impl ImageManifest {
    /// The manifest of a package, and the configuration that it names.
    pub(super) fn of_package(bytes: &[u8], component: &Component<'_>, manifest: &Manifest) -> (Self, Vec<u8>) {
        let layer = Descriptor::of(WASM, bytes);
        // The time is fixed: the same package has the same digest, whenever it is published.
        let config = json!({
            "created": "1970-01-01T00:00:00Z",
            "author": manifest.package.publisher,
            "architecture": "wasm",
            "os": "wasip2",
            "layerDigests": [layer.digest],
            "component": {"exports": component.exports, "imports": component.imports},
        });
        let config = config.to_string().into_bytes();
        let package = &manifest.package;
        let annotations = [
            ("title", package.name.as_str().to_owned()),
            ("version", package.version.to_string()),
            ("description", package.description.clone()),
            ("licenses", package.license.clone()),
            ("vendor", package.publisher.clone()),
        ];
        let annotation = |(key, value)| (format!("org.opencontainers.image.{key}"), value);
        let manifest = Self {
            schema_version: 2,
            media_type: Some(MANIFEST.into()),
            artifact_type: None,
            config: Descriptor::of(WASM_CONFIG, &config),
            layers: vec![layer],
            subject: None,
            annotations: annotations.into_iter().map(annotation).collect(),
        };
        (manifest, config)
    }

    /// The manifest of `signature`, which is that of the package with the manifest `subject`.
    pub(super) fn of_signature(signature: &[u8], subject: Descriptor) -> Self {
        let artifact_type = signature_type(signature);
        Self {
            schema_version: 2,
            media_type: Some(MANIFEST.into()),
            artifact_type: Some(artifact_type.into()),
            config: Descriptor::of(EMPTY, EMPTY_CONFIG),
            layers: vec![Descriptor::of(artifact_type, signature)],
            subject: Some(subject),
            annotations: BTreeMap::new(),
        }
    }

    /// The one WebAssembly layer of a package.
    pub(super) fn wasm_layer(&self) -> Result<&Descriptor, String> {
        match self.layers.as_slice() {
            [layer] if layer.media_type == WASM => Ok(layer),
            [] => Err("it has no layers".into()),
            layers => {
                let types: Vec<String> = layers.iter().take(3).map(|layer| shown(&layer.media_type)).collect();
                Err(format!("its layers are {}, and not one of {WASM}", types.join(", ")))
            }
        }
    }
}

/// The type of the artifact that `signature` is.
pub(super) fn signature_type(signature: &[u8]) -> &'static str {
    if signature::extension_of(signature) == signature::BUNDLE_EXTENSION { BUNDLE } else { SIGNATURE }
}

/// A text of the registry, fit for a message.
fn shown(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(100).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_layer_of_webassembly_is_a_package() {
        let mut manifest = ImageManifest::of_signature(b"", Descriptor::of(MANIFEST, b""));
        assert!(manifest.wasm_layer().unwrap_err().contains("minisign"));
        manifest.layers = vec![Descriptor::of(WASM, b"a")];
        assert_eq!(manifest.wasm_layer().unwrap().size, 1);
        manifest.layers.push(Descriptor::of(WASM, b"b"));
        assert!(manifest.wasm_layer().is_err());
        manifest.layers.clear();
        assert!(manifest.wasm_layer().is_err());
    }

    #[test]
    fn manifests_are_written_in_the_words_of_the_specification() {
        let manifest = ImageManifest::of_signature(b"x", Descriptor::of(MANIFEST, b"y"));
        let text = serde_json::to_value(&manifest).unwrap();
        assert_eq!(text["schemaVersion"], 2);
        assert_eq!(text["artifactType"], SIGNATURE);
        assert_eq!(text["config"]["mediaType"], EMPTY);
        assert_eq!(text["config"]["size"], 2);
        assert_eq!(ImageManifest::of_signature(b"{}", manifest.config.clone()).artifact_type.as_deref(), Some(BUNDLE));
        assert!(text["subject"]["digest"].as_str().unwrap().starts_with("sha256:"));
        assert!(text["layers"][0].get("artifactType").is_none() && text.get("annotations").is_none());
    }
}
