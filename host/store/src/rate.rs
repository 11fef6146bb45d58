//! The rows of rate buckets, so that a restart does not refill them.

use std::io;

use ringfence_core::ToolId;
use ringfence_core::gates::rate::{RateLedger, SavedBucket, SavedRates};
use rusqlite::{OptionalExtension as _, Row, params};

use crate::database::{Database, parsed};

impl RateLedger for Database {
    fn load(&self) -> io::Result<SavedRates> {
        self.read(|connection| {
            let counted = connection
                .query_row("SELECT place FROM rates_counted", [], |row| row.get::<_, i64>(0))
                .optional()?
                .map_or(0, i64::cast_unsigned);
            let buckets = connection
                .prepare_cached("SELECT caller, source, tool, minute_empty_at, hour_empty_at FROM rate_bucket")?
                .query_map([], from_row)?
                .collect::<Result<_, _>>()?;
            Ok(SavedRates { buckets, counted })
        })
        .map_err(io::Error::other)
    }

    fn save(&self, SavedRates { buckets, counted }: &SavedRates) -> io::Result<()> {
        let callers: Vec<String> =
            buckets.iter().map(|bucket| serde_json::to_string(&bucket.caller)).collect::<Result<_, _>>()?;
        self.write(|transaction| {
            transaction.execute("DELETE FROM rates_counted", [])?;
            transaction.execute("INSERT INTO rates_counted VALUES (?1)", [counted.cast_signed()])?;
            transaction.execute("DELETE FROM rate_bucket", [])?;
            let mut insert = transaction.prepare_cached("INSERT INTO rate_bucket VALUES (?1, ?2, ?3, ?4, ?5)")?;
            for (bucket, caller) in buckets.iter().zip(callers) {
                let ToolId { source, name } = &bucket.tool;
                let (minute, hour) = (bucket.minute_empty_at.cast_signed(), bucket.hour_empty_at.cast_signed());
                insert.execute(params![caller, source.as_str(), name.as_str(), minute, hour])?;
            }
            Ok(())
        })
        .map_err(io::Error::other)
    }
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<SavedBucket> {
    Ok(SavedBucket {
        caller: parsed(row, 0, |text| serde_json::from_str(&text))?,
        tool: ToolId { source: parsed(row, 1, TryInto::try_into)?, name: parsed(row, 2, TryInto::try_into)? },
        minute_empty_at: row.get::<_, i64>(3)?.cast_unsigned(),
        hour_empty_at: row.get::<_, i64>(4)?.cast_unsigned(),
    })
}

#[cfg(test)]
mod tests {
    use ringfence_core::caller::CallerKey;

    use super::*;

    #[test]
    fn saving_replaces_what_was_saved() {
        let dir = tempfile::tempdir().unwrap();
        let database = Database::open(&dir.path().join("state.db")).unwrap();
        let bucket = |user: &str, empty_at| SavedBucket {
            caller: CallerKey { user: Some(user.into()), ..CallerKey::default() },
            tool: ToolId::new("calc", "evaluate").unwrap(),
            minute_empty_at: empty_at / 2,
            hour_empty_at: empty_at,
        };
        assert_eq!(database.load().unwrap(), SavedRates::default());
        let last = SavedRates { buckets: vec![bucket("bob", u64::MAX)], counted: 7 };
        database.save(&SavedRates { buckets: vec![bucket("ann", 1), bucket("bob", 2)], counted: 5 }).unwrap();
        database.save(&last).unwrap();
        assert_eq!(database.load().unwrap(), last);
    }
}
