//! The rows of installed tools.

use ringfence_core::SourceName;
use rusqlite::{OptionalExtension as _, Row, Transaction, params};
use semver::Version;

use crate::database::{Database, parsed};
use crate::digest::Digest;
use crate::error::StoreError;
use crate::pins::{Pin, put_pin};

/// What is recorded of an installed package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstalledRow {
    /// The name that the operator installed it under.
    pub source: SourceName,
    /// Version of the package.
    pub version: Version,
    /// Who made it.
    pub publisher: String,
    /// SHA-256 of the component.
    pub digest: Digest,
    /// Who signed it, and how; `None` marks an unsigned package.
    pub signed: Option<Signed>,
    /// Whether the operator believes what its tools say of their effects.
    pub effects_accepted: bool,
    /// Milliseconds since the Unix epoch.
    pub installed_at: u64,
    /// The manifest, as the package holds it.
    pub manifest: String,
    /// Where it came from, as a text that `ringfence-distribution` reads; `None` where that is not known.
    pub location: Option<String>,
}

/// The signature of an installed package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signed {
    /// Id of the key.
    pub key_id: String,
    /// Text of the signature file.
    pub signature: String,
}

const COLUMNS: &str =
    "source, version, publisher, digest, key_id, signature, effects_accepted, installed_at, manifest, location";

impl Database {
    /// All installed packages, by name.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn installed(&self) -> Result<Vec<InstalledRow>, StoreError> {
        self.read(|connection| {
            connection
                .prepare_cached(&format!("SELECT {COLUMNS} FROM installed ORDER BY source"))?
                .query_map([], from_row)?
                .collect()
        })
    }

    /// The package installed as `source`.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn installed_as(&self, source: &SourceName) -> Result<Option<InstalledRow>, StoreError> {
        self.read(|connection| {
            connection
                .prepare_cached(&format!("SELECT {COLUMNS} FROM installed WHERE source = ?1"))?
                .query_row([source.as_str()], from_row)
                .optional()
        })
    }

    /// Records an installation, in place of the one before, together with its pin.
    ///
    /// # Errors
    /// When it cannot be written; then nothing has changed.
    pub fn record_installed(&self, row: &InstalledRow, pin: &Pin) -> Result<(), StoreError> {
        self.write(|transaction| {
            put_installed(transaction, row)?;
            put_pin(transaction, pin)
        })
    }

    /// Forgets the package installed as `source` and what its tools kept, but not its pin. Says whether there was one.
    ///
    /// # Errors
    /// When it cannot be written; then nothing has changed.
    pub fn remove_installed(&self, source: &SourceName) -> Result<bool, StoreError> {
        let removed = self.write(|transaction| {
            transaction.execute("DELETE FROM tool_state WHERE source = ?1", [source.as_str()])?;
            transaction.execute("DELETE FROM installed WHERE source = ?1", [source.as_str()])
        });
        removed.map(|removed| removed > 0)
    }
}

fn put_installed(transaction: &Transaction<'_>, row: &InstalledRow) -> rusqlite::Result<()> {
    let (key_id, signature) = row.signed.as_ref().map(|signed| (&signed.key_id, &signed.signature)).unzip();
    transaction
        .prepare_cached(&format!(
            "INSERT OR REPLACE INTO installed ({COLUMNS}) VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10)"
        ))?
        .execute(params![
            row.source.as_str(),
            row.version.to_string(),
            row.publisher,
            row.digest.to_string(),
            key_id,
            signature,
            row.effects_accepted,
            row.installed_at.cast_signed(),
            row.manifest,
            row.location,
        ])
        .map(drop)
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<InstalledRow> {
    let key_id: Option<String> = row.get(4)?;
    let signature: Option<String> = row.get(5)?;
    Ok(InstalledRow {
        source: parsed(row, 0, SourceName::try_from)?,
        version: parsed(row, 1, |text| text.parse())?,
        publisher: row.get(2)?,
        digest: parsed(row, 3, |text| text.parse())?,
        // The schema allows both or neither.
        signed: key_id.zip(signature).map(|(key_id, signature)| Signed { key_id, signature }),
        effects_accepted: row.get(6)?,
        installed_at: row.get::<_, i64>(7)?.cast_unsigned(),
        manifest: row.get(8)?,
        location: row.get(9)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(source: &str, signed: bool) -> InstalledRow {
        InstalledRow {
            source: source.to_owned().try_into().unwrap(),
            version: Version::new(1, 0, 0),
            publisher: "acme".into(),
            digest: Digest::of(source.as_bytes()),
            signed: signed.then(|| Signed { key_id: "0123456789ABCDEF".into(), signature: "untrusted …".into() }),
            effects_accepted: signed,
            installed_at: 1_700_000_000_000,
            manifest: "{}".into(),
            location: signed.then(|| "oci://r.example/a".into()),
        }
    }

    fn pin(row: &InstalledRow) -> Pin {
        Pin {
            source: row.source.clone(),
            version: row.version.clone(),
            digest: row.digest,
            publisher: row.publisher.clone(),
            key_id: row.signed.as_ref().map(|signed| signed.key_id.clone()),
        }
    }

    #[test]
    fn rows_come_back_as_they_went_in() {
        let dir = tempfile::tempdir().unwrap();
        let database = Database::open(&dir.path().join("state.db")).unwrap();
        let (a, b) = (row("a", true), row("b", false));
        for each in [&b, &a] {
            database.record_installed(each, &pin(each)).unwrap();
        }
        assert_eq!(database.installed().unwrap(), [a.clone(), b]);
        assert_eq!(database.installed_as(&a.source).unwrap(), Some(a));
    }

    #[test]
    fn a_pin_outlives_its_tool() {
        let dir = tempfile::tempdir().unwrap();
        let database = Database::open(&dir.path().join("state.db")).unwrap();
        let a = row("a", true);
        database.record_installed(&a, &pin(&a)).unwrap();
        assert!(database.remove_installed(&a.source).unwrap());
        assert!(!database.remove_installed(&a.source).unwrap());
        assert_eq!(database.installed_as(&a.source).unwrap(), None);
        assert_eq!(database.pin(&a.source).unwrap(), Some(pin(&a)));
    }
}
