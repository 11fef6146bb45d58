//! Packages at URLs: what has to prove them, and what is said of everything else that a server may send.

use std::collections::HashMap;

use super::{digest, home, installed, tamper, weather};
use crate::support::authority::Authority;
use crate::support::binary::{Home, Run};
use crate::support::registry::Registry;
use crate::support::server::Server;

/// A server with these files. What is not there is answered with 404.
fn site(files: Vec<(&str, Vec<u8>)>) -> Server {
    let files: HashMap<String, Vec<u8>> = files.into_iter().map(|(path, bytes)| (path.to_owned(), bytes)).collect();
    Server::new(move |request| {
        let path = request.split(' ').nth(1).unwrap_or_default();
        match files.get(path) {
            Some(bytes) => ("200 OK".into(), bytes.clone()),
            None => ("404 Not Found".into(), b"nothing here".to_vec()),
        }
    })
}

/// The package `weather` and its signature.
fn signed(home: &Home) -> (Vec<u8>, Vec<u8>) {
    let file = weather(home, "1.0.0", "");
    let signature = std::fs::read(format!("{}.minisig", file.display())).unwrap();
    (std::fs::read(file).unwrap(), signature)
}

/// Runs `install`, with a folder for temporary files of its own, in which nothing may stay.
#[track_caller]
fn install(home: &Home, args: &[&str]) -> Run {
    let tools = || std::fs::read_dir(home.path().join("home/state/tools")).map_or(0, Iterator::count);
    let (before, temporary) = (tools(), home.path().join("temporary"));
    std::fs::create_dir_all(&temporary).unwrap();
    let mut command = home.command();
    command.arg("install").args(args).env("TMPDIR", &temporary);
    let run = Home::feed(command, "");
    assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0, "something is left: {run:?}");
    assert!(run.code == 0 || tools() == before, "something is left: {run:?}");
    run
}

#[test]
fn http_needs_a_digest_and_a_signature() {
    let home = home();
    let (component, signature) = signed(&home);
    let site =
        site(vec![("/w.wasm", component.clone()), ("/w.wasm.minisig", signature), ("/bare.wasm", component.clone())]);
    let (url, right) = (site.url("/w.wasm"), digest(&component));
    install(&home, &[&url]).fails(3, &["use https://", "--digest"]);
    let wrong = digest(b"something else");
    install(&home, &[&url, "--digest", &wrong]).fails(3, &["is not what was asked for", &right, &wrong]);
    install(&home, &[&url, "--digest", "sha256:12"]).fails(2, &["is not a SHA-256 digest"]);
    // A digest says which bytes, and not who made them.
    let bare = site.url("/bare.wasm");
    install(&home, &[&bare, "--digest", &right]).fails(3, &["is not signed"]);
    install(&home, &[&bare, "--digest", &right, "--allow-unsigned", "--as", "bare"]).ok();
    home.run("remove bare").ok();
    install(&home, &[&url, "--digest", &right]).ok();
    assert_eq!(installed(&home)["location"], format!("{url}#{right}"));
    assert!(home.run("list").ok().contains(&url), "the location is shown");
    home.args(&["call", "weather__run", "{\"n\": 1}"]).ok();
}

#[test]
fn a_signature_may_be_elsewhere() {
    let home = home();
    let (component, signature) = signed(&home);
    let other = home.file("other.minisig", &signature);
    let site = site(vec![("/w.wasm", component.clone()), ("/sigs/w", signature)]);
    let (url, right) = (site.url("/w.wasm"), digest(&component));
    install(&home, &[&url, "--digest", &right, "--signature", other.to_str().unwrap()]).ok();
    install(&home, &[&url, "--digest", &right, "--signature", &site.url("/sigs/w")]).ok();
    install(&home, &[&url, "--digest", &right, "--signature", "not-there"]).fails(2, &["not-there"]);
    tamper(&other);
    install(&home, &[&url, "--digest", &right, "--signature", other.to_str().unwrap()]).fails_somehow();
    // A file takes one as well.
    let file = home.file("moved.wasm", &component);
    install(&home, &[file.to_str().unwrap()]).fails(3, &["is not signed"]);
    install(&home, &[file.to_str().unwrap(), "--signature", &site.url("/sigs/w")]).ok();
    install(&home, &[file.to_str().unwrap(), "--digest", &digest(b"x")]).fails(3, &["is not what was asked for"]);
}

/// Over TLS a signature is enough, and without one nothing is fetched.
#[test]
fn https_needs_a_signature_or_a_digest() {
    let authority = Authority::new();
    let registry = Registry::over_tls(&authority.identity("127.0.0.1"));
    let home = home();
    let trusted = home.file("authority.pem", authority.pem());
    let config = format!(
        "[network]\nauthorities = {:?}\n[distribution]\naddresses = [\"127.0.0.1\"]\n",
        trusted.display().to_string()
    );
    let (component, signature) = signed(&home);
    let url = |bytes: &[u8]| format!("https://{}/v2/w/blobs/{}", registry.address, digest(bytes));
    // Nobody vouches for the server yet.
    install(&home, &[&url(&component)]).fails(1, &["cannot be asked", "authority that is not trusted"]);
    home.file("home/config.toml", config);
    registry.hold("w", &component);
    registry.hold("w", &signature);
    install(&home, &[&url(&component)]).fails(3, &["nothing says that", "--signature", "--digest"]);
    install(&home, &[&url(&component), "--signature", &url(&signature)]).ok();
    assert_eq!(installed(&home)["location"], url(&component));
}

#[test]
fn what_is_no_package_is_said_with_its_cause() {
    let home = home();
    let (component, _) = signed(&home);
    let server = Server::new({
        let component = component.clone();
        move |request| match request.split(' ').nth(1).unwrap_or_default() {
            "/page.wasm" => ("200 OK\r\ncontent-type: text/html".into(), b"<!DOCTYPE html><p>Log in".to_vec()),
            "/text.wasm" => ("200 OK".into(), b"not WebAssembly".to_vec()),
            "/cut.wasm" => {
                let head = format!("200 OK\r\nconnection: close\r\ncontent-length: {}", component.len());
                (head, component[..component.len() / 2].to_vec())
            }
            "/huge.wasm" => ("200 OK\r\nconnection: close\r\ncontent-length: 99999999999".into(), Vec::new()),
            "/broken.wasm" => ("500 Internal Server Error".into(), Vec::new()),
            "/closed.wasm" => ("403 Forbidden".into(), Vec::new()),
            // Many have a long page for it.
            _ => ("404 Not Found".into(), vec![b'x'; 200 << 10]),
        }
    });
    let right = digest(&component);
    let fetched =
        |path: &str, digest: &str| install(&home, &[&server.url(path), "--digest", digest, "--allow-unsigned"]);
    fetched("/page.wasm", &right).fails(3, &["is a web page and no package"]);
    fetched("/text.wasm", &digest(b"not WebAssembly")).fails(3, &["is not WebAssembly"]);
    fetched("/text.wasm", &right).fails(3, &["is not what was asked for"]);
    fetched("/cut.wasm", &right).fails(1, &["broke off", "try again"]);
    fetched("/huge.wasm", &right).fails(3, &["has more than 67108864 bytes"]);
    fetched("/gone.wasm", &right).fails(5, &["is not there"]);
    fetched("/nowhere.wasm#w", &right).fails(3, &["http://"]);
    for (path, status) in [("/broken.wasm", "500"), ("/closed.wasm", "403")] {
        fetched(path, &right).fails(1, &[status]);
    }
}

#[test]
fn private_addresses_are_for_whom_they_are_opened() {
    let home = home();
    let (component, signature) = signed(&home);
    let inner = site(vec![("/w.wasm", component.clone()), ("/w.wasm.minisig", signature)]);
    let port = inner.address.port();
    let server = Server::new(move |request| match request.split(' ').nth(1) {
        Some("/near.wasm") => (format!("302 Found\r\nlocation: http://127.0.0.1:{port}/w.wasm"), Vec::new()),
        Some("/near.wasm.minisig") => {
            (format!("302 Found\r\nlocation: http://127.0.0.1:{port}/w.wasm.minisig"), Vec::new())
        }
        Some(path) if path.starts_with("/far") => {
            (format!("302 Found\r\nlocation: http://127.0.0.2:{port}/w.wasm"), Vec::new())
        }
        _ => ("302 Found\r\nlocation: http://169.254.169.254/latest".into(), Vec::new()),
    });
    let right = digest(&component);
    install(&home, &[&server.url("/far.wasm"), "--digest", &right]).fails(3, &["127.0.0.2", "--address 127.0.0.2"]);
    install(&home, &[&server.url("/meta.wasm"), "--digest", &right]).fails(3, &["169.254.169.254", "cloud metadata"]);
    assert!(inner.seen().is_empty(), "nothing was sent there");
    install(&home, &[&server.url("/near.wasm"), "--digest", &right]).ok();
    // Without the configuration nothing private is asked at all, and with the flag it is.
    home.file("home/config.toml", "");
    home.run("remove weather").ok();
    let url = inner.url("/w.wasm");
    install(&home, &[&url, "--digest", &right]).fails(3, &["loopback", "[distribution]"]);
    install(&home, &[&url, "--digest", &right, "--address", "127.0.0.1"]).ok();
    install(&home, &[&url, "--digest", &right, "--address", "here"]).fails_somehow();
}
