//! Signatures by a key: minisign files, prehashed ones only.
//!
//! The four lines are taken apart here, strictly, before the library sees them: a file that can be written in two ways
//! could be changed without anybody noticing. Only the text of the untrusted comment is free, and nothing reads it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::SignatureError;
use crate::key::{KeyId, PublicKey};

/// The longest such file, in bytes. minisign's comments have at most 8 KiB.
pub(super) const MAX_BYTES: usize = 16 << 10;

/// Algorithm, key id and Ed25519 signature.
const SIGNATURE_BYTES: usize = 2 + 8 + 64;
const GLOBAL_SIGNATURE_BYTES: usize = 64;

/// A minisign file that has the right form.
pub(super) struct MinisignSignature {
    key_id: KeyId,
    text: String,
    signature: minisign_verify::Signature,
}

impl MinisignSignature {
    /// Reads a `.minisig` file.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, SignatureError> {
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
    pub(super) fn key_id(&self) -> KeyId {
        self.key_id
    }

    /// The file's text.
    pub(super) fn as_text(&self) -> &str {
        &self.text
    }

    /// What the signer says beside the package. To be believed only when the signature was verified.
    pub(super) fn trusted_comment(&self) -> &str {
        self.signature.trusted_comment()
    }

    /// Checks key id, signature, trusted comment and global signature.
    pub(super) fn verify(&self, package: &[u8], key: &PublicKey) -> Result<(), SignatureError> {
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
