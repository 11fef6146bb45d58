//! An installation that is killed at any moment leaves the old state or the new one.
//!
//! host/package/tests kills the library at every file-system call and at random moments; this kills the real binary,
//! compiler and all.

use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use crate::support::packages::{package, signed};

#[test]
fn an_update_that_is_killed_leaves_the_old_or_the_new() {
    let (home, old) = signed("mirror", "1.0.0");
    home.file("home/config.toml", "[rate]\nunlimited = true\n");
    home.args(&["install", old.to_str().unwrap()]).ok();
    let new = package(&home, "mirror", "2.0.0");
    home.sign(&new, "acme");
    let mut seen = Vec::new();
    // Later and later, until one goes through.
    for step in 0.. {
        let mut command = home.command();
        command.args(["install", new.to_str().unwrap()]).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        std::thread::sleep(Duration::from_millis(step * 4));
        let _ = child.kill();
        let finished = child.wait().unwrap().success();
        let listed = home.run("list --json").json();
        let version = text(&listed[0]["version"]);
        assert!(version == "1.0.0" || version == "2.0.0", "{listed:#}");
        assert!(home.args(&["call", "mirror__run", "{\"n\": 1}"]).ok().contains("\"n\""));
        seen.push(version);
        if finished {
            break;
        }
    }
    assert!(seen.len() > 3 && seen.last().unwrap() == "2.0.0", "{seen:?}");
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
