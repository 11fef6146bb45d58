//! The author's way: new, build, test, inspect, sign. And the demo, which is all of it.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::readme::blocks;
use crate::support::binary::Home;
use crate::support::guests;

#[test]
fn a_new_tool_is_built_tested_signed_installed_and_called() {
    let home = Home::new();
    assert!(home.run("new hello").ok().contains("ringfence build"));
    let source = std::fs::read_to_string(home.path().join("hello/src/lib.rs")).unwrap();
    let tool = source.split("#[cfg(test)]").next().unwrap();
    assert!(tool.lines().filter(|line| !line.trim().is_empty()).count() < 20, "{tool}");

    let built = home.run("build hello --json").json();
    assert_eq!(built["tools"], json!(["greet"]));
    assert!(built["toolchain"].as_str().unwrap().contains("Rust"), "{built}");
    home.run("test hello").ok();

    let inspected = home.run("inspect hello/hello.wasm --json").json();
    assert_eq!(inspected["tools"][0]["name"], "greet");
    assert_eq!(inspected["manifest"]["package"]["name"], "hello");
    assert_eq!(inspected["exports"], json!(["ringfence:tool/guest@0.1.0"]));
    assert_eq!(inspected["signed_by"], Value::Null);

    home.key("me");
    home.sign(Path::new("hello/hello.wasm"), "me");
    home.trust("me", &["hello"]);
    home.run("install hello/hello.wasm").ok();
    assert_eq!(home.args(&["call", "greet", "{\"name\": \"Ada\"}"]).ok(), "Hello, Ada!\n");
    an_example_that_needs_a_grant_is_left_out(&home, &source);
}

/// The project `hello`, once its tool keeps something between calls.
fn an_example_that_needs_a_grant_is_left_out(home: &Home, source: &str) {
    let keeps = source.replace("    Ok(format!(", "    state::set(\"last\", args.name.as_bytes())?;\n    Ok(format!(");
    assert_ne!(keeps, source);
    home.file("hello/src/lib.rs", keeps);
    let manifest = std::fs::read_to_string(home.path().join("hello/ringfence.toml")).unwrap();
    home.file("hello/ringfence.toml", manifest + "\n[capabilities.state]\nbytes = 100\nkeys = 1\n");
    let tested = home.run("test hello").ok();
    assert!(tested.contains("0 examples in the sandbox") && tested.contains("Left out: 1 example"), "{tested}");
}

#[test]
fn a_project_that_does_not_compile_shows_the_compilers_words() {
    let home = Home::new();
    home.run("new broken").ok();
    std::fs::write(home.path().join("broken/src/lib.rs"), "fn nonsense( {").unwrap();
    home.run("build broken").fails(1, &["error", "src/lib.rs"]);
    home.run("build nowhere").fails(2, &["there is no `nowhere`"]);
    home.run("build .").fails(2, &["ringfence.toml", "ringfence new"]);
    home.run("new broken").fails(2, &["broken"]);
    home.run("new Not-A-Name").fails(2, &["a-z"]);
}

/// A rustup that has the targets of a file and adds one where another file says so, and a cargo that says what it was
/// told, and that it is not the real one.
const RUSTUP: &str = "#!/bin/sh
case \"$*\" in
'target list --installed') cat \"$(dirname \"$0\")/targets\" ;;
'target add wasm32-wasip2') exec test -e \"$(dirname \"$0\")/online\" ;;
*) exit 1 ;;
esac
";
const CARGO: &str = "#!/bin/sh
case \"$1\" in
metadata) echo '{\"target_directory\": \"/nowhere\"}' ;;
*) echo \"stub cargo: $*\" >&2; exit 1 ;;
esac
";

#[test]
fn build_takes_rustup_s_compiler_before_debian_s() {
    let home = Home::new();
    home.run("new hello").ok();
    let program = |name: &str, text: &str| {
        use std::os::unix::fs::PermissionsExt as _;
        let path = home.file(&format!("programs/{name}"), text);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    };
    program("rustup", RUSTUP);
    program("cargo", CARGO);
    // The real cargo of Debian asks this one which compiler it would be, and does not get far.
    let wrapper = program("wrapper", "#!/bin/sh\necho \"wrapped: $1\" >&2\nexit 1\n");
    home.file("hello/.cargo/config.toml", format!("[build]\nrustc-wrapper = {wrapper:?}\n"));
    // Debian's compiler takes the linker of rustup's toolchain, where that has one.
    let about = Command::new("/usr/bin/rustc").arg("-vV").output().map(|said| said.stdout).unwrap_or_default();
    let about = String::from_utf8(about).unwrap();
    let host = about.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default();
    home.file(&format!("sysroot/lib/rustlib/{host}/bin/rust-lld"), "");
    program("rustc", &format!("#!/bin/sh\necho {}\n", home.path().join("sysroot").display()));
    let path = format!("{}:/usr/bin:/bin", home.path().join("programs").display());
    let (native, unknown, wasip2) = ("x86_64-unknown-linux-gnu\n", "wasm32-unknown-unknown\n", "wasm32-wasip2\n");
    let debian = if Path::new("/usr/lib/rustlib/src").is_dir() {
        "wrapped: /usr/bin/rustc"
    } else {
        "There is no Rust compiler for WebAssembly here"
    };
    for (targets, online, expected) in [
        (format!("{unknown}{wasip2}"), false, "--target wasm32-wasip2"),
        (format!("{native}{unknown}"), true, "--target wasm32-wasip2"),
        (format!("{native}{unknown}"), false, "--target wasm32-unknown-unknown"),
        (native.to_owned(), false, debian),
        (String::new(), true, debian),
    ] {
        home.file("programs/targets", &targets);
        let place = home.path().join("programs/online");
        if online {
            std::fs::write(place, "").unwrap();
        } else {
            let _ = std::fs::remove_file(place);
        }
        let output = home.command().args(["build", "hello"]).env("PATH", &path).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && said.contains(expected), "{targets:?}: {said}");
        assert_eq!(said.contains("stub cargo"), expected.starts_with("--target"), "{targets:?}: {said}");
    }
}

#[test]
fn inspect_says_what_a_file_is_and_refuses_one_without_tools() {
    let home = Home::new();
    for (name, parts) in [
        ("no_tools", &["no tools"][..]),
        ("core_module", &["core module, expected a component"]),
        ("contract_99", &["99.0.0", "0.1.0"]),
    ] {
        let file = home.file("file.wasm", guests::component(name));
        home.args(&["inspect", file.to_str().unwrap()]).fails(1, parts);
    }
    let file = home.file("wait.wasm", guests::component("wait_an_hour"));
    let imports = home.args(&["inspect", file.to_str().unwrap(), "--json"]).json()["imports"].to_string();
    assert!(imports.contains("wasi:clocks/monotonic-clock"), "{imports}");
}

#[test]
fn inspect_prints_all_that_the_manifest_says() {
    let home = Home::new();
    let said = "name = \"weather\"\nversion = \"2.3.4\"\npublisher = \"acme\"\ndescription = \"Tells the weather.\"\n\
                license = \"MIT\"\nhomepage = \"https://example.org/weather\"\n";
    let file = home.file("weather.wasm", guests::package_saying("mirror", said));
    let out = home.args(&["inspect", file.to_str().unwrap()]).ok();
    for (i, line) in said.lines().enumerate() {
        assert!(out.contains(&format!("\n{:>4}  {line}", i + 1)), "{line}: {out}");
    }
    home.args(&["install", file.to_str().unwrap(), "--allow-unsigned"]).ok();
    let listed = home.run("list --json").json();
    assert_eq!((&listed[0]["source"], &listed[0]["version"]), (&json!("weather"), &json!("2.3.4")));
}

#[test]
fn the_demo_tells_the_whole_story() {
    let home = Home::new();
    let story = home.run("demo --keep kept").ok();
    let lines: Vec<&str> = story.lines().collect();
    assert!((8..=14).contains(&lines.len()), "{story}");
    for part in [
        "signed",
        "is not trusted",
        "one bit changed is refused",
        "installed",
        "168",
        "limit of fuel",
        "on record",
        "ringfence new",
    ] {
        assert!(story.contains(part), "{part}: {story}");
    }
    let shown: Vec<String> = blocks("README.md", "text").iter().map(|line| fixed(line)).collect();
    let told = lines.iter().map(|line| fixed(&line.replace("Look around: ringfence --home DIR/home list. ", "")));
    assert_eq!(told.collect::<Vec<_>>(), shown, "the README shows something else");
    let kept = home.path().join("kept/home");
    let listed = home.args(&["list", "--json", "--home", kept.to_str().unwrap()]).json();
    assert_eq!(listed[0]["source"], "primes");
    home.run("demo --keep kept").fails(2, &["`kept`", "it is there already"]);
}

/// A line of the story but for what differs from one machine or run to the next: the compiler, and all that has a digit.
fn fixed(line: &str) -> String {
    let line = match line.split_once(" built with ") {
        Some((before, after)) => format!("{before} built with {}", after.split_once(": ").unwrap().1),
        None => line.to_owned(),
    };
    let fixed = |word: &str| if word.contains(|c: char| c.is_ascii_digit()) { "#".to_owned() } else { word.to_owned() };
    line.split_whitespace().map(fixed).collect::<Vec<_>>().join(" ")
}
