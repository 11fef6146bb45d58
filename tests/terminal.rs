//! What somebody who sits at a terminal sees: prompts that show nothing of what is typed, and how far a download is.

use std::time::Duration;

use serde_json::json;

use crate::support::binary::Home;
use crate::support::server::Server;
use crate::support::terminal::Terminal;
use crate::support::{guests, packages};

/// What is typed, and never shown: also not in part.
const SECRET: &str = "correct-horse-9f+Zq";

/// Ends well, and showed nothing of the secret.
#[track_caller]
fn ends(terminal: Terminal, code: i32) -> String {
    let (ended, shown) = terminal.end();
    assert_eq!(ended, code, "{shown}");
    for part in ["correct", "horse", "9f+Zq"] {
        assert!(!shown.contains(part), "{part} is shown: {shown}");
    }
    shown
}

#[test]
fn the_value_of_a_secret_is_not_shown_while_it_is_typed() {
    let home = Home::new();
    home.file("home/config.toml", "[secrets]\nreveal = [\"a_key\"]\n");
    let kept = || home.args(&["call", "secret_get", r#"{"name": "a_key"}"#]).ok();
    let mut terminal = Terminal::ringfence(&home, &["secret", "set", "a_key", "--place", "file"]);
    terminal.answer("Value of a_key (at least 8 bytes, not shown): ", SECRET);
    ends(terminal, 0);
    assert!(kept().contains(SECRET), "{}", kept());
    let mut terminal = Terminal::ringfence(&home, &["secret", "rotate", "a_key"]);
    terminal.answer("Value of a_key (at least 8 bytes, not shown): ", &format!("{SECRET}-2"));
    ends(terminal, 0);
    assert!(kept().contains(&format!("{SECRET}-2")), "{}", kept());
}

#[test]
fn a_passphrase_is_typed_twice_and_never_shown() {
    let home = Home::new();
    let set = ["secret", "set", "a_key", "--place", "file", "--key", "passphrase"];
    let mut terminal = Terminal::ringfence(&home, &set);
    terminal.answer("Passphrase for the secrets (not shown): ", SECRET);
    terminal.answer("The same again: ", "correct-horse-other");
    assert!(ends(terminal, 2).contains("the two passphrases differ"));

    let mut terminal = Terminal::ringfence(&home, &set);
    terminal.answer("Passphrase for the secrets (not shown): ", SECRET);
    terminal.answer("The same again: ", SECRET);
    terminal.answer("Value of a_key (at least 8 bytes, not shown): ", "another-9f+Zq-value");
    ends(terminal, 0);

    // Whoever comes later is asked for it, and told when it is another one.
    let mut terminal = Terminal::ringfence(&home, &["secret", "set", "b_key"]);
    terminal.answer("Passphrase of the secrets (not shown): ", SECRET);
    terminal.answer("Value of b_key (at least 8 bytes, not shown): ", "another-9f+Zq-value");
    ends(terminal, 0);
    let mut terminal = Terminal::ringfence(&home, &["secret", "set", "c_key"]);
    terminal.answer("Passphrase of the secrets (not shown): ", "correct-horse-other");
    let (code, shown) = terminal.end();
    assert!(code != 0 && shown.contains("passphrase") && !shown.contains("correct-horse"), "{code} {shown}");
    let names = home.run("secret list --json").ok();
    assert!(names.contains("a_key") && names.contains("b_key") && !names.contains("c_key"), "{names}");
}

#[test]
fn the_password_of_a_key_is_typed_twice_and_never_shown() {
    let home = Home::new();
    let mut terminal = Terminal::ringfence(&home, &["key", "generate", "acme"]);
    terminal.answer("Password for the secret key: ", SECRET);
    terminal.answer("The same again: ", SECRET);
    ends(terminal, 0);
    let file = packages::package(&home, "mirror", "1.0.0");
    let sign = ["sign", file.to_str().unwrap(), "--key", "acme.key"];
    let mut terminal = Terminal::ringfence(&home, &sign);
    terminal.answer(": ", "correct-horse-other");
    let (code, shown) = terminal.end();
    assert!(code != 0 && !shown.contains("correct-horse"), "{code} {shown}");
    assert!(!home.path().join("mirror-1.0.0.wasm.minisig").exists());
    let mut terminal = Terminal::ringfence(&home, &sign);
    terminal.answer(": ", SECRET);
    ends(terminal, 0);
    home.trust("acme", &["*"]);
    home.args(&["install", file.to_str().unwrap()]).ok();
}

/// Sends the first half of a package at once, and the rest piece by piece, longer than a download is shown as nothing.
fn slow_site(component: Vec<u8>) -> Server {
    Server::by_hand(move |exchange| {
        let request = exchange.whole()?;
        if !request.starts_with("GET /mirror.wasm ") {
            exchange.send(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")?;
            return Ok(request);
        }
        exchange.send(format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", component.len()).as_bytes())?;
        let (first, rest) = component.split_at(component.len() / 2);
        exchange.send(first)?;
        for piece in rest.chunks(rest.len().div_ceil(15)) {
            std::thread::sleep(Duration::from_millis(100));
            exchange.send(piece)?;
        }
        Ok(request)
    })
}

#[test]
fn a_download_that_takes_long_shows_how_far_it_is() {
    let home = Home::new();
    let component = guests::package("mirror", "mirror", "1.0.0");
    let digest = format!("sha256:{}", ringfence_store::Digest::of(&component));
    let url = slow_site(component).url("/mirror.wasm");
    let args = ["install", &url, "--digest", &digest, "--allow-unsigned", "--address", "127.0.0.1"];
    let (code, shown) = Terminal::ringfence(&home, &args).end();
    assert_eq!(code, 0, "{shown}");
    let bar = shown.split(['\r', '\n']).find(|line| line.contains("iB/") && line.contains(&url));
    assert!(bar.is_some(), "{shown}");
    // It is gone at the end, and nobody who is no terminal sees one.
    assert!(shown.rfind("\u{1b}[2K") > shown.rfind("iB/"), "{shown:?}");
    assert_eq!(home.run("list --json").json()[0]["version"], json!("1.0.0"));
    let run = Home::new().args(&args);
    assert!(run.code == 0 && !run.err.contains("iB/"), "{run:?}");
}

#[test]
fn who_serves_by_hand_is_told_who_is_waited_for() {
    let home = Home::new();
    let mut terminal = Terminal::ringfence(&home, &["serve"]);
    terminal.shows("waiting for an MCP client");
    terminal.types("\u{3}");
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
}
