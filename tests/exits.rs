//! How commands end: the exit code of each kind of slip, `--json` when nothing could be parsed, and an output that takes
//! nothing.

use std::fs::File;
use std::io::Read as _;
use std::process::{ExitStatus, Stdio};

use crate::support::binary::Home;
use crate::support::packages;

/// A place that takes no byte, like a full disk.
fn full() -> Stdio {
    File::options().write(true).open("/dev/full").unwrap().into()
}

#[test]
fn arguments_that_make_no_sense_end_with_2() {
    let home = Home::new();
    home.key("acme");
    packages::install_unsigned(&home, "mirror");
    let long = "x".repeat(40);
    for args in [
        &["install", "mirror-1.0.0.wasm", "--allow-unsigned", "--as", "../x"][..],
        &["install", "mirror-1.0.0.wasm", "--allow-unsigned", "--as=-h"],
        &["install", "mirror-1.0.0.wasm", "--accept-signer", "junk"],
        &["trust", "add", "acme.pub", "--publisher", "acme", "--sign", "a*b"],
        &["trust", "add", "acme.pub", "--publisher", "acme", "--sign=-x"],
        &["trust", "revoke", "zzz"],
        &["remove", "../.."],
        &["revoke", "../.."],
        &["state", "clear", "../.."],
        &["explain", "mirror", "GET junk"],
        &["grant", "mirror", "--http", "junk"],
        &["grant", "mirror", "--expires", "junk"],
        &["grant", "mirror", "--address", "junk"],
        &["new", "Bad"],
        &["key", "generate", "", "--no-password"],
        &["key", "generate", "..", "--no-password"],
        &["key", "generate", "a\nb", "--no-password"],
    ] {
        home.args(args).fails(2, &[]);
    }
    assert!(!home.path().join("home/grants/mirror.toml").exists(), "what was refused is not written");
    home.fed(&["secret", "set", "A"], "a value long enough").fails(2, &["not the name of a secret"]);
    home.fed(&["secret", "set", "long_key"], &"x".repeat(70_000)).fails(2, &["too long"]);
    let sign = ["trust", "add", "acme.pub", "--publisher", "acme", "--sign", &long];
    home.args(&sign).fails(2, &["1 to 32"]);
}

/// A home with a folder, a file, a key, and a link that nothing can be read through.
fn with_things() -> Home {
    let home = Home::new();
    home.key("acme");
    packages::package(&home, "mirror", "1.0.0");
    std::fs::create_dir(home.path().join("folder")).unwrap();
    std::os::unix::fs::symlink("unreadable", home.path().join("unreadable")).unwrap();
    home
}

#[test]
fn a_file_that_is_not_there_or_a_folder_or_cannot_be_read_is_a_wrong_argument() {
    let home = with_things();
    for line in [
        "install IT --allow-unsigned",
        "install mirror-1.0.0.wasm --signature IT",
        "inspect IT",
        "verify IT",
        "sign IT --key acme.key",
        "sign mirror-1.0.0.wasm --key IT",
        "publish IT --to packages",
        "pack IT -o out.wasm",
        "pack mirror-1.0.0.wasm --manifest IT -o out.wasm",
        "pack mirror-1.0.0.wasm --manifest acme.pub --tools IT -o out.wasm",
        "secret import IT",
        "import-capabilities IT",
        "trust add IT --publisher x --sign y",
        "trust rotate IT",
        "trust rotate acme.pub --signature IT",
        "key rotate IT --key acme.key",
        "key rotate acme.pub --key IT",
    ] {
        for (it, said) in [
            ("nowhere", "nowhere`: check its name"),
            ("folder", " is a folder: "),
            ("unreadable", "a file that you can read"),
        ] {
            home.run(&line.replace("IT", it)).fails(2, &[it, said]);
        }
    }
}

#[test]
fn a_folder_that_is_none_is_a_wrong_argument() {
    let home = with_things();
    for line in ["build IT", "test IT", "install IT#mirror"] {
        home.run(&line.replace("IT", "nowhere")).fails(2, &["nowhere`: check its name"]);
        home.run(&line.replace("IT", "acme.pub")).fails(2, &["acme.pub` is not a folder"]);
    }
    for line in ["publish mirror-1.0.0.wasm --to acme.pub", "list --home acme.pub"] {
        home.run(line).fails(2, &["acme.pub` is not a folder"]);
    }
    for line in ["build folder", "test folder", "build ."] {
        home.run(line).fails(2, &["has no ringfence.toml", "`ringfence new NAME`"]);
    }
}

#[test]
fn a_place_where_nothing_can_be_written_is_a_wrong_argument() {
    let home = with_things();
    for line in [
        "build folder --out IT",
        "pack mirror-1.0.0.wasm --manifest acme.pub -o IT",
        "key rotate acme.pub --key acme.key --out IT",
    ] {
        home.run(&line.replace("IT", "nowhere/x")).fails(2, &["there is no `nowhere`"]);
        home.run(&line.replace("IT", "folder")).fails(2, &["`folder` is a folder"]);
    }
    home.run("key generate nowhere/acme --no-password").fails(2, &["there is no `nowhere`"]);
    home.run("key generate acme --no-password").fails(2, &["acme.key is there already"]);
    home.run("new folder").fails(2, &["`./folder` exists already"]);
}

#[test]
fn an_owner_that_does_not_answer_is_not_available() {
    let home = Home::new();
    let served = home.serving();
    served.signal("STOP");
    home.run("list").fails(6, &["owns the state folder and does not answer", "--home"]);
    served.signal("CONT");
    home.run("list").ok();
}

#[test]
fn a_command_line_that_is_none_is_told_in_json_where_json_was_asked_for() {
    let home = Home::new();
    for args in [&["audit", "--last", "abc", "--json"][..], &["--json", "no-such-command"], &["--json"]] {
        let run = home.args(args);
        assert_eq!((run.code, run.err.as_str()), (2, ""), "{run:?}");
        let document: serde_json::Value = serde_json::from_str(&run.out).unwrap();
        assert_eq!(document["error"]["code"], "usage");
        assert!(!document["error"]["message"].as_str().unwrap().starts_with("error"), "{document}");
    }
    // Behind `--` it is a value.
    let run = home.args(&["trust", "revoke", "x", "y", "--", "--json"]);
    assert_eq!((run.code, run.out.as_str()), (2, ""));
    assert_eq!(home.run("--json --version").json()["version"], env!("CARGO_PKG_VERSION"));
    for line in ["--json help", "--json --help", "--json help install", "install --json --help"] {
        assert!(home.run(line).json()["help"].as_str().unwrap().contains("Usage: ringfence"), "{line}");
    }
    let script = home.run("completions bash --json").json()["script"].as_str().unwrap().to_owned();
    assert_eq!(script.trim_end(), home.run("completions bash").ok().trim_end());
}

#[test]
fn an_output_that_takes_nothing_ends_a_command_without_a_panic() {
    let home = Home::new();
    // Said in the log as well, which goes to standard error.
    home.file("home/config.toml", "[tools.\"ecko\".limits]\nresult_bytes = 5\n");
    let ends = |line: &str, out: Stdio, err: Stdio| {
        let mut command = home.command();
        command.args(line.split_whitespace()).stdin(Stdio::null()).stdout(out).stderr(err).status().unwrap()
    };
    let code = |status: ExitStatus| status.code().unwrap();
    for (line, expected) in [
        ("list --json", 1),
        ("list", 1),
        ("completions bash", 1),
        ("remove nobody --json", 5),
        ("audit --last abc --json", 2),
        ("--help", 0),
    ] {
        assert_eq!(code(ends(line, full(), Stdio::null())), expected, "{line}");
    }
    for (line, expected) in
        [("list", 0), ("remove nobody", 5), ("no-such-command", 2), ("call echo {\"message\":\"x\"} --usage", 0)]
    {
        assert_eq!(code(ends(line, Stdio::null(), full())), expected, "{line}");
    }
    // What cannot be said as JSON is said as text.
    let mut command = home.command();
    command.args(["remove", "nobody", "--json"]).stdout(full()).stderr(Stdio::piped());
    let told = String::from_utf8(command.output().unwrap().stderr).unwrap();
    assert!(told.contains("nothing is installed as `nobody`"), "{told}");
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let home = Home::new();
    let mut command = home.command();
    // More than a pipe holds.
    command.args(["completions", "zsh"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let mut told = String::new();
    child.stderr.take().unwrap().read_to_string(&mut told).unwrap();
    assert_eq!((child.wait().unwrap().code(), told.as_str()), (Some(0), ""));
}

#[test]
fn what_never_ends_is_not_read_to_its_end() {
    let home = Home::new();
    home.run("trust add /dev/zero --publisher x --sign y").fails(2, &["/dev/zero has more than"]);
    assert!(std::process::Command::new("mkfifo").arg(home.path().join("pipe.wasm")).status().unwrap().success());
    for line in ["install pipe.wasm --allow-unsigned", "inspect pipe.wasm", "import-capabilities pipe.wasm"] {
        home.run(line).fails(2, &["pipe.wasm is not a file"]);
    }
    home.run("list").ok();
    let config = home.path().join("home/config.toml");
    std::os::unix::fs::symlink(home.path().join("pipe.wasm"), &config).unwrap();
    home.run("list").fails(1, &["config.toml is not a file"]);
}

#[test]
fn what_stands_in_the_place_of_the_socket_is_named() {
    let home = Home::new();
    home.run("list").ok();
    std::fs::create_dir(home.path().join("home/state/socket")).unwrap();
    home.run("list").fails(1, &["failed to remove file", "state/socket"]);
}

#[test]
fn a_workspace_that_cannot_be_opened_is_named() {
    let home = Home::new();
    home.file("home/config.toml", "[workspace]\nroot = \"/nowhere/work\"\n");
    home.run("list").fails(1, &["`root` under [workspace]", "/nowhere/work cannot be opened"]);
}

#[test]
fn a_limit_that_is_none_is_shown_where_it_stands() {
    let home = Home::new();
    for (line, place) in [("fuel = 0", "config.toml:3:8:"), ("fule = 1", "config.toml:3:1:")] {
        home.file("home/config.toml", format!("[tools.x.limits]\ndeadline_ms = 5\n{line}\n"));
        home.run("config --check").fails(1, &[place]);
    }
}
