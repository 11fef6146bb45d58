//! Signatures of packages: minisign files, and sigstore bundles where those are built in.
//!
//! Which of the two a file is, its first character says: a bundle is JSON, and no minisign file is.

mod minisign;
#[cfg_attr(not(feature = "sigstore"), path = "signature/without_sigstore.rs")]
pub(crate) mod sigstore;

use thiserror::Error;

use crate::anchor::TrustAnchor;
use crate::identity::Identity;
use crate::key::KeyId;
use minisign::MinisignSignature;
use sigstore::Bundle;

/// What the name of a minisign file adds to that of the package.
pub const EXTENSION: &str = "minisig";

/// What the name of a sigstore bundle adds to that of the package.
pub const BUNDLE_EXTENSION: &str = "sigstore.json";

/// What the name of any signature file adds to that of the package.
pub const EXTENSIONS: [&str; 2] = [EXTENSION, BUNDLE_EXTENSION];

/// The longest bundle, in bytes: some ten times what one has. No signature of another kind is longer.
pub const MAX_BYTES: usize = 64 << 10;

/// A signature that has the right form. What it signs, and for whom, is only known when it was verified.
pub struct Signature(Kind);

enum Kind {
    Minisign(Box<MinisignSignature>),
    Sigstore(Box<Bundle>),
}

/// Why a signature is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SignatureError {
    /// Longer than a minisign file is.
    #[error(
        "the signature file has {0} bytes or more, at most {max} are allowed: it is not one of minisign's",
        max = minisign::MAX_BYTES
    )]
    TooLarge(usize),
    /// Not text.
    #[error("the signature file is not text: sign the package again with `ringfence sign` or `minisign -S`")]
    NotText,
    /// Another number of lines than 4.
    #[error("the signature file has {0} lines instead of 4: copy it again, or sign the package again")]
    Lines(usize),
    /// A line that is not what it should be.
    #[error("line {line} of the signature file {problem}: copy it again, or sign the package again")]
    Malformed {
        /// Counted from 1.
        line: u8,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// Signed without hashing first.
    #[error(
        "the signature is of the old kind, without a hash: sign the package again with `ringfence sign` or `minisign -S`, \
         without `-l`"
    )]
    Legacy,
    /// An algorithm that minisign does not have.
    #[error("the signature names an unknown algorithm: sign the package again with `ringfence sign` or `minisign -S`")]
    Algorithm,
    /// The key is not the one that it was made with.
    #[error("the signature is by key {signature}, not by {key}: verify it with the public key of its signer")]
    OtherKey {
        /// The key that the signature names.
        signature: KeyId,
        /// The key that was given.
        key: KeyId,
    },
    /// What is trusted under the id that it names is an identity, or it is by one and a key is trusted.
    #[error(
        "the signature is of another kind than what is trusted as {0}, whose id it has: do not use it, and tell the \
         publisher that somebody forges signatures"
    )]
    OtherKind(KeyId),
    /// It does not fit.
    #[error(
        "the signature by key {0} does not fit: the package, the signature or its trusted comment was changed; \
         get both files again from the publisher"
    )]
    Wrong(KeyId),
    /// Two of them, of which only one can say whose the package is.
    #[error(
        "two signatures stand beside the package, a minisign file and a sigstore bundle: say which one counts with \
         `--signature FILE`, or remove the other"
    )]
    Two,
    /// A bundle, in a build that leaves sigstore out.
    #[error(
        "the signature is a sigstore bundle, and this ringfence was built without sigstore: build it with \
         `cargo install --locked --path host/ringfence --features sigstore`, or get a `.minisig` file from the publisher"
    )]
    NotBuiltIn,
    /// Longer than a bundle is.
    #[error(
        "the sigstore bundle has {0} bytes or more, at most {MAX_BYTES} are allowed: get it again from the publisher"
    )]
    BundleTooLarge(usize),
    /// Not a bundle by which anything could be verified.
    #[error(
        "this is no sigstore bundle that can be used: {0}; get it again from the publisher, or let them sign again"
    )]
    Bundle(String),
    /// A statement about the package, and no signature of it.
    #[error(
        "the sigstore bundle is an attestation (DSSE), which says something about a package and does not sign it: the \
         publisher has to sign the component itself, as `cosign sign-blob --bundle FILE.wasm.sigstore.json FILE.wasm` does"
    )]
    Attestation,
    /// Signed by a key that nobody certifies.
    #[error(
        "the sigstore bundle has no certificate, so it does not say who signed: the publisher has to sign with an identity, \
         or with a minisign key"
    )]
    NoCertificate,
    /// By somebody else.
    #[error("the sigstore bundle is by {signature}, not by {trusted}: get the one that the publisher made")]
    OtherIdentity {
        /// Whom the certificate names.
        signature: Identity,
        /// Who is trusted.
        trusted: Identity,
    },
    /// It does not fit.
    #[error(
        "the signature by {identity} does not fit ({problem}): the package or its sigstore bundle was changed; get both \
         files again from the publisher"
    )]
    WrongBundle {
        /// Whom the certificate names.
        identity: Identity,
        /// What does not fit.
        problem: String,
    },
    /// Certificate, log entry or time are not proven.
    #[error(
        "nothing proves that {identity} made the signature ({problem}): the sigstore bundle was changed, or is of another \
         sigstore instance than the identity is trusted by; get it again from the publisher, or give the root of that \
         instance with `ringfence trust add --identity WHO --issuer URL --trusted-root FILE`"
    )]
    Unproven {
        /// Whom the certificate names.
        identity: Identity,
        /// What is not proven.
        problem: String,
    },
}

impl SignatureError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::TooLarge(_) | Self::NotText | Self::Lines(_) | Self::Malformed { .. } => "signature.malformed",
            Self::BundleTooLarge(_) | Self::Bundle(_) => "signature.malformed",
            Self::Legacy => "signature.legacy",
            Self::Algorithm => "signature.algorithm",
            Self::OtherKey { .. } => "signature.other_key",
            Self::OtherKind(_) => "signature.other_kind",
            Self::OtherIdentity { .. } => "signature.other_identity",
            Self::Wrong(_) | Self::WrongBundle { .. } => "signature.wrong",
            Self::Two => "signature.two",
            Self::NotBuiltIn => "signature.not_built_in",
            Self::Attestation => "signature.attestation",
            Self::NoCertificate => "signature.no_certificate",
            Self::Unproven { .. } => "signature.unproven",
        }
    }
}

impl Signature {
    /// Reads a signature file.
    ///
    /// # Errors
    /// What is wrong with its form.
    pub fn parse(bytes: &[u8]) -> Result<Self, SignatureError> {
        check_size(bytes)?;
        match is_bundle(bytes) {
            true => Ok(Self(Kind::Sigstore(Box::new(Bundle::parse(bytes)?)))),
            false => Ok(Self(Kind::Minisign(Box::new(MinisignSignature::parse(bytes)?)))),
        }
    }

    /// Whom it claims to be by: the id of a key or of an identity.
    pub fn key_id(&self) -> KeyId {
        match &self.0 {
            Kind::Minisign(signature) => signature.key_id(),
            Kind::Sigstore(bundle) => bundle.claimed().id(),
        }
    }

    /// The identity that it claims to be by; `None` where it is by a key.
    pub fn identity(&self) -> Option<&Identity> {
        match &self.0 {
            Kind::Minisign(_) => None,
            Kind::Sigstore(bundle) => Some(bundle.claimed()),
        }
    }

    /// The file's text.
    pub fn as_text(&self) -> &str {
        match &self.0 {
            Kind::Minisign(signature) => signature.as_text(),
            Kind::Sigstore(bundle) => bundle.as_text(),
        }
    }

    /// What the signer says beside the package, where there is such a thing. To be believed only when the signature was
    /// verified.
    pub fn trusted_comment(&self) -> Option<&str> {
        match &self.0 {
            Kind::Minisign(signature) => Some(signature.trusted_comment()),
            Kind::Sigstore(_) => None,
        }
    }

    /// Checks that `signer` made it, of these bytes, and everything else that stands in it.
    ///
    /// # Errors
    /// What is not so.
    pub fn verify(&self, package: &[u8], signer: &TrustAnchor) -> Result<(), SignatureError> {
        match (&self.0, signer) {
            (Kind::Minisign(signature), TrustAnchor::Key(key)) => signature.verify(package, key),
            (Kind::Sigstore(bundle), TrustAnchor::Identity(trusted)) => bundle.verify(package, trusted),
            _ => Err(SignatureError::OtherKind(signer.id())),
        }
    }
}

/// What the name of the signature file with these bytes adds to that of its package.
pub fn extension_of(bytes: &[u8]) -> &'static str {
    if is_bundle(bytes) { BUNDLE_EXTENSION } else { EXTENSION }
}

/// Checks that a file of the kind that `bytes` are of may be so long.
///
/// # Errors
/// When it is longer.
pub fn check_size(bytes: &[u8]) -> Result<(), SignatureError> {
    match (is_bundle(bytes), bytes.len()) {
        (true, len) if len > MAX_BYTES => Err(SignatureError::BundleTooLarge(len)),
        (false, len) if len > minisign::MAX_BYTES => Err(SignatureError::TooLarge(len)),
        _ => Ok(()),
    }
}

fn is_bundle(bytes: &[u8]) -> bool {
    bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{')
}
