//! Core dumps: a process that holds secrets leaves none, and shows its memory to nobody.

use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::binary::Home;
use crate::support::guests;
use crate::support::server::Server;

/// Nobody's user id on Linux; used where the tests run as root, whom no such rule stops.
const NOBODY: u32 = 65534;

fn is_root() -> bool {
    std::fs::metadata("/proc/self").unwrap().uid() == 0
}

/// The binary with `args`, started so that it would leave dumps, by an ordinary user.
fn start(home: &Home, args: &[&str]) -> Child {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -c unlimited; exec \"$@\"", "sh"]);
    if is_root() {
        let owned = Command::new("chown").args(["-R", "65534:65534"]).arg(home.path()).status().unwrap();
        assert!(owned.success());
        command.args(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]);
    }
    command.arg(env!("CARGO_BIN_EXE_ringfence")).args(args).env("RINGFENCE_HOME", home.path().join("home"));
    command.env("DOCKER_CONFIG", home.path().join("docker"));
    command.current_dir(home.path()).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // Before that it is the shell.
    while std::fs::read_to_string(format!("/proc/{}/comm", child.id())).unwrap() != "ringfence\n" {
        still_runs(&mut child);
    }
    child
}

/// A host that serves with a secret in its vault.
fn serving(home: &Home) -> Child {
    home.fed(&["secret", "set", "a_key", "--place", "file"], "a-value-that-is-secret").ok();
    let mut child = start(home, &["serve"]);
    // It listens when all of it is there.
    while !home.path().join("home/state/socket").exists() {
        still_runs(&mut child);
    }
    child
}

/// Lets it go on for a moment.
fn still_runs(child: &mut Child) {
    if child.try_wait().unwrap().is_some() {
        panic!("it ended: {:?}", child.stderr.take().map(std::io::read_to_string));
    }
    std::thread::sleep(Duration::from_millis(10));
}

/// Whether it leaves no dump, and its memory is for root alone.
fn is_closed(child: &Child) -> bool {
    let process = format!("/proc/{}", child.id());
    let limits = std::fs::read_to_string(format!("{process}/limits")).unwrap();
    let cores = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
    // What belongs to root here, only root traces: so it is with a process that is not dumpable.
    cores.split_whitespace().nth(4) == Some("0") && std::fs::metadata(format!("{process}/mem")).unwrap().uid() == 0
}

#[test]
fn an_aborted_host_leaves_no_dump_and_its_memory_is_roots() {
    let home = Home::new();
    let mut child = serving(&home);
    let process = format!("/proc/{}", child.id());
    assert!(is_closed(&child));
    let user = if is_root() { NOBODY } else { std::fs::metadata("/proc/self").unwrap().uid() };
    let status = std::fs::read_to_string(format!("{process}/status")).unwrap();
    assert!(status.lines().any(|line| line.starts_with("Uid:") && line.contains(&user.to_string())), "{status}");
    assert!(Command::new("kill").args(["-ABRT", &child.id().to_string()]).status().unwrap().success());
    let ended = child.wait().unwrap();
    assert_eq!((ended.signal(), ended.core_dumped()), (Some(6), false));
    // The same signal, and a process that holds nothing: whether this machine makes dumps at all.
    let control =
        Command::new("sh").args(["-c", "ulimit -c unlimited; kill -ABRT $$"]).current_dir(home.path()).status();
    if !control.unwrap().core_dumped() {
        writeln!(std::io::stderr(), "this machine makes no core dumps: only their being turned off was seen").unwrap();
    }
}

#[test]
fn commands_that_hold_keys_and_logins_leave_no_dump_either() {
    let home = Home::new();
    home.fed(&["key", "generate", "locked"], "a password of some length").ok();
    home.key("open");
    let file = home.file("slow.wasm", guests::package("slow", "slow", "1.0.0"));
    home.sign(&file, "open");
    let registry = format!("oci://{}/slow", Server::silent().address);
    let publish = ["publish", "slow.wasm", "--to", &registry, "--address", "127.0.0.1/32"];
    // Each waits: for a password, or for an answer.
    for args in [&["key", "generate", "another"][..], &["sign", "slow.wasm", "--key", "locked.key"], &publish] {
        let mut child = start(&home, args);
        let end = Instant::now() + Duration::from_secs(10);
        while !is_closed(&child) {
            assert!(Instant::now() < end, "{args:?} leaves dumps");
            still_runs(&mut child);
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
