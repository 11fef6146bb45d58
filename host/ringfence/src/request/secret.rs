//! Secrets on their way to the owner of the state.

use ringfence_core::Secret;
use serde::{Deserialize, Serialize};

/// Where secrets are to live, and what opens that.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PlaceChoice {
    /// The system's keyring.
    Keyring,
    /// The kernel's keyring.
    Kernel,
    /// The encrypted file, with a key file beside it.
    File,
    /// The encrypted file, with a systemd credential of the process that owns the state.
    FileWithCredential,
    /// The encrypted file, with this passphrase.
    FileWithPassphrase(SecretValue),
}

/// The value of a secret on its way to the owner of the state, over the socket that only the operator can open.
#[derive(Clone)]
pub(crate) struct SecretValue(pub(crate) Secret);

impl std::fmt::Debug for SecretValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SecretValue(…)")
    }
}

impl Serialize for SecretValue {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.expose())
    }
}

impl<'de> Deserialize<'de> for SecretValue {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self(Secret::new(text)))
    }
}
