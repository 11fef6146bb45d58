//! Public keys of publishers, as minisign writes them.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use thiserror::Error;

/// What people write, and are shown, in the place of a key's id where nobody signed.
pub const UNSIGNED: &str = "unsigned";

/// The id of a key: 8 bytes, shown as 16 hexadecimal digits the way minisign shows them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId([u8; 8]);

/// A public key.
#[derive(Clone, PartialEq, Eq)]
pub struct PublicKey {
    id: KeyId,
    base64: String,
    key: minisign_verify::PublicKey,
}

/// Who vouches for a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signer {
    /// The owner of a key.
    Key(KeyId),
    /// Nobody.
    Unsigned,
}

/// Why a text is not a key.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum KeyError {
    /// Not a public key.
    #[error("this is not a minisign public key: {0}; give the `.pub` file, or the line of it that begins with RW")]
    Malformed(&'static str),
    /// A secret key instead.
    #[error("this is a secret key: keep it to yourself, and give the `.pub` file instead")]
    Secret,
    /// Not the id of a key.
    #[error("{0:?} is not the id of a key: it has 16 digits of 0-9 and A-F, as `ringfence trust list` shows them")]
    Id(String),
}

impl KeyError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Malformed(_) => "key.malformed",
            Self::Secret => "key.secret",
            Self::Id(_) => "key.id",
        }
    }
}

/// Algorithm, id and key.
const PUBLIC_KEY_BYTES: usize = 2 + 8 + 32;

impl PublicKey {
    /// Reads a `.pub` file, or its base64 line alone.
    ///
    /// # Errors
    /// When it is neither.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let base64 = match text.trim().lines().collect::<Vec<_>>().as_slice() {
            [comment, line] if comment.starts_with("untrusted comment: ") => *line,
            [line] => *line,
            _ => return Err(KeyError::Malformed("it is neither one line nor a comment and one line")),
        };
        let bytes = STANDARD.decode(base64).map_err(|_| KeyError::Malformed("it is not base64"))?;
        if bytes.len() > PUBLIC_KEY_BYTES && bytes.starts_with(b"Ed") {
            return Err(KeyError::Secret);
        }
        let Ok([b'E', b'd', rest @ ..]) = <[u8; PUBLIC_KEY_BYTES]>::try_from(bytes) else {
            return Err(KeyError::Malformed("its length or algorithm is another"));
        };
        let (id, _) = rest.split_first_chunk().ok_or(KeyError::Malformed("it is too short"))?;
        let key =
            minisign_verify::PublicKey::from_base64(base64).map_err(|_| KeyError::Malformed("it is not valid"))?;
        Ok(Self { id: KeyId(*id), base64: base64.to_owned(), key })
    }

    /// The key's id.
    pub fn id(&self) -> KeyId {
        self.id
    }

    /// The key in base64: the second line of a `.pub` file.
    pub fn as_base64(&self) -> &str {
        &self.base64
    }

    pub(crate) fn as_minisign(&self) -> &minisign_verify::PublicKey {
        &self.key
    }
}

impl KeyId {
    pub(crate) fn from_bytes(bytes: [u8; 8]) -> Self {
        Self(bytes)
    }
}

impl FromStr for KeyId {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let good = text.len() == 16 && text.bytes().all(|b| b.is_ascii_hexdigit());
        let number = good.then(|| u64::from_str_radix(text, 16).ok()).flatten();
        number.map(|number| Self(number.to_le_bytes())).ok_or_else(|| KeyError::Id(text.to_owned()))
    }
}

impl FromStr for Signer {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        if text == UNSIGNED { Ok(Self::Unsigned) } else { text.parse().map(Self::Key) }
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016X}", u64::from_le_bytes(self.0))
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({})", self.base64)
    }
}

impl fmt::Display for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(id) => fmt::Display::fmt(id, f),
            Self::Unsigned => f.write_str(UNSIGNED),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From the documentation of minisign.
    const KEY: &str = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";

    #[test]
    fn a_key_is_read_alone_or_with_its_comment() {
        let key = PublicKey::parse(KEY).unwrap();
        assert_eq!(key.id().to_string(), "E7620F1842B4E81F");
        assert_eq!(key.id().to_string().parse(), Ok(key.id()));
        assert_eq!(PublicKey::parse(&format!("untrusted comment: x\n{KEY}\n")), Ok(key));
    }

    #[test]
    fn nothing_else_is_a_key_or_an_id() {
        for bad in
            ["", "RWQ", &KEY[1..], &format!("comment\n{KEY}"), &format!("{KEY}\n{KEY}"), &KEY.replace("RW", "SW")]
        {
            assert!(matches!(PublicKey::parse(bad), Err(KeyError::Malformed(_))), "{bad}");
        }
        for bad in ["", "E7620F1842B4E81", "E7620F1842B4E81F0", "+7620F1842B4E81F", "unsigned"] {
            assert!(bad.parse::<KeyId>().is_err(), "{bad}");
        }
        assert_eq!("unsigned".parse(), Ok(Signer::Unsigned));
    }
}
