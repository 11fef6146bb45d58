//! How other programs are run.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Flags for the host's processor do not fit WebAssembly, and the pipes of a job server are not inherited.
const NOT_INHERITED: [&str; 5] =
    ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_TARGET", "CARGO_MAKEFLAGS", "MAKEFLAGS"];

/// A program to be run in `directory`, without input.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub(super) fn program(name: impl AsRef<OsStr>, directory: &Path) -> Command {
    let mut command = Command::new(name);
    command.current_dir(directory).stdin(Stdio::null());
    for variable in NOT_INHERITED {
        command.env_remove(variable);
    }
    command
}

/// What a program writes to standard output; `None` where it cannot be run or fails.
pub(super) fn answer(command: &mut Command) -> Option<String> {
    let output = command.stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Runs a program silently, and kills it when its time is over.
///
/// # Errors
///
/// The program cannot be started or waited for.
pub(super) fn run_within(limit: Duration, command: &mut Command) -> io::Result<ExitStatus> {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let end = Instant::now() + limit;
    while Instant::now() < end {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        thread::sleep(Duration::from_millis(20));
    }
    child.kill()?;
    child.wait()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_takes_too_long_is_killed() {
        let start = Instant::now();
        let status = run_within(Duration::from_millis(50), program("sleep", Path::new("/")).arg("60")).unwrap();
        assert!(!status.success());
        assert!(start.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn an_answer_needs_success() {
        assert_eq!(answer(program("echo", Path::new("/")).arg("yes")).as_deref(), Some("yes"));
        assert_eq!(answer(&mut program("false", Path::new("/"))), None);
        assert_eq!(answer(&mut program("no-such-program-here", Path::new("/"))), None);
    }
}
