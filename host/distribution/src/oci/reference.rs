//! What a package in a registry is called: `HOST[:PORT]/REPOSITORY[:TAG][@sha256:DIGEST]`.

use std::fmt;
use std::str::FromStr;

use ringfence_store::Digest;
use thiserror::Error;

/// The longest name of a repository, in bytes; with the host it is what registries allow.
const MAX_REPOSITORY: usize = 255;

/// The longest tag, in bytes (distribution specification 1.1).
const MAX_TAG: usize = 128;

/// A package in a registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Host and, where it is not the usual one, port.
    pub registry: String,
    /// The repository in it.
    pub repository: String,
    /// The tag; without tag and digest, the highest version is meant.
    pub tag: Option<String>,
    /// The digest of the manifest, which is then all that counts.
    pub digest: Option<Digest>,
}

/// Why a text is no reference.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ReferenceError {
    /// Nothing behind the host.
    #[error("`{0}` names no repository: write oci://HOST/REPOSITORY")]
    NoRepository(String),
    /// Not a host.
    #[error("`{0}` is not the host of a registry: write a name, or an address, and a port where it is not 443")]
    Registry(String),
    /// Not a repository.
    #[error("`{0}` is not a repository: use lower-case letters, digits and . _ - between slashes")]
    Repository(String),
    /// Not a tag.
    #[error("`{0}` is not a tag: use at most {MAX_TAG} letters, digits, dots, hyphens and underscores")]
    Tag(String),
    /// Not a digest.
    #[error("`{0}` is not a digest: write `sha256:` and 64 lower-case hexadecimal digits")]
    Digest(String),
}

impl Reference {
    /// Whether it is on this machine, where plain HTTP can be read by nobody else.
    pub fn is_loopback(&self) -> bool {
        let url = url::Url::parse(&format!("https://{}/", self.registry)).ok();
        match url.as_ref().and_then(url::Url::host) {
            Some(url::Host::Domain(name)) => name == "localhost",
            Some(url::Host::Ipv4(address)) => address.is_loopback(),
            Some(url::Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        }
    }

    /// The host that answers for it. Docker's own is called otherwise than its images say.
    pub(crate) fn host(&self) -> &str {
        if self.registry == "docker.io" { "registry-1.docker.io" } else { &self.registry }
    }
}

impl FromStr for Reference {
    type Err = ReferenceError;

    fn from_str(text: &str) -> Result<Self, ReferenceError> {
        let (named, digest) = match text.split_once('@') {
            Some((named, digest)) => (named, Some(digest_of(digest)?)),
            None => (text, None),
        };
        let (registry, rest) = named.split_once('/').ok_or_else(|| ReferenceError::NoRepository(text.to_owned()))?;
        let (repository, tag) = match rest.split_once(':') {
            Some((repository, tag)) => (repository, Some(tag.to_owned())),
            None => (rest, None),
        };
        if !is_registry(registry) {
            return Err(ReferenceError::Registry(registry.to_owned()));
        }
        if !is_repository(repository) {
            return Err(ReferenceError::Repository(repository.to_owned()));
        }
        if let Some(tag) = tag.as_ref().filter(|tag| !is_tag(tag)) {
            return Err(ReferenceError::Tag(tag.clone()));
        }
        Ok(Self { registry: registry.to_ascii_lowercase(), repository: repository.to_owned(), tag, digest })
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.registry, self.repository)?;
        self.tag.iter().try_for_each(|tag| write!(f, ":{tag}"))?;
        self.digest.iter().try_for_each(|digest| write!(f, "@{}", algorithm_and(digest)))
    }
}

/// A digest as registries write it.
pub(crate) fn algorithm_and(digest: &Digest) -> String {
    format!("sha256:{digest}")
}

/// The digest that `text` writes as registries do.
pub(crate) fn digest_of(text: &str) -> Result<Digest, ReferenceError> {
    let digest = text.strip_prefix("sha256:").and_then(|hex| hex.parse().ok());
    digest.ok_or_else(|| ReferenceError::Digest(text.to_owned()))
}

fn is_registry(text: &str) -> bool {
    let url = url::Url::parse(&format!("https://{text}/"));
    let plain = !text.is_empty() && text.bytes().all(|c| c.is_ascii_alphanumeric() || b"-.:[]".contains(&c));
    plain && url.is_ok_and(|url| url.username().is_empty() && url.port_or_known_default() != Some(0))
}

/// Components of lower-case letters and digits, in which a separator stands only between two of them.
fn is_repository(text: &str) -> bool {
    let component = |part: &str| {
        let plain = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit();
        part.bytes().next().is_some_and(plain)
            && part.bytes().last().is_some_and(plain)
            && part.bytes().all(|c| plain(c) || b"._-".contains(&c))
            && !part.contains("..")
    };
    text.len() <= MAX_REPOSITORY && text.split('/').all(component)
}

fn is_tag(text: &str) -> bool {
    let word = |c: u8| c.is_ascii_alphanumeric() || c == b'_';
    text.len() <= MAX_TAG
        && text.bytes().next().is_some_and(word)
        && text.bytes().all(|c| word(c) || b".-".contains(&c))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DIGEST: &str = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    #[test]
    fn parts_are_told_apart() {
        for (text, registry, repository, tag, pinned) in [
            ("ghcr.io/acme/weather", "ghcr.io", "acme/weather", None, false),
            ("127.0.0.1:5000/w:1.2.0", "127.0.0.1:5000", "w", Some("1.2.0"), false),
            ("[::1]:5000/a/b__c:x", "[::1]:5000", "a/b__c", Some("x"), false),
            (&format!("Localhost/w@{DIGEST}"), "localhost", "w", None, true),
            (&format!("r.example/w:1@{DIGEST}"), "r.example", "w", Some("1"), true),
        ] {
            let reference: Reference = text.parse().unwrap();
            assert_eq!((reference.registry.as_str(), reference.repository.as_str()), (registry, repository), "{text}");
            assert_eq!((reference.tag.as_deref(), reference.digest.is_some()), (tag, pinned), "{text}");
            assert_eq!(reference.to_string(), text.to_ascii_lowercase());
        }
    }

    #[test]
    fn what_is_none_is_refused() {
        use ReferenceError::*;
        for (text, error) in [
            ("weather", NoRepository("weather".into())),
            ("u:p@x.example/w", Digest("x.example/w".into())),
            ("a b/w", Registry("a b".into())),
            ("/w", Registry(String::new())),
            ("x.example:0/w", Registry("x.example:0".into())),
            ("x.example/", Repository(String::new())),
            ("x.example/W", Repository("W".into())),
            ("x.example/a/../b", Repository("a/../b".into())),
            ("x.example/a//b", Repository("a//b".into())),
            ("x.example/w:", Tag(String::new())),
            ("x.example/w:-1", Tag("-1".into())),
            ("x.example/w@md5:0", Digest("md5:0".into())),
        ] {
            assert_eq!(text.parse::<Reference>(), Err(error), "{text}");
        }
    }

    #[test]
    fn loopback_is_this_machine_only() {
        let is = |registry: &str| format!("{registry}/w").parse::<Reference>().unwrap().is_loopback();
        assert!(["localhost", "localhost:5000", "127.0.0.1", "127.9.9.9:80", "[::1]:5000"].into_iter().all(is));
        assert!(!["localhost.example", "10.0.0.1:5000", "127.0.0.1.example", "[::2]:80"].into_iter().any(is));
    }

    proptest! {
        #[test]
        fn a_reference_is_its_text(text in "[a-z.:/@_-]{0,30}", wild in "\\PC{0,40}") {
            for text in [format!("r.example/{text}"), wild] {
                if let Ok(reference) = text.parse::<Reference>() {
                    prop_assert_eq!(reference.to_string().parse::<Reference>(), Ok(reference));
                }
            }
        }
    }
}
