//! What a name may become, given what it was: no silent step back, no silent change of hands.
//!
//! A signature proves who made a package, not that it is the newest one: an old release with a known hole stays validly
//! signed for ever. So the highest version, its contents and its signer are remembered, through removal too.

use ringfence_core::SourceName;
use ringfence_store::{Digest, Pin};
use semver::Version;

use crate::error::PackageError;
use crate::install::InstallOptions;
use crate::key::{Signer, UNSIGNED};

/// What is about to be installed.
pub(crate) struct Candidate<'a> {
    pub(crate) source: &'a SourceName,
    pub(crate) version: &'a Version,
    pub(crate) digest: Digest,
    pub(crate) publisher: &'a str,
    pub(crate) signer: Signer,
}

impl Candidate<'_> {
    /// Checks the candidate against what the name was before. `succeeds` says whether its signer's key took the place of
    /// that of the pin.
    pub(crate) fn check(&self, pin: &Pin, succeeds: bool, options: &InstallOptions) -> Result<(), PackageError> {
        self.check_signer(pin, succeeds, options)?;
        self.check_version(pin, options)
    }

    /// The pin that stands once the candidate is installed: it never falls back.
    pub(crate) fn pin(&self, before: Option<Pin>) -> Pin {
        let falls_back = |pin: &Pin| self.version.cmp_precedence(&pin.version).is_lt();
        let (version, digest) = match before.filter(falls_back) {
            Some(pin) => (pin.version, pin.digest),
            None => (self.version.clone(), self.digest),
        };
        let key_id = match self.signer {
            Signer::Key(id) => Some(id.to_string()),
            Signer::Unsigned => None,
        };
        Pin { source: self.source.clone(), version, digest, publisher: self.publisher.to_owned(), key_id }
    }

    /// The signer has to be the same, or have taken the place of the other by that one's own word. An unsigned package belongs to whom its manifest names: that is a claim, so it
    /// may turn into a signature of that publisher, never the other way round.
    fn check_signer(&self, pin: &Pin, succeeds: bool, options: &InstallOptions) -> Result<(), PackageError> {
        let same = match (&pin.key_id, self.signer) {
            (Some(pinned), Signer::Key(id)) => succeeds || *pinned == id.to_string(),
            (Some(_), Signer::Unsigned) => false,
            (None, _) => pin.publisher == self.publisher,
        };
        if same || options.accept_signer == Some(self.signer) {
            return Ok(());
        }
        Err(PackageError::SignerChanged {
            source_name: self.source.clone(),
            pinned: describe(&pin.publisher, pin.key_id.as_deref().unwrap_or(UNSIGNED)),
            offered: describe(self.publisher, &self.signer.to_string()),
            signer: self.signer,
        })
    }

    fn check_version(&self, pin: &Pin, options: &InstallOptions) -> Result<(), PackageError> {
        // Precedence leaves build metadata out: `1.0.0+b` is the same version as `1.0.0+a`.
        let order = self.version.cmp_precedence(&pin.version);
        if order.is_lt() && !options.allow_downgrade {
            return Err(PackageError::Older {
                source_name: self.source.clone(),
                offered: self.version.clone(),
                highest: pin.version.clone(),
            });
        }
        if order.is_eq() && self.digest != pin.digest {
            return Err(PackageError::SameVersion {
                source_name: self.source.clone(),
                version: self.version.clone(),
                pinned: pin.digest.to_string(),
                offered: self.digest.to_string(),
            });
        }
        Ok(())
    }
}

fn describe(publisher: &str, signer: &str) -> String {
    format!("{publisher} ({signer})")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::KeyId;

    const OLD: &str = "00000000000000AA";
    const NEW: &str = "00000000000000BB";

    fn pin(version: &str, key_id: Option<&str>) -> Pin {
        Pin {
            source: "weather".to_owned().try_into().unwrap(),
            version: version.parse().unwrap(),
            digest: Digest::of(b"pinned"),
            publisher: "acme".into(),
            key_id: key_id.map(str::to_owned),
        }
    }

    fn key(id: &str) -> Signer {
        Signer::Key(id.parse::<KeyId>().unwrap())
    }

    fn check(pin: &Pin, version: &str, signer: Signer, publisher: &str, options: &InstallOptions) -> &'static str {
        let version = version.parse().unwrap();
        let candidate =
            Candidate { source: &pin.source, version: &version, digest: Digest::of(b"new"), publisher, signer };
        candidate.check(pin, false, options).map_or_else(|error| error.code(), |()| "ok")
    }

    #[test]
    fn versions_only_go_up() {
        let strict = InstallOptions::default();
        let downgrade = InstallOptions { allow_downgrade: true, ..InstallOptions::default() };
        let pin = pin("1.2.0", Some(OLD));
        for (version, expected, with_flag) in [
            ("1.1.9", "install.older", "ok"),
            ("1.2.0", "install.same_version", "install.same_version"),
            ("1.2.0+rebuilt", "install.same_version", "install.same_version"),
            ("1.2.0-rc.1", "install.older", "ok"),
            ("1.10.0", "ok", "ok"),
        ] {
            assert_eq!(check(&pin, version, key(OLD), "acme", &strict), expected, "{version}");
            assert_eq!(check(&pin, version, key(OLD), "acme", &downgrade), with_flag, "{version}");
        }
    }

    #[test]
    fn a_name_does_not_change_hands_silently() {
        let strict = InstallOptions::default();
        let (signed, unsigned) = (pin("1.0.0", Some(OLD)), pin("1.0.0", None));
        for (pin, signer, publisher, expected) in [
            (&signed, key(OLD), "renamed", "ok"),
            (&signed, key(NEW), "acme", "install.signer_changed"),
            (&signed, Signer::Unsigned, "acme", "install.signer_changed"),
            (&unsigned, Signer::Unsigned, "acme", "ok"),
            (&unsigned, Signer::Unsigned, "mallory", "install.signer_changed"),
            (&unsigned, key(NEW), "acme", "ok"),
            (&unsigned, key(NEW), "mallory", "install.signer_changed"),
        ] {
            assert_eq!(check(pin, "1.1.0", signer, publisher, &strict), expected, "{pin:?} {signer}");
            let accepted = InstallOptions { accept_signer: Some(signer), ..InstallOptions::default() };
            assert_eq!(check(pin, "1.1.0", signer, publisher, &accepted), "ok");
            // Accepting one signer accepts no other, and no older version.
            let other = InstallOptions { accept_signer: Some(key("00000000000000CC")), ..InstallOptions::default() };
            assert_eq!(check(pin, "1.1.0", signer, publisher, &other), expected);
            assert_eq!(check(pin, "0.9.0", signer, publisher, &accepted), "install.older");
        }
    }

    #[test]
    fn a_pin_never_falls_back() {
        let before = pin("1.2.0", Some(OLD));
        let version = Version::new(1, 0, 0);
        let candidate = Candidate {
            source: &before.source,
            version: &version,
            digest: Digest::of(b"new"),
            publisher: "acme",
            signer: key(NEW),
        };
        let after = candidate.pin(Some(before.clone()));
        assert_eq!((after.version, after.digest), (before.version, before.digest));
        assert_eq!(after.key_id.as_deref(), Some(NEW));
        assert_eq!(candidate.pin(None).version, version);
    }
}
