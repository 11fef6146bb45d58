//! The place of a package, as a text that people write and that is remembered.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use ringfence_core::SourceName;
use ringfence_egress::{Target, TargetError};
use ringfence_store::Digest;
use semver::Version;
use thiserror::Error;

use crate::oci::reference::{Reference, ReferenceError, algorithm_and, digest_of};

/// The place of a package.
///
/// | text | what it is |
/// |---|---|
/// | `weather.wasm`, `file:///srv/weather.wasm` | a file |
/// | `https://x.example/weather.wasm` | a download; with `#sha256:…` of just these bytes |
/// | `oci://x.example/team/weather:1.2.0` | in a registry, by tag, by `@sha256:…`, or, without both, the highest version |
/// | `/srv/packages#weather`, `https://x.example/index.json#weather@1.2.0` | listed in the index of a folder or a site |
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// A file. Its signature stands beside it.
    File(PathBuf),
    /// A download.
    Url {
        /// Where.
        target: Target,
        /// SHA-256 of the component, where only that one is meant.
        digest: Option<Digest>,
    },
    /// In a registry.
    Oci(Reference),
    /// Listed in an index.
    Listed {
        /// Where the index is.
        index: IndexPlace,
        /// The package in it.
        name: SourceName,
        /// Its version; without one the highest is meant.
        version: Option<Version>,
    },
}

/// Where an index is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexPlace {
    /// A folder that `publish` has filled.
    Folder(PathBuf),
    /// The `index.json` of such a folder, served over HTTP.
    Url(Target),
}

/// Why a text is no location.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LocationError {
    /// Nothing.
    #[error("the location is empty: give a file, a folder, https://… or oci://…")]
    Empty,
    /// A scheme that nothing is fetched by.
    #[error("nothing is fetched by `{0}://`: give a file, a folder, https://… or oci://…")]
    Scheme(String),
    /// Not a URL that can be sent.
    #[error(transparent)]
    Url(#[from] TargetError),
    /// Not a reference to a registry.
    #[error(transparent)]
    Reference(#[from] ReferenceError),
    /// `file://` and something that is no path.
    #[error("`{0}` names no file on this machine: write file:///PATH")]
    File(String),
    /// What stands behind `#` means nothing.
    #[error("`#{0}` means nothing: behind `#` stands NAME or NAME@VERSION of an index, or sha256:DIGEST of a download")]
    Fragment(String),
}

impl Location {
    /// Whether there is nothing newer at the same location, because it names the very bytes.
    pub fn is_pinned(&self) -> bool {
        match self {
            Self::Url { digest, .. } => digest.is_some(),
            Self::Oci(reference) => reference.digest.is_some(),
            Self::Listed { version, .. } => version.is_some(),
            Self::File(_) => false,
        }
    }

    /// The same, so that it can be found from another folder too.
    ///
    /// # Errors
    /// When the present folder is gone.
    pub fn absolute(self) -> io::Result<Self> {
        Ok(match self {
            Self::File(path) => Self::File(std::path::absolute(path)?),
            Self::Listed { index: IndexPlace::Folder(path), name, version } => {
                Self::Listed { index: IndexPlace::Folder(std::path::absolute(path)?), name, version }
            }
            other => other,
        })
    }
}

impl FromStr for Location {
    type Err = LocationError;

    fn from_str(text: &str) -> Result<Self, LocationError> {
        if let Some(reference) = text.strip_prefix("oci://") {
            return Ok(Self::Oci(reference.parse()?));
        }
        let (place, fragment) = match text.rsplit_once('#') {
            Some((place, fragment)) => (place, Some(fragment)),
            None => (text, None),
        };
        let place: IndexPlace = place.parse()?;
        if let Some((name, version)) = fragment.and_then(name_and_version) {
            return Ok(Self::Listed { index: place, name, version });
        }
        match place {
            IndexPlace::Url(target) => {
                let digest = fragment.map(|text| digest_of(text).map_err(|_| LocationError::Fragment(text.into())));
                Ok(Self::Url { target, digest: digest.transpose()? })
            }
            // A file's name may have a `#` in it.
            IndexPlace::Folder(_) => Ok(Self::File(path_of(text)?)),
        }
    }
}

impl FromStr for IndexPlace {
    type Err = LocationError;

    fn from_str(text: &str) -> Result<Self, LocationError> {
        match text.split_once("://") {
            None | Some(("file", _)) => Ok(Self::Folder(path_of(text)?)),
            Some((scheme, _)) if ["http", "https"].contains(&scheme.to_ascii_lowercase().as_str()) => {
                Ok(Self::Url(Target::parse(text)?))
            }
            Some((scheme, _)) => Err(LocationError::Scheme(scheme.to_owned())),
        }
    }
}

fn path_of(text: &str) -> Result<PathBuf, LocationError> {
    if text.is_empty() {
        return Err(LocationError::Empty);
    }
    if !text.starts_with("file://") {
        return Ok(Path::new(text).to_owned());
    }
    let path = url::Url::parse(text).ok().and_then(|url| url.to_file_path().ok());
    path.ok_or_else(|| LocationError::File(text.to_owned()))
}

fn name_and_version(text: &str) -> Option<(SourceName, Option<Version>)> {
    let (name, version) = match text.split_once('@') {
        Some((name, version)) => (name, Some(version.parse().ok()?)),
        None => (text, None),
    };
    Some((name.to_owned().try_into().ok()?, version))
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Url { target, digest } => {
                write!(f, "{}", target.url())?;
                digest.iter().try_for_each(|digest| write!(f, "#{}", algorithm_and(digest)))
            }
            Self::Oci(reference) => write!(f, "oci://{reference}"),
            Self::Listed { index, name, version } => {
                write!(f, "{index}#{name}")?;
                version.iter().try_for_each(|version| write!(f, "@{version}"))
            }
        }
    }
}

impl fmt::Display for IndexPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(path) => write!(f, "{}", path.display()),
            Self::Url(target) => write!(f, "{}", target.url()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HEX: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    fn kind(text: &str) -> &'static str {
        match text.parse::<Location>() {
            Ok(Location::File(_)) => "file",
            Ok(Location::Url { digest: None, .. }) => "url",
            Ok(Location::Url { .. }) => "url by digest",
            Ok(Location::Oci(_)) => "oci",
            Ok(Location::Listed { index: IndexPlace::Folder(_), .. }) => "in a folder",
            Ok(Location::Listed { index: IndexPlace::Url(_), .. }) => "on a site",
            Err(_) => "none",
        }
    }

    #[test]
    fn kinds_are_told_apart_by_their_form() {
        for (text, expected) in [
            ("weather.wasm", "file"),
            ("../a b/weather.wasm", "file"),
            ("weird#name.wasm", "file"),
            ("file:///srv/a%20b.wasm", "file"),
            ("https://x.example/weather.wasm", "url"),
            ("HTTPS://x.example/weather.wasm", "url"),
            (&format!("http://x.example/w.wasm#sha256:{HEX}"), "url by digest"),
            ("oci://x.example/w:1", "oci"),
            ("/srv/packages#weather", "in a folder"),
            ("packages#weather@1.2.0", "in a folder"),
            ("file:///srv/packages#weather", "in a folder"),
            ("https://x.example/index.json#weather", "on a site"),
            ("", "none"),
            ("ftp://x.example/w.wasm", "none"),
            ("https://u:p@x.example/w.wasm", "none"),
            ("https://x.example/w.wasm#sha256:12", "none"),
            ("https://x.example/w.wasm#W", "none"),
            ("file://elsewhere/w.wasm", "none"),
            ("oci://weather", "none"),
        ] {
            assert_eq!(kind(text), expected, "{text}");
        }
    }

    #[test]
    fn what_names_the_very_bytes_is_pinned() {
        let pinned = |text: &str| text.parse::<Location>().unwrap().is_pinned();
        assert!(!pinned("oci://x.example/w") && !pinned("oci://x.example/w:1") && !pinned("w.wasm"));
        assert!(pinned(&format!("oci://x.example/w@sha256:{HEX}")) && pinned("/srv#w@1.0.0"));
        assert!(pinned(&format!("https://x.example/w#sha256:{HEX}")));
    }

    #[test]
    fn a_relative_path_is_remembered_as_a_full_one() {
        let location = "packages#weather".parse::<Location>().unwrap().absolute().unwrap();
        assert_eq!(location.to_string().parse(), Ok(location.clone()));
        assert!(location.to_string().starts_with('/'));
    }

    proptest! {
        #[test]
        fn a_location_is_its_text(wild in "\\PC{0,40}", tail in "[a-z0-9:/#@.]{0,20}") {
            for text in [wild, format!("https://x.example/{tail}"), format!("/srv/{tail}"), format!("oci://x.example/{tail}")] {
                if let Ok(location) = text.parse::<Location>() {
                    prop_assert_eq!(location.to_string().parse::<Location>(), Ok(location), "{}", text);
                }
            }
        }
    }
}
