//! Signatures of packages: minisign files, prehashed ones only.
//!
//! The four lines are taken apart here, strictly, before the library sees them: a file that can be written in two ways
//! could be changed without anybody noticing. Only the text of the untrusted comment is free, and nothing reads it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use thiserror::Error;

use crate::key::{KeyId, PublicKey};

/// What the name of the signature adds to that of the package.
pub const EXTENSION: &str = "minisig";

/// The longest signature file, in bytes. minisign's comments have at most 8 KiB.
pub const MAX_BYTES: usize = 16 << 10;

/// Algorithm, key id and Ed25519 signature.
const SIGNATURE_BYTES: usize = 2 + 8 + 64;
const GLOBAL_SIGNATURE_BYTES: usize = 64;

/// A signature that has the right form. What it signs, and for whom, is only known when it was verified.
pub struct Signature {
    key_id: KeyId,
    text: String,
    signature: minisign_verify::Signature,
}

/// Why a signature is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SignatureError {
    /// Over [`MAX_BYTES`].
    #[error("the signature file has {0} bytes, at most {MAX_BYTES} are allowed: it is not one of minisign's")]
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
    /// It does not fit.
    #[error(
        "the signature by key {0} does not fit: the package, the signature or its trusted comment was changed; \
         get both files again from the publisher"
    )]
    Wrong(KeyId),
}

impl SignatureError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::TooLarge(_) | Self::NotText | Self::Lines(_) | Self::Malformed { .. } => "signature.malformed",
            Self::Legacy => "signature.legacy",
            Self::Algorithm => "signature.algorithm",
            Self::OtherKey { .. } => "signature.other_key",
            Self::Wrong(_) => "signature.wrong",
        }
    }
}

impl Signature {
    /// Reads a `.minisig` file.
    ///
    /// # Errors
    /// What is wrong with its form.
    pub fn parse(bytes: &[u8]) -> Result<Self, SignatureError> {
        if bytes.len() > MAX_BYTES {
            return Err(SignatureError::TooLarge(bytes.len()));
        }
        let text = std::str::from_utf8(bytes).map_err(|_| SignatureError::NotText)?;
        let lines: Vec<&str> = text.strip_suffix('\n').unwrap_or(text).split('\n').collect();
        let [untrusted, signature, trusted, global] = lines.as_slice() else {
            return Err(SignatureError::Lines(lines.len()));
        };
        comment(1, untrusted, "untrusted comment: ")?;
        comment(3, trusted, "trusted comment: ")?;
        let signature: [u8; SIGNATURE_BYTES] = decode(2, signature)?;
        let _: [u8; GLOBAL_SIGNATURE_BYTES] = decode(4, global)?;
        match &signature[..2] {
            b"ED" => {}
            b"Ed" => return Err(SignatureError::Legacy),
            _ => return Err(SignatureError::Algorithm),
        }
        let id = signature[2..].first_chunk().expect("an array of 74 bytes has 8 behind its second");
        let key_id = KeyId::from_bytes(*id);
        let signature = minisign_verify::Signature::decode(text)
            .map_err(|_| SignatureError::Malformed { line: 2, problem: "is not a signature" })?;
        Ok(Self { key_id, text: text.to_owned(), signature })
    }

    /// The key that it claims to be made with.
    pub fn key_id(&self) -> KeyId {
        self.key_id
    }

    /// The file's text.
    pub fn as_text(&self) -> &str {
        &self.text
    }

    /// What the signer says beside the package. To be believed only when the signature was verified.
    pub fn trusted_comment(&self) -> &str {
        self.signature.trusted_comment()
    }

    /// Checks key id, signature, trusted comment and global signature.
    ///
    /// # Errors
    /// [`SignatureError::OtherKey`] or [`SignatureError::Wrong`].
    pub fn verify(&self, package: &[u8], key: &PublicKey) -> Result<(), SignatureError> {
        if self.key_id != key.id() {
            return Err(SignatureError::OtherKey { signature: self.key_id, key: key.id() });
        }
        let allow_legacy = false;
        let verified = key.as_minisign().verify(package, &self.signature, allow_legacy);
        verified.map_err(|_| SignatureError::Wrong(self.key_id))
    }
}

fn comment(line: u8, text: &str, prefix: &str) -> Result<(), SignatureError> {
    let comment = text.strip_prefix(prefix);
    let comment =
        comment.ok_or(SignatureError::Malformed { line, problem: "does not begin as such a comment does" })?;
    // minisign separates what it writes with tabs. Anything else could play tricks with a terminal.
    if comment.chars().any(|c| c.is_control() && c != '\t') {
        return Err(SignatureError::Malformed { line, problem: "has a control character" });
    }
    Ok(())
}

fn decode<const N: usize>(line: u8, text: &str) -> Result<[u8; N], SignatureError> {
    let bytes = STANDARD.decode(text).map_err(|_| SignatureError::Malformed { line, problem: "is not base64" })?;
    bytes.try_into().map_err(|_| SignatureError::Malformed { line, problem: "has the wrong length" })
}
