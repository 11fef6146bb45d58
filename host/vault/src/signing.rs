//! Signing with a secret for somebody who must not see it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;
use ring::signature::Ed25519KeyPair;
use ringfence_core::Secret;
use thiserror::Error;
use zeroize::Zeroizing;

/// How to sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// HMAC (RFC 2104) with SHA-256; the secret's bytes are the key. 32 bytes.
    HmacSha256,
    /// Ed25519 (RFC 8032); the secret is the private key, its 32 bytes in base64 or hexadecimal. 64 bytes.
    Ed25519,
}

/// A secret cannot sign in this way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the secret is no Ed25519 private key: store its 32 bytes in base64 or hexadecimal")]
pub struct Unsuitable;

/// The signature of `message` by `secret`, without white space around it.
///
/// # Errors
/// [`Unsuitable`].
pub fn sign(secret: &Secret, algorithm: Algorithm, message: &[u8]) -> Result<Vec<u8>, Unsuitable> {
    let text = secret.expose().trim();
    match algorithm {
        Algorithm::HmacSha256 => {
            let key = hmac::Key::new(hmac::HMAC_SHA256, text.as_bytes());
            Ok(hmac::sign(&key, message).as_ref().to_vec())
        }
        Algorithm::Ed25519 => {
            let seed = seed(text).ok_or(Unsuitable)?;
            let pair = Ed25519KeyPair::from_seed_unchecked(seed.as_slice()).map_err(|_| Unsuitable)?;
            Ok(pair.sign(message).as_ref().to_vec())
        }
    }
}

fn seed(text: &str) -> Option<Zeroizing<[u8; 32]>> {
    let mut seed = Zeroizing::new([0; 32]);
    if text.len() == 64 {
        for (byte, digits) in seed.iter_mut().zip(text.as_bytes().chunks(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
        }
        return Some(seed);
    }
    let bytes = Zeroizing::new(STANDARD.decode(text).ok()?);
    (bytes.len() == seed.len()).then(|| seed.copy_from_slice(&bytes))?;
    Some(seed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn hmac_agrees_with_rfc_4231() {
        let key = Secret::new("Jefe".into());
        let signed = sign(&key, Algorithm::HmacSha256, b"what do ya want for nothing?").unwrap();
        assert_eq!(hex(&signed), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    }

    #[test]
    fn ed25519_agrees_with_rfc_8032() {
        let seed = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
        let expected = "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd\
                        25bf5f0595bbe24655141438e7a100b";
        assert_eq!(hex(&sign(&Secret::new(seed.into()), Algorithm::Ed25519, b"").unwrap()), expected);
        let base64 = STANDARD.encode(super::seed(seed).unwrap().as_slice());
        assert_eq!(hex(&sign(&Secret::new(base64), Algorithm::Ed25519, b"").unwrap()), expected);
    }

    #[test]
    fn what_is_no_key_cannot_sign() {
        for text in ["", "hunter2", "zz61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60", "AAAA"] {
            assert_eq!(sign(&Secret::new(text.into()), Algorithm::Ed25519, b"x"), Err(Unsuitable), "{text}");
        }
    }
}
