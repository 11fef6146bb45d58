//! A killed host and a full disk lose no event that was acknowledged.
//!
//! This program starts itself again as a child that appends events and says which were written.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use ringfence_core::CallId;
use ringfence_core::audit::{AuditEvent, AuditLog as _};
use ringfence_core::output::Usage;
use ringfence_store::{AuditFile, Durability, Store};

const KILLS: u32 = 50;

/// Kibibytes that a file may have when the disk is "full": enough for the database, and for some hundreds of events.
const FULL_DISK: u32 = 256;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [_, "append", folder] => append_until_killed(Path::new(folder)),
        [_, "fill", folder] => append_until_full(Path::new(folder)),
        _ => {
            kills_lose_nothing();
            a_full_disk_loses_nothing();
        }
    }
}

fn kills_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let mut acknowledged = 0;
    for i in 0..KILLS {
        let mut child = child("append", dir.path(), None).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        lines.next().unwrap().unwrap();
        std::thread::sleep(Duration::from_micros(u64::from(i) * 97));
        child.kill().unwrap();
        child.wait().unwrap();
        let last = lines.map_while(Result::ok).filter_map(|line| line.parse().ok()).last();
        acknowledged = last.unwrap_or(acknowledged).max(acknowledged);
        let verified = open(dir.path()).verify().unwrap();
        assert!(verified.events >= acknowledged, "{} events, {acknowledged} acknowledged", verified.events);
        assert!(verified.gaps.is_empty(), "{:?}", verified.gaps);
    }
    println!("{acknowledged} events and {KILLS} kills: nothing lost");
}

fn a_full_disk_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    drop(open(dir.path()));
    let output = child("fill", dir.path(), Some(FULL_DISK)).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let acknowledged: u64 = String::from_utf8_lossy(&output.stdout).trim().parse().unwrap();
    assert!(acknowledged > 100, "only {acknowledged} events fit");
    let log = open(dir.path());
    assert_eq!(log.verify().unwrap().events, acknowledged);
    // When there is room again, the record goes on.
    assert_eq!(append(&log).unwrap(), acknowledged + 1);
    println!("{acknowledged} events and a full disk: nothing lost");
}

/// This program in another process; with a limit on the size of its files, in KiB, where that is given.
fn child(mode: &str, folder: &Path, limit: Option<u32>) -> Command {
    #[expect(clippy::disallowed_methods, reason = "what is killed has to be another process")]
    let mut command = Command::new("bash");
    let limit = limit.map(|limit| format!("trap '' XFSZ; ulimit -f {limit};")).unwrap_or_default();
    command.arg("-c").arg(format!("{limit} exec \"$@\"")).arg("bash").arg(std::env::current_exe().unwrap());
    command.arg(mode).arg(folder).stdout(Stdio::piped());
    command
}

fn open(folder: &Path) -> AuditFile {
    AuditFile::open(Arc::new(Store::open(folder).unwrap()), Durability::Process).unwrap()
}

fn append(log: &AuditFile) -> Result<u64, ringfence_core::audit::AuditError> {
    log.append(&AuditEvent::Closed { call: &CallId::next(), outcome: "ok", duration_us: 1, usage: Usage::default() })
}

fn append_until_killed(folder: &Path) {
    let log = open(folder);
    let mut output = std::io::stdout().lock();
    loop {
        writeln!(output, "{}", append(&log).unwrap()).unwrap();
    }
}

/// Appends until it fails, and a few times more, which has to fail as well and leave nothing.
fn append_until_full(folder: &Path) {
    let log = open(folder);
    let mut last = 0;
    while let Ok(place) = append(&log) {
        last = place;
    }
    for _ in 0..3 {
        append(&log).unwrap_err();
    }
    assert_eq!(log.verify().unwrap().events, last);
    println!("{last}");
}
