//! Secrets that a tool uses and never sees: it asks whether one is there, and has the host sign with it.

use crate::Failure;
use crate::bindings::ringfence::tool::secrets as wire;

pub use wire::Algorithm;

/// Whether the operator has stored the secret `name`.
///
/// # Errors
/// The operator did not grant the question.
pub fn exists(name: &str) -> Result<bool, Failure> {
    crate::host::secret_exists(name).map_err(|error| failure(name, error))
}

/// The signature of `message` by the secret `name`: 32 bytes of HMAC, 64 of Ed25519.
///
/// # Errors
/// The operator did not grant it, there is no such secret, or it is no key of this kind.
pub fn sign(name: &str, algorithm: Algorithm, message: &[u8]) -> Result<Vec<u8>, Failure> {
    crate::host::sign(name, algorithm, message).map_err(|error| failure(name, error))
}

fn failure(name: &str, error: wire::Error) -> Failure {
    match error {
        wire::Error::Denied => Failure::failed(format!("The operator did not grant the use of the secret `{name}`."))
            .with_code("secret.denied"),
        wire::Error::Missing => Failure::auth_required(format!("The operator has to store the secret `{name}`."))
            .with_code("secret.missing"),
        wire::Error::Unsuitable => Failure::auth_required(format!("The secret `{name}` is no key of the right kind."))
            .with_code("secret.unsuitable"),
    }
}
