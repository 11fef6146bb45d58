//! The places where secrets can live, how the operator chooses one, and how that choice is shown.

use std::fmt;
use std::path::PathBuf;

use ringfence_core::Secret;
use serde::{Deserialize, Serialize};

/// Where secrets live.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// The keyring of the operating system: the Secret Service on Linux, the login keychain on macOS.
    Keyring,
    /// The keyring of the Linux kernel. Its contents are lost with a reboot, and earlier where the kernel drops a
    /// user's keyring that nobody touched for some days (`/proc/sys/kernel/keys/persistent_keyring_expiry`).
    Kernel,
    /// An encrypted file in the vault's folder.
    File,
}

/// What the key of the encrypted file comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeySource {
    /// A file of 32 random bytes beside it. It protects copies of the encrypted file alone, not of the whole folder.
    KeyFile,
    /// A systemd credential.
    Credential,
    /// A passphrase.
    Passphrase,
}

/// A place with all that is needed to use it.
#[derive(Clone, Debug)]
pub enum Choice {
    /// [`Place::Keyring`].
    Keyring,
    /// [`Place::Kernel`].
    Kernel,
    /// [`Place::File`], with its key.
    File(FileKey),
}

/// What opens the encrypted file.
#[derive(Clone, Debug)]
pub enum FileKey {
    /// The key file in the vault's folder, made with the first secret.
    KeyFile,
    /// The file of a systemd credential, such as `$CREDENTIALS_DIRECTORY/ringfence`.
    Credential(PathBuf),
    /// A passphrase.
    Passphrase(Secret),
}

/// The place that was chosen, as it is recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Location {
    /// The place.
    pub place: Place,
    /// Where the key comes from, for [`Place::File`].
    pub key: Option<KeySource>,
    /// Who chose it, and why: for the operator's eyes.
    pub chosen: String,
}

impl Choice {
    /// The place alone.
    pub fn place(&self) -> Place {
        match self {
            Self::Keyring => Place::Keyring,
            Self::Kernel => Place::Kernel,
            Self::File(_) => Place::File,
        }
    }

    /// The source of the key, where there is one.
    pub fn key(&self) -> Option<KeySource> {
        match self {
            Self::File(key) => Some(key.source()),
            Self::Keyring | Self::Kernel => None,
        }
    }
}

impl FileKey {
    /// What the key comes from.
    pub fn source(&self) -> KeySource {
        match self {
            Self::KeyFile => KeySource::KeyFile,
            Self::Credential(_) => KeySource::Credential,
            Self::Passphrase(_) => KeySource::Passphrase,
        }
    }
}

impl Location {
    pub(crate) fn new(choice: &Choice, chosen: String) -> Self {
        Self { place: choice.place(), key: choice.key(), chosen }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Keyring => "the system keyring",
            Self::Kernel => "the kernel keyring, whose secrets are lost with a reboot",
            Self::File => "the encrypted file",
        })
    }
}

impl fmt::Display for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::KeyFile => "the key file",
            Self::Credential => "a systemd credential",
            Self::Passphrase => "a passphrase",
        })
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", described(self.place, self.key))
    }
}

/// A place with its key, in words.
pub(crate) fn described(place: Place, key: Option<KeySource>) -> String {
    match key {
        Some(key) => format!("{place} with {key}"),
        None => place.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_says_that_it_forgets_and_the_file_what_opens_it() {
        let kernel = Location::new(&Choice::Kernel, "by the operator".into());
        assert!(kernel.to_string().contains("lost with a reboot"));
        let file =
            Location::new(&Choice::File(FileKey::Passphrase(Secret::new("hunter2hunter2".into()))), String::new());
        assert_eq!(file.to_string(), "the encrypted file with a passphrase");
    }

    #[test]
    fn a_choice_hides_its_passphrase() {
        let choice = Choice::File(FileKey::Passphrase(Secret::new("hunter2hunter2".into())));
        assert!(!format!("{choice:?}").contains("hunter2"));
    }
}
