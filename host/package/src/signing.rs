//! Making keys and signatures, for authors.

use std::fmt;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fs_err::os::unix::fs::OpenOptionsExt as _;
use minisign::{KeyPair, PError, SecretKeyBox};
use ringfence_core::Secret;
use ringfence_store::unix_milliseconds;
use thiserror::Error;

use crate::key::{KeyError, PublicKey};
use crate::reading;
use crate::rotation::Rotation;

/// How an encrypted key begins: Ed25519, scrypt.
const ENCRYPTED: &[u8] = b"EdSc";
/// How a key begins that is not encrypted.
const UNENCRYPTED: &[u8] = b"Ed\0\0";

/// A key that packages are signed with. Its `Debug` form hides it.
pub struct SecretKey(minisign::SecretKey);

/// Why a key or a signature could not be made.
#[derive(Debug, Error)]
pub enum SigningError {
    /// There is a file of that name.
    #[error("{} is there already: choose another name, a lost key cannot be made again", .0.display())]
    Exists(PathBuf),
    /// The secret key cannot be read.
    #[error("{} is not a secret key of minisign: give the `.key` file that `ringfence key generate` made", .0.display())]
    NotSecretKey(PathBuf),
    /// The secret key is encrypted.
    #[error("{} is encrypted: give its password", .0.display())]
    PasswordNeeded(PathBuf),
    /// The password does not open it.
    #[error("{} cannot be opened with this password: try again", .0.display())]
    WrongPassword(PathBuf),
    /// The comment would not be what was meant.
    #[error("{0:?} has a control character, so it cannot stand in a trusted comment: rename the file")]
    FileName(String),
    /// The name is none for two files.
    #[error("{0:?} cannot be the name of a key: take one without control characters that does not begin with a dot")]
    Name(String),
    /// The library failed.
    #[error("minisign failed: {0}")]
    Minisign(#[from] PError),
    /// The public half of a new key cannot be read back.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// A file operation failed; the cause names the file.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// Makes a key, writes its halves to `NAME.key` (for the owner only) and `NAME.pub` in `folder`, and returns the public
/// one. Without a `password` the secret half is not encrypted: whoever reads the file can sign.
///
/// # Errors
/// [`SigningError::Name`]; [`SigningError::Exists`]: no key is ever overwritten.
pub fn generate(folder: &Path, name: &str, password: Option<&Secret>) -> Result<PublicKey, SigningError> {
    if !names_files(name) {
        return Err(SigningError::Name(name.to_owned()));
    }
    let pair = match password {
        Some(password) => KeyPair::generate_encrypted_keypair(Some(password.expose().to_owned()))?,
        None => KeyPair::generate_unencrypted_keypair()?,
    };
    let paths = [format!("{name}.key"), format!("{name}.pub")].map(|file| folder.join(file));
    if let Some(there) = paths.iter().find(|path| path.exists()) {
        return Err(SigningError::Exists(there.clone()));
    }
    let public = PublicKey::parse(&pair.pk.to_box()?.into_string())?;
    let comment = format!("ringfence secret key {}", public.id());
    create(&paths[0], 0o600, &pair.sk.to_box(Some(&comment))?.to_bytes())?;
    create(&paths[1], 0o644, &pair.pk.to_box()?.to_bytes())?;
    Ok(public)
}

/// Whether `NAME.key` is a file that a listing shows under that name, in this folder or another.
fn names_files(name: &str) -> bool {
    let last = name.rsplit('/').next().unwrap_or_default();
    !last.is_empty() && !last.starts_with('.') && !name.chars().any(char::is_control)
}

impl SecretKey {
    /// Reads a `.key` file, ours or stock minisign's.
    ///
    /// # Errors
    /// [`SigningError::PasswordNeeded`] when the key is encrypted and there is no `password`.
    pub fn read(path: &Path, password: Option<&Secret>) -> Result<Self, SigningError> {
        let text = reading::text_or_pipe(path)?;
        let not_a_key = || SigningError::NotSecretKey(path.to_owned());
        let bytes = text.lines().nth(1).and_then(|line| STANDARD.decode(line).ok()).ok_or_else(not_a_key)?;
        if bytes.starts_with(ENCRYPTED) {
            let password = password.ok_or_else(|| SigningError::PasswordNeeded(path.to_owned()))?;
            let key = SecretKeyBox::from(text).into_secret_key(Some(password.expose().to_owned()));
            return key.map(Self).map_err(|_| SigningError::WrongPassword(path.to_owned()));
        }
        if !bytes.starts_with(UNENCRYPTED) {
            return Err(not_a_key());
        }
        // Read as bytes, because stock minisign leaves the checksum of such a key empty and the library insists on it.
        minisign::SecretKey::from_bytes(&bytes).map(Self).map_err(|_| not_a_key())
    }

    /// Signs `package`. The trusted comment names when, the file and the version, so that a signature cannot be passed
    /// off as that of another file without anybody being able to see it.
    ///
    /// # Errors
    /// [`SigningError::FileName`] when the name cannot stand in a comment.
    pub fn sign(&self, package: &[u8], file_name: &str, version: &str) -> Result<String, SigningError> {
        if file_name.chars().chain(version.chars()).any(char::is_control) {
            return Err(SigningError::FileName(file_name.to_owned()));
        }
        self.signature(package, &format!("file:{file_name}\thashed\tversion:{version}"))
    }

    /// Signs that `to` takes the place of this key. Gives the statement and its signature.
    ///
    /// # Errors
    /// When the library fails.
    pub fn sign_rotation(&self, to: PublicKey) -> Result<(String, String), SigningError> {
        let own = minisign::PublicKey::from_secret_key(&self.0)?;
        let from = PublicKey::parse(&own.to_box()?.into_string())?.id();
        let statement = Rotation { from, to }.to_text();
        let signature = self.signature(statement.as_bytes(), "hashed\tkey rotation")?;
        Ok((statement, signature))
    }

    /// A signature of `bytes` whose trusted comment says when it was made, and `about`.
    fn signature(&self, bytes: &[u8], about: &str) -> Result<String, SigningError> {
        let trusted = format!("timestamp:{}\t{about}", unix_milliseconds() / 1000);
        // With its public half the library checks what it made, so a damaged key signs nothing.
        let public = minisign::PublicKey::from_secret_key(&self.0)?;
        let signed = minisign::sign(Some(&public), &self.0, bytes, Some(&trusted), Some("signature by ringfence"))?;
        Ok(signed.into_string())
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey(…)")
    }
}

/// Writes a file that must not be there yet.
fn create(path: &Path, mode: u32, contents: &[u8]) -> io::Result<()> {
    let mut file = fs_err::OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    file.write_all(contents)?;
    file.sync_all()
}
