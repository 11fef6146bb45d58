//! A kill at any moment of an installation, update or removal leaves the old state or the new one, and one of the first
//! start a folder that the next start takes up.
//!
//! This program starts itself again as a child that makes one change, and kills it: once before every single system
//! call that touches a file (strace injects the kill, so SQLite's own steps are covered and the product has no failure
//! points built in), and at 200 random moments of the commit. After each kill the state has to open, to hold exactly
//! the old or the new, to have no file too many, and to take the same change in full.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod child;
#[path = "../packages/support.rs"]
#[allow(dead_code, reason = "the other tests use all of it")]
mod support;

use std::io::{BufRead as _, BufReader};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ringfence_package::{InstallOptions, Installer};
use ringfence_store::{AuditFile, Durability, Store};

use child::{Change, source};
use support::{FakeCompiler, Publisher, install, open, trust};

/// What changes a file, a name or what is on the disk.
const SYSTEM_CALLS: [&str; 19] = [
    "openat",
    "mkdir",
    "mkdirat",
    "write",
    "pwrite64",
    "writev",
    "ftruncate",
    "fallocate",
    "fsync",
    "fdatasync",
    "rename",
    "renameat",
    "renameat2",
    "unlink",
    "unlinkat",
    "chmod",
    "fchmod",
    "flock",
    "fcntl",
];

const RANDOM_KILLS: u32 = 200;
const SIGKILL: i32 = 9;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, mode, change, folder] = arguments.as_slice()
        && mode == "child"
    {
        return child::run(change.parse().unwrap(), Path::new(folder));
    }
    if let [_, mode, folder] = arguments.as_slice()
        && mode == "start"
    {
        return start(Path::new(folder));
    }
    let kills: u32 = SYSTEM_CALLS.map(kill_first_start_before_every).iter().sum();
    assert!(kills >= 50, "a first start makes more system calls than {kills}: they are not all listed");
    println!("first start: taken up after each of {kills} kills before a system call");
    let publisher = Publisher::new();
    for change in Change::ALL {
        let kills: u32 = SYSTEM_CALLS.map(|call| kill_before_every(call, change, &publisher)).iter().sum();
        assert!(kills >= 100, "{change} makes more system calls than {kills}: they are not all listed");
        println!("{change}: old or new after each of {kills} kills before a system call");
        let (old, new) = kill_at_random(change, &publisher);
        println!("{change}: {old} times the old and {new} times the new after {} random kills", old + new);
    }
}

/// Kills the child before its first call of `call`, before its second, and so on until it survives. Says how often.
fn kill_before_every(call: &str, change: Change, publisher: &Publisher) -> u32 {
    for count in 1.. {
        let state = State::new(in_memory(), change, publisher);
        let mut command = strace(call, count);
        let survived = survives(state.child(&mut command));
        state.check(&format!("{change}, killed before {call} number {count}"));
        if survived {
            return count - 1;
        }
    }
    unreachable!("counting ends when the child survives")
}

/// Kills the first start of a host before its first call of `call`, before its second, and so on until it survives. The
/// next start has to take the folder for a new one, or for one that was used and lacks nothing. Says how often.
fn kill_first_start_before_every(call: &str) -> u32 {
    for count in 1.. {
        let dir = in_memory();
        let survived = survives(strace(call, count).arg("start").arg(dir.path().join("state")));
        start(&dir.path().join("state"));
        if survived {
            return count - 1;
        }
    }
    unreachable!("counting ends when the start survives")
}

/// Opens a state folder, and what a host opens in it.
fn start(folder: &Path) {
    let store = Arc::new(Store::open(folder).unwrap_or_else(|error| panic!("{error}")));
    Installer::open(store.clone()).unwrap();
    drop(AuditFile::open(store, Durability::Process).unwrap_or_else(|error| panic!("{error}")));
}

/// Kills the child at random moments of its commit. Says how often the old and how often the new state was found.
fn kill_at_random(change: Change, publisher: &Publisher) -> (u32, u32) {
    let whole = (0..5).map(|_| commit_time(change, publisher)).max().unwrap_or_default();
    let (mut old, mut new) = (0, 0);
    for i in 0..RANDOM_KILLS.div_ceil(Change::ALL.len() as u32) {
        let state = State::new(on_disk(), change, publisher);
        let mut child = state.child(&mut this_program()).stdout(Stdio::piped()).spawn().unwrap();
        wait_until_ready(&mut child);
        // A low-discrepancy sequence: as irregular as chance, but it leaves no gaps.
        std::thread::sleep(whole.mul_f64((f64::from(i) * 0.618_033_988_75).fract()));
        child.kill().unwrap();
        child.wait().unwrap();
        if state.check(&format!("{change}, random kill {i}")) { new += 1 } else { old += 1 }
    }
    (old, new)
}

/// How long the commit takes when nobody disturbs it.
fn commit_time(change: Change, publisher: &Publisher) -> Duration {
    let state = State::new(on_disk(), change, publisher);
    let mut child = state.child(&mut this_program()).stdout(Stdio::piped()).spawn().unwrap();
    wait_until_ready(&mut child);
    let start = Instant::now();
    assert!(child.wait().unwrap().success());
    start.elapsed()
}

fn wait_until_ready(child: &mut std::process::Child) {
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, child::READY);
}

fn this_program() -> Command {
    command(std::env::current_exe().unwrap().to_str().unwrap())
}

fn strace(call: &str, count: u32) -> Command {
    // The question mark passes over calls that this processor's Linux does not have.
    let inject = format!("inject=?{call}:signal=SIGKILL:when={count}");
    let mut command = command("strace");
    command.args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace=?{call}"), "-e", &inject]);
    command.arg(std::env::current_exe().unwrap()).stdout(Stdio::null());
    command
}

#[expect(clippy::disallowed_methods, reason = "what is killed has to be another process")]
fn command(program: &str) -> Command {
    Command::new(program)
}

/// Whether the child came to its end. strace ends as what it traced did.
fn survives(command: &mut Command) -> bool {
    let status = command.status().expect("strace is needed: apt-get install strace");
    let killed = status.signal() == Some(SIGKILL);
    assert!(killed || status.success(), "strace failed ({status}): it needs the permission to trace (ptrace)");
    !killed
}

/// A state folder, one change away from its new state.
struct State {
    dir: tempfile::TempDir,
    change: Change,
}

impl State {
    fn new(dir: tempfile::TempDir, change: Change, publisher: &Publisher) -> Self {
        let installer = open(&dir.path().join("state"));
        trust(&installer, publisher, &["weather"]);
        if let (Some(old), _) = change.versions() {
            install(&installer, publisher.package("weather", old), InstallOptions::default()).unwrap();
        }
        let file = publisher.package("weather", child::NEW_VERSION);
        fs_err::write(dir.path().join(child::PACKAGE), file.component).unwrap();
        fs_err::write(dir.path().join(child::SIGNATURE), file.signature.unwrap()).unwrap();
        Self { dir, change }
    }

    fn child<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command.args(["child", &self.change.to_string()]).arg(self.dir.path())
    }

    /// Checks that the state is the old or the new one, and takes the change; says whether it was the new one.
    fn check(&self, when: &str) -> bool {
        let installer = open(&self.dir.path().join("state"));
        let found = version(&installer, when);
        let (old, new) = self.change.versions();
        assert!(found.as_deref() == old || found.as_deref() == new, "{when}: found {found:?}");
        self.check_files(&installer, when);
        if found.as_deref() != new {
            child::apply(self.change, self.dir.path(), &installer, || {});
        }
        assert_eq!(version(&installer, when).as_deref(), new, "{when}: the change could not be made afterwards");
        self.check_files(&installer, when);
        found.as_deref() == new
    }

    /// No file that the records do not speak of, and none of theirs that is missing or wrong.
    fn check_files(&self, installer: &Installer, when: &str) {
        let wanted = usize::from(version(installer, when).is_some());
        for folder in ["tools", "compiled"] {
            let files = fs_err::read_dir(self.dir.path().join("state").join(folder)).unwrap().count();
            assert_eq!(files, wanted, "{when}: files in {folder}");
        }
    }
}

/// A folder in memory where there is one. A kill is no power cut, so where the moment of the kill is given, a disk adds
/// nothing but waiting.
fn in_memory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// A folder on a disk, whose waiting spreads the moments that chance finds.
fn on_disk() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// The version that is installed, which has to be in perfect order.
fn version(installer: &Installer, when: &str) -> Option<String> {
    let inventory = installer.inventory().unwrap();
    assert!(inventory.broken.is_empty(), "{when}");
    let installed = inventory.installed.into_iter().next()?;
    assert_eq!(*installed.source(), source());
    installer.load(&installed).unwrap_or_else(|error| panic!("{when}: {error}"));
    let engine = ringfence_package::Compiler::engine(&FakeCompiler);
    assert!(installer.compiled().get(installed.digest(), &engine).is_some(), "{when}: no compiled code");
    Some(installed.manifest().package.version.to_string())
}
