//! Signatures by an identity: sigstore bundles, verified without asking anybody.
//!
//! A bundle has the signature, the certificate of the key that made it, and the entry of both in a transparency log. The key
//! lived for minutes; that it signed while its certificate held is what the log's time says, and who may certify and log, a
//! trusted root.

use sigstore_verify::crypto::parse_certificate_info;
use sigstore_verify::trust_root::{SIGSTORE_PRODUCTION_TRUSTED_ROOT, TrustedRoot};
use sigstore_verify::types::{self, SignatureContent};
use sigstore_verify::{Error, IdentityMatcher, VerificationPolicy, Verifier};

use super::SignatureError;
use crate::identity::{Identity, IdentityError, TrustedIdentity};
use crate::plain_text;

/// Whether bundles can be verified.
pub(crate) const BUILT_IN: bool = true;

/// A bundle that has the right form.
pub(crate) struct Bundle {
    claimed: Identity,
    text: String,
    bundle: types::Bundle,
}

impl Bundle {
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, SignatureError> {
        let text = std::str::from_utf8(bytes).map_err(|_| malformed(&"it is not text"))?;
        let bundle = types::Bundle::from_json(text).map_err(|error| malformed(&error))?;
        if !matches!(bundle.content, SignatureContent::MessageSignature(_)) {
            return Err(SignatureError::Attestation);
        }
        let certificate = bundle.signing_certificate().ok_or(SignatureError::NoCertificate)?;
        let info = parse_certificate_info(certificate).map_err(|error| malformed(&error))?;
        let (Some(subject), Some(issuer)) = (info.identity, info.issuer) else {
            return Err(malformed(&"its certificate does not name an e-mail address or URI, and who vouches for that"));
        };
        let claimed = Identity::new(subject.as_str().to_owned(), issuer).map_err(|error| malformed(&error))?;
        // In the oldest form a log's promise was enough.
        let entries = &bundle.verification_material.tlog_entries;
        if entries.is_empty() || entries.iter().any(|entry| entry.inclusion_proof.is_none()) {
            return Err(malformed(&"it has no proof that it stands in a transparency log"));
        }
        Ok(Self { claimed, text: text.to_owned(), bundle })
    }

    /// Whom its certificate names.
    pub(crate) fn claimed(&self) -> &Identity {
        &self.claimed
    }

    /// The file's text.
    pub(crate) fn as_text(&self) -> &str {
        &self.text
    }

    /// Checks the certificate with the record of its issue, the log entry with its proof, that both are of the time at
    /// which was signed, the signature, and that all of it is about `package` and `trusted`.
    pub(crate) fn verify(&self, package: &[u8], trusted: &TrustedIdentity) -> Result<(), SignatureError> {
        // An id has eight bytes only, and found the identity; this is what says that it is the one.
        if self.claimed != trusted.identity {
            let (signature, trusted) = (self.claimed.clone(), trusted.identity.clone());
            return Err(SignatureError::OtherIdentity { signature, trusted });
        }
        let verifier = root(trusted).and_then(|root| verifier(&root)).map_err(|error| self.unproven(&error))?;
        let Identity { subject, issuer } = &trusted.identity;
        let policy = VerificationPolicy::new(IdentityMatcher::Exact(subject.clone()), issuer);
        match verifier.verify(package, &self.bundle, &policy) {
            Ok(seen) if seen.certificate_verified() && seen.sct_verified() && seen.tlog_verified() => Ok(()),
            Ok(_) => Err(self.unproven(&"not everything was verified")),
            Err(error @ (Error::SignatureInvalid(_) | Error::ArtifactMismatch(_))) => {
                Err(SignatureError::WrongBundle { identity: self.claimed.clone(), problem: shown(&error) })
            }
            Err(error) => Err(self.unproven(&error)),
        }
    }

    fn unproven(&self, problem: &dyn std::fmt::Display) -> SignatureError {
        SignatureError::Unproven { identity: self.claimed.clone(), problem: shown(problem) }
    }
}

/// Checks that the root of `trusted` can prove something: a certificate needs an authority, its record and its entry a log.
pub(crate) fn check_root(trusted: &TrustedIdentity) -> Result<(), IdentityError> {
    let root = root(trusted)?;
    drop(verifier(&root)?);
    for (what, is_empty) in [
        ("certificate authority", root.certificate_authorities.is_empty()),
        ("log of certificates", root.ctlogs.is_empty()),
        ("transparency log", root.tlogs.is_empty()),
    ] {
        if is_empty {
            return Err(IdentityError::Root(format!("it names no {what}")));
        }
    }
    Ok(())
}

fn verifier(root: &TrustedRoot) -> Result<Verifier, IdentityError> {
    Verifier::new(root).map_err(|error| IdentityError::Root(shown(&error)))
}

fn root(trusted: &TrustedIdentity) -> Result<TrustedRoot, IdentityError> {
    let text = trusted.root.as_deref().unwrap_or(SIGSTORE_PRODUCTION_TRUSTED_ROOT);
    TrustedRoot::from_json(text).map_err(|error| IdentityError::Root(shown(&error)))
}

fn malformed(problem: &dyn std::fmt::Display) -> SignatureError {
    SignatureError::Bundle(shown(problem))
}

/// What the library says of a stranger's file, fit for a message: it may repeat parts of that.
fn shown(problem: &dyn std::fmt::Display) -> String {
    const MAX_CHARACTERS: usize = 300;
    let text = problem.to_string();
    text.chars().filter(|c| !c.is_control() && !plain_text::hides(*c)).take(MAX_CHARACTERS).collect()
}
