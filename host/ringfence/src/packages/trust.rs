//! Whose signatures count.

use ringfence_package::{
    KeyError, KeyId, PackageError, PackageFile, RotationError, Signature, SourcePattern, TrustAnchor, TrustError,
    TrustStore, TrustedKey,
};

use super::{Packages, refused};
use crate::request::{ErrorKind, KeyEntry, LeftBehind, RequestError, TrustReport, VerifyReport};

impl Packages {
    pub(super) fn trust(&self, key: &str, publisher: &str, names: Vec<String>) -> Result<TrustReport, RequestError> {
        let key = TrustAnchor::parse(key).map_err(distrusted)?;
        let patterns = names.into_iter().map(|name| name.parse::<SourcePattern>()).collect::<Result<Vec<_>, _>>();
        // Names are added, never taken away: that would stop tools that nobody spoke of.
        let known = self.trust_store().list().map_err(distrusted)?;
        let before = known.into_iter().find(|known| known.key.id() == key.id());
        let mut names = before.as_ref().map_or_else(Vec::new, |before| before.sources.clone());
        let mut added = Vec::new();
        for pattern in patterns.map_err(distrusted)? {
            if !names.contains(&pattern) {
                added.push(pattern.to_string());
                names.push(pattern);
            }
        }
        let trusted = self.trust_store().add(key, publisher, &names).map_err(distrusted)?;
        self.restart()?;
        let other_root = before.as_ref().is_some_and(|before| before.key != trusted.key);
        Ok(TrustReport { key: self.key_entry(&trusted)?, known: before.is_some(), added, other_root })
    }

    pub(super) fn keys(&self) -> Result<Vec<KeyEntry>, RequestError> {
        let keys = self.trust_store().list().map_err(distrusted)?;
        keys.iter().map(|key| self.key_entry(key)).collect()
    }

    pub(super) fn rename(&self, key_id: &str, publisher: &str) -> Result<Vec<KeyEntry>, RequestError> {
        let id = key_id.parse().map_err(|error: KeyError| distrusted(error.into()))?;
        let renamed = self.trust_store().rename(id, publisher).map_err(distrusted)?;
        Ok(vec![self.key_entry(&renamed)?])
    }

    /// Takes a publisher's change of keys, and gives the new key.
    pub(super) fn rotate(&self, statement: &str, signature: &str) -> Result<Vec<KeyEntry>, RequestError> {
        let new = self.trust_store().rotate(statement, signature.as_bytes()).map_err(not_rotated)?;
        self.restart()?;
        Ok(vec![self.key_entry(&new)?])
    }

    /// Revokes a key, and says what of the packages that it signed is left.
    pub(super) fn revoke(&self, key_id: &str, reason: &str) -> Result<Vec<LeftBehind>, RequestError> {
        let id: KeyId = key_id.parse().map_err(|error: KeyError| distrusted(error.into()))?;
        self.trust_store().revoke(id, reason).map_err(distrusted)?;
        self.restart()?;
        let signed = self.installer.inventory().map_err(refused)?.installed;
        let signed = signed.iter().filter(|installed| installed.key_id() == Some(id.to_string().as_str()));
        Ok(signed.map(|installed| self.left_behind(installed.source())).collect())
    }

    pub(super) fn verify(&self, file: &std::path::Path) -> Result<VerifyReport, RequestError> {
        let file = PackageFile::read(file).map_err(refused)?;
        let signature = file.signature.ok_or_else(|| refused(PackageError::SignatureMissing))?;
        let signature = Signature::parse(&signature).map_err(|error| refused(error.into()))?;
        let key = self.trust_store().signer(&signature).map_err(|error| refused(error.into()))?;
        signature.verify(&file.component, &key.key).map_err(|error| refused(error.into()))?;
        Ok(VerifyReport {
            key_id: key.key.id().to_string(),
            identity: key.key.identity().cloned(),
            publisher: key.publisher,
            trusted_comment: signature.trusted_comment().map(str::to_owned),
        })
    }

    fn trust_store(&self) -> TrustStore<'_> {
        TrustStore::new(self.installer.store().database())
    }

    fn key_entry(&self, key: &TrustedKey) -> Result<KeyEntry, RequestError> {
        Ok(KeyEntry {
            key_id: key.key.id().to_string(),
            identity: key.key.identity().cloned(),
            own_root: key.key.has_own_root(),
            publisher: key.publisher.clone(),
            names: key.sources.iter().map(ToString::to_string).collect(),
            revoked: key.revoked.as_ref().map(|revocation| revocation.reason.clone()),
            successor: self.trust_store().successor(key.key.id()).map_err(distrusted)?,
        })
    }
}

fn distrusted(error: TrustError) -> RequestError {
    let kind = match &error {
        TrustError::NoSuchKey(_) => ErrorKind::NotFound,
        TrustError::Pattern(_) | TrustError::Text(..) | TrustError::Key(KeyError::Id(_)) => ErrorKind::Usage,
        TrustError::Identity(_) => ErrorKind::Usage,
        TrustError::Store(_) => ErrorKind::Failed,
        _ => ErrorKind::Refused,
    };
    RequestError::new(kind, error.code(), &error)
}

fn not_rotated(error: RotationError) -> RequestError {
    match error {
        RotationError::Trust(error) => distrusted(error),
        error => RequestError::new(ErrorKind::Refused, error.code(), &error),
    }
}
