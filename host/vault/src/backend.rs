//! What a place can do.

use ringfence_core::Secret;

use crate::error::VaultError;
use crate::name::SecretName;

/// A place that answers. It knows values by name and nothing else; what exists is the index's business.
pub(crate) trait Backend: Send {
    /// The values of `names`, in their order; `None` for one that is not there.
    fn get(&self, names: &[&SecretName]) -> Result<Vec<Option<Secret>>, VaultError>;

    /// Stores values, in place of those that are there. When it fails, some may be stored and others not.
    fn put(&self, secrets: &[(&SecretName, &Secret)]) -> Result<(), VaultError>;

    /// Removes values. One that is not there is removed already.
    fn remove(&self, names: &[&SecretName]) -> Result<(), VaultError>;

    /// The names of all values, where the place can tell.
    fn names(&self) -> Result<Option<Vec<SecretName>>, VaultError>;
}
