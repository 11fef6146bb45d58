//! Keeps the memory of a process that holds secrets out of core dumps and from other processes of the same user.

use std::io;

use rustix::process::{Resource, Rlimit, setrlimit};

/// From now on this process leaves no core dump, and no other process of its user reads its memory or traces it.
///
/// To be called behind the making of the engine: the pool of instances opens `/proc/self/pagemap`, which then belongs
/// to root.
///
/// # Errors
/// When the system does not do that. No secret must be read then.
pub(crate) fn prevent() -> io::Result<()> {
    // A limit alone is not enough: it does not hold for dumps that go to a program.
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
    #[cfg(target_os = "linux")]
    rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)?;
    Ok(())
}
