//! The clocks that rows and events are stamped with, and how long ago a moment was although one of them can be set.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Milliseconds since the Unix epoch; 0 on a machine whose clock stands before it.
pub fn unix_milliseconds() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// What the machine's clocks show at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    /// Milliseconds since the Unix epoch, by the clock that can be set.
    pub(crate) wall: u64,
    /// The count that nobody can set, where the system tells it.
    pub(crate) uptime: Option<Uptime>,
}

/// How long the machine has been up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Uptime {
    /// Which of its starts that is.
    pub(crate) boot: String,
    /// Nanoseconds since then, those asleep among them.
    pub(crate) nanoseconds: u64,
}

impl Reading {
    pub(crate) fn now() -> Self {
        Self { wall: unix_milliseconds(), uptime: Uptime::now() }
    }

    /// How long this is after `earlier`. Where the machine was not started between them, no clock that was set changes
    /// that; where it was, there is only that clock, and no time has passed when it shows less than before.
    pub(crate) fn since(&self, earlier: &Self) -> Duration {
        match (&self.uptime, &earlier.uptime) {
            (Some(now), Some(then)) if now.boot == then.boot => {
                Duration::from_nanos(now.nanoseconds.saturating_sub(then.nanoseconds))
            }
            _ => Duration::from_millis(self.wall.saturating_sub(earlier.wall)),
        }
    }
}

impl Uptime {
    #[cfg(target_os = "linux")]
    fn now() -> Option<Self> {
        let boot = fs_err::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        let up = Duration::try_from(rustix::time::clock_gettime(rustix::time::ClockId::Boottime)).ok()?;
        Some(Self { boot: boot.trim().to_owned(), nanoseconds: u64::try_from(up.as_nanos()).ok()? })
    }

    #[cfg(not(target_os = "linux"))]
    fn now() -> Option<Self> {
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn reading(wall: u64, boot: &str, nanoseconds: u64) -> Reading {
        Reading { wall, uptime: Some(Uptime { boot: boot.into(), nanoseconds }) }
    }

    #[test]
    fn the_machine_tells_its_uptime() {
        let (first, second) = (Reading::now(), Reading::now());
        assert!(second.since(&first) < Duration::from_secs(60), "{first:?} {second:?}");
        assert_eq!(first.uptime.is_some(), cfg!(target_os = "linux"));
    }

    proptest! {
        #[test]
        fn no_setting_of_the_clock_changes_how_long_ago_it_was(
            walls: (u64, u64), up in 0u64..u64::MAX / 2, passed in 0u64..u64::MAX / 2,
        ) {
            let (then, now) = (reading(walls.0, "a", up), reading(walls.1, "a", up + passed));
            prop_assert_eq!(now.since(&then), Duration::from_nanos(passed));
        }

        #[test]
        fn after_a_start_of_the_machine_it_is_what_the_clock_says_and_never_less_than_nothing(
            walls: (u64, u64), ups: (u64, u64), told: bool,
        ) {
            let now = if told { reading(walls.1, "b", ups.1) } else { Reading { wall: walls.1, uptime: None } };
            let expected = Duration::from_millis(walls.1.saturating_sub(walls.0));
            prop_assert_eq!(now.since(&reading(walls.0, "a", ups.0)), expected);
        }
    }
}
