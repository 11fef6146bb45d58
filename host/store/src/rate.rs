//! The rows of rate buckets, so that a restart does not refill them.

use std::io;
use std::time::Duration;

use ringfence_core::ToolId;
use ringfence_core::gates::rate::{RateLedger, SavedBucket, SavedRates};
use rusqlite::{OptionalExtension as _, Row, params};

use crate::database::{Database, parsed};
use crate::time::{Reading, Uptime};

impl RateLedger for Database {
    fn load(&self) -> io::Result<(SavedRates, Duration)> {
        self.read(|connection| {
            let saved =
                connection.query_row("SELECT place, wall, boot, uptime FROM rates_saved", [], saved).optional()?;
            let Some((counted, then)) = saved else { return Ok((SavedRates::default(), Duration::MAX)) };
            let buckets = connection
                .prepare_cached("SELECT caller, source, tool, minute_left, hour_left FROM rate_bucket")?
                .query_map([], bucket)?
                .collect::<Result<_, _>>()?;
            Ok((SavedRates { buckets, counted }, Reading::now().since(&then)))
        })
        .map_err(io::Error::other)
    }

    fn save(&self, SavedRates { buckets, counted }: &SavedRates) -> io::Result<()> {
        let callers: Vec<String> =
            buckets.iter().map(|bucket| serde_json::to_string(&bucket.caller)).collect::<Result<_, _>>()?;
        // Later than the buckets were looked at, so what will have passed since is never too long.
        let Reading { wall, uptime } = Reading::now();
        let (boot, uptime) = uptime.map(|up| (up.boot, up.nanoseconds.cast_signed())).unzip();
        self.write(|transaction| {
            transaction.execute("DELETE FROM rates_saved", [])?;
            transaction.execute(
                "INSERT INTO rates_saved (place, wall, boot, uptime) VALUES (?1, ?2, ?3, ?4)",
                params![counted.cast_signed(), wall.cast_signed(), boot, uptime],
            )?;
            transaction.execute("DELETE FROM rate_bucket", [])?;
            let mut insert = transaction.prepare_cached("INSERT INTO rate_bucket VALUES (?1, ?2, ?3, ?4, ?5)")?;
            for (bucket, caller) in buckets.iter().zip(callers) {
                let ToolId { source, name } = &bucket.tool;
                let (minute, hour) = (bucket.minute_left.cast_signed(), bucket.hour_left.cast_signed());
                insert.execute(params![caller, source.as_str(), name.as_str(), minute, hour])?;
            }
            Ok(())
        })
        .map_err(io::Error::other)
    }
}

/// Up to which place calls were counted, and when that was.
fn saved(row: &Row<'_>) -> rusqlite::Result<(u64, Reading)> {
    let uptime = row.get::<_, Option<String>>(2)?.zip(row.get::<_, Option<i64>>(3)?);
    let uptime = uptime.map(|(boot, nanoseconds)| Uptime { boot, nanoseconds: nanoseconds.cast_unsigned() });
    let (place, wall) = (row.get::<_, i64>(0)?.cast_unsigned(), row.get::<_, i64>(1)?.cast_unsigned());
    Ok((place, Reading { wall, uptime }))
}

fn bucket(row: &Row<'_>) -> rusqlite::Result<SavedBucket> {
    Ok(SavedBucket {
        caller: parsed(row, 0, |text| serde_json::from_str(&text))?,
        tool: ToolId { source: parsed(row, 1, TryInto::try_into)?, name: parsed(row, 2, TryInto::try_into)? },
        minute_left: row.get::<_, i64>(3)?.cast_unsigned(),
        hour_left: row.get::<_, i64>(4)?.cast_unsigned(),
    })
}

#[cfg(test)]
mod tests {
    use ringfence_core::caller::CallerKey;

    use super::*;
    use crate::time::unix_milliseconds;

    fn database() -> (Database, tempfile::TempDir) {
        let dir = tempfile::tempdir().unwrap();
        (Database::open(&dir.path().join("state.db")).unwrap(), dir)
    }

    #[test]
    fn saving_replaces_what_was_saved() {
        let (database, _dir) = database();
        let bucket = |user: &str, left| SavedBucket {
            caller: CallerKey { user: Some(user.into()), ..CallerKey::default() },
            tool: ToolId::new("calc", "evaluate").unwrap(),
            minute_left: left / 2,
            hour_left: left,
        };
        assert_eq!(database.load().unwrap(), (SavedRates::default(), Duration::MAX));
        let last = SavedRates { buckets: vec![bucket("bob", u64::MAX)], counted: 7 };
        database.save(&SavedRates { buckets: vec![bucket("ann", 1), bucket("bob", 2)], counted: 5 }).unwrap();
        database.save(&last).unwrap();
        assert_eq!(database.load().unwrap().0, last);
    }

    #[test]
    fn a_clock_that_was_set_since_makes_nothing_older() {
        let (database, _dir) = database();
        database.save(&SavedRates::default()).unwrap();
        let second = Duration::from_secs(1);
        for wall in [0, -1, i64::MAX, i64::MIN] {
            database.write(|rows| rows.execute("UPDATE rates_saved SET wall = ?1", [wall])).unwrap();
            let passed = database.load().unwrap().1;
            assert!(cfg!(not(target_os = "linux")) || passed < 60 * second, "{wall}: {passed:?}");
        }
        // Of another start of the machine nothing but that clock is known.
        let hour_ago = unix_milliseconds().cast_signed() - 3_600_000;
        let moved = "UPDATE rates_saved SET boot = 'another', uptime = 0, wall = ?1";
        database.write(|rows| rows.execute(moved, [hour_ago])).unwrap();
        assert!(database.load().unwrap().1 >= 3600 * second);
        database.write(|rows| rows.execute(moved, [hour_ago + 7_200_000])).unwrap();
        assert_eq!(database.load().unwrap().1, Duration::ZERO);
    }
}
