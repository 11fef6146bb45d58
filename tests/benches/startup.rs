//! The start of the real binary with 1, 100 and 1,000 installed tools, and what each of them takes.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use super::{guests, median, ratio};

const BINARY: &str = env!("CARGO_BIN_EXE_ringfence");

pub fn run() {
    let homes = [1, 100, 1000].map(|count| (count, installed(count)));
    let mut times: [Vec<_>; 3] = Default::default();
    for _ in 0..11 {
        for (times, (_, home)) in times.iter_mut().zip(&homes) {
            let started = Instant::now();
            let mut call = ringfence(home.path());
            call.args(["call", "echo", "{\"message\": \"x\"}"]).stdout(Stdio::null()).status().unwrap();
            times.push(started.elapsed());
        }
    }
    let times = times.map(median);
    for ((count, _), time) in homes.iter().zip(times) {
        println!(
            "  {:<66} {:>6.1} ms",
            format!("start with {count} installed tools, one call of a built-in, end"),
            time / 1000.0
        );
    }
    ratio("start with 1,000 installed tools / with one", times[2], times[0], 3.0);
    let [one, _, many] = homes.each_ref().map(|(_, home)| peak_kib(home.path()));
    println!("  {:<66} {:>6.1} KiB", "memory for each installed tool", (many - one) / 999.0);
}

/// A home with `count` packages of one tool each, all different.
fn installed(count: usize) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("echo.wasm");
    // Written by hand, so that a thousand are soon compiled.
    let package = guests::package("big_table_ok", "echo", "1.0.0");
    for i in 0..count {
        fs_err::write(&file, guests::with_field(&package, "name", format!("echo-{i}").into())).unwrap();
        let mut install = ringfence(home.path());
        install.arg("install").arg(&file).arg("--allow-unsigned");
        assert!(install.stdout(Stdio::null()).status().unwrap().success());
    }
    home
}

fn ringfence(home: &Path) -> Command {
    let mut command = Command::new(BINARY);
    command.env("RINGFENCE_HOME", home);
    command
}

/// The most memory that the binary held while it listed its tools.
fn peak_kib(home: &Path) -> f64 {
    let mut child = ringfence(home).arg("serve").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_secs(1));
    let status = fs_err::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
