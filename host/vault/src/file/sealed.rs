//! The encrypted file on the disk, format 1:
//!
//! | bytes | what |
//! |---|---|
//! | 7 | `RFVAULT` |
//! | 1 | the format |
//! | 1 | what the key comes from |
//! | 16 | the salt of Argon2id, random |
//! | 32 | the key check: tells a wrong key from altered content, and binds the file to one key |
//! | 4 | the length of what follows the nonce, little-endian |
//! | 24 | the nonce, random for every write |
//! | … | XChaCha20-Poly1305 of the entries; all before the nonce is authenticated with them |
//!
//! A name stands beside its value inside, so no value can be moved to another name. What this cannot tell is an older
//! file of the same vault put back in place of the newer one.

use std::path::Path;

use chacha20poly1305::aead::{AeadInOut as _, KeyInit as _};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use zeroize::Zeroizing;

use super::error::FileError;
use super::key::MasterKey;
use crate::error::VaultError;
use crate::place::KeySource;

const MAGIC: &[u8; 7] = b"RFVAULT";
const FORMAT: u8 = 1;

/// The length of the salt, in bytes: what RFC 9106 recommends.
pub(super) const SALT: usize = 16;
/// The length of the tag of Poly1305, in bytes.
pub(super) const TAG: usize = 16;
const CHECK: usize = 32;
const NONCE: usize = 24;

/// Where the parts begin.
const SALT_AT: usize = MAGIC.len() + 2;
const CHECK_AT: usize = SALT_AT + SALT;
const LENGTH_AT: usize = CHECK_AT + CHECK;
const NONCE_AT: usize = LENGTH_AT + 4;
const BODY_AT: usize = NONCE_AT + NONCE;

/// What must be known of a file before its key.
pub(super) struct Head {
    pub(super) source: KeySource,
    pub(super) salt: [u8; SALT],
}

/// Reads the beginning of the file at `path`. What it says is believed only once the key has authenticated it.
pub(super) fn head(path: &Path, bytes: &[u8]) -> Result<Head, FileError> {
    let not_secrets = || FileError::NotSecrets(path.to_owned());
    let rest = bytes.strip_prefix(MAGIC).ok_or_else(not_secrets)?;
    let (format, _) = rest.split_first().ok_or_else(not_secrets)?;
    if *format != FORMAT {
        return Err(FileError::Newer { path: path.to_owned(), found: *format, known: FORMAT });
    }
    let cut = |expected| FileError::Length { path: path.to_owned(), length: bytes.len(), expected };
    if bytes.len() < BODY_AT + TAG {
        return Err(cut(BODY_AT + TAG));
    }
    let body = u32::from_le_bytes(array(bytes, LENGTH_AT)) as usize;
    if bytes.len() - BODY_AT != body {
        return Err(cut(BODY_AT.saturating_add(body)));
    }
    let source = source_of(bytes[SALT_AT - 1]).ok_or_else(not_secrets)?;
    Ok(Head { source, salt: array(bytes, SALT_AT) })
}

/// Encrypts `plain`, which must have room for [`TAG`] bytes more, under a new nonce.
pub(super) fn seal(mut plain: Zeroizing<Vec<u8>>, key: &MasterKey) -> Result<Vec<u8>, VaultError> {
    let mut nonce = [0; NONCE];
    getrandom::fill(&mut nonce).map_err(VaultError::Randomness)?;
    let mut file = Vec::with_capacity(BODY_AT + plain.len() + TAG);
    file.extend_from_slice(MAGIC);
    file.extend_from_slice(&[FORMAT, byte_of(key.source)]);
    file.extend_from_slice(&key.salt);
    file.extend_from_slice(key_check(key, &file).as_slice());
    // It fits: a vault has at most 1024 secrets of 64 KiB.
    file.extend_from_slice(&((plain.len() + TAG) as u32).to_le_bytes());
    cipher(key)
        .encrypt_in_place(&XNonce::from(nonce), &file, &mut *plain)
        .expect("the cipher takes any length below 256 GiB");
    file.extend_from_slice(&nonce);
    file.extend_from_slice(&plain);
    Ok(file)
}

/// Decrypts the file at `path`.
pub(super) fn open(
    path: &Path,
    mut bytes: Zeroizing<Vec<u8>>,
    key: &MasterKey,
) -> Result<Zeroizing<Vec<u8>>, FileError> {
    head(path, &bytes)?;
    if key_check(key, &bytes[..CHECK_AT]).as_slice() != &bytes[CHECK_AT..LENGTH_AT] {
        return Err(FileError::WrongKey { path: path.to_owned(), source_of_key: key.source });
    }
    let mut body = Zeroizing::new(bytes.split_off(BODY_AT));
    cipher(key)
        .decrypt_in_place(&XNonce::from(array(&bytes, NONCE_AT)), &bytes[..NONCE_AT], &mut *body)
        .map_err(|_| FileError::Tampered(path.to_owned()))?;
    Ok(body)
}

fn cipher(key: &MasterKey) -> XChaCha20Poly1305 {
    XChaCha20Poly1305::new((&*key.derived("ringfence vault: seal", &[])).into())
}

/// Compared in variable time: it is no secret, it stands in the file for who wants to try keys.
fn key_check(key: &MasterKey, head: &[u8]) -> Zeroizing<[u8; CHECK]> {
    key.derived("ringfence vault: key check", head)
}

fn byte_of(source: KeySource) -> u8 {
    match source {
        KeySource::KeyFile => 0,
        KeySource::Credential => 1,
        KeySource::Passphrase => 2,
    }
}

fn source_of(byte: u8) -> Option<KeySource> {
    [KeySource::KeyFile, KeySource::Credential, KeySource::Passphrase]
        .into_iter()
        .find(|source| byte_of(*source) == byte)
}

/// The `N` bytes from `start` on, which the caller knows to be there.
fn array<const N: usize>(bytes: &[u8], start: usize) -> [u8; N] {
    std::array::from_fn(|i| bytes[start + i])
}
