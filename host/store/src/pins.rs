//! The rows of pins: what a source may not fall behind.

use ringfence_core::SourceName;
use rusqlite::{OptionalExtension as _, Row, Transaction, params};
use semver::Version;

use crate::database::{Database, parsed};
use crate::digest::Digest;
use crate::error::StoreError;

/// The highest version that a source ever had, and who signed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin {
    /// The source.
    pub source: SourceName,
    /// The version.
    pub version: Version,
    /// SHA-256 of that version's component.
    pub digest: Digest,
    /// Who made it.
    pub publisher: String,
    /// Id of the key that signed it; `None` when it was unsigned.
    pub key_id: Option<String>,
}

impl Database {
    /// The pin of `source`; there is one as soon as it was installed once.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn pin(&self, source: &SourceName) -> Result<Option<Pin>, StoreError> {
        self.read(|connection| {
            connection
                .prepare_cached("SELECT source, version, digest, publisher, key_id FROM pin WHERE source = ?1")?
                .query_row([source.as_str()], from_row)
                .optional()
        })
    }
}

pub(crate) fn put_pin(transaction: &Transaction<'_>, pin: &Pin) -> rusqlite::Result<()> {
    transaction
        .prepare_cached(
            "INSERT OR REPLACE INTO pin (source, version, digest, publisher, key_id) VALUES (?1,?2,?3,?4,?5)",
        )?
        .execute(params![
            pin.source.as_str(),
            pin.version.to_string(),
            pin.digest.to_string(),
            pin.publisher,
            pin.key_id
        ])
        .map(drop)
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<Pin> {
    Ok(Pin {
        source: parsed(row, 0, SourceName::try_from)?,
        version: parsed(row, 1, |text| text.parse())?,
        digest: parsed(row, 2, |text| text.parse())?,
        publisher: row.get(3)?,
        key_id: row.get(4)?,
    })
}
