//! Every command that the READMEs and the help texts show runs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::support::authority::Authority;
use crate::support::binary::{Home, Run};
use crate::support::registry::Registry;
use crate::support::server::Server;
use crate::support::{guests, packages, repository};

/// The lines of the blocks of this kind in a text.
fn blocks_of(text: &str, kind: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut inside = None;
    for line in text.lines() {
        match (line.strip_prefix("```"), inside) {
            (Some(language), None) => inside = Some(language),
            (Some(_), Some(_)) => inside = None,
            (None, Some(language)) if language == kind => lines.push(line.to_owned()),
            (None, _) => {}
        }
    }
    lines
}

/// The same of a README.
pub fn blocks(readme: &str, kind: &str) -> Vec<String> {
    blocks_of(&std::fs::read_to_string(repository().join(readme)).unwrap(), kind)
}

/// Splits a command at spaces, but for what stands between quotes, and leaves out its comment.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for c in line.split(" #").next().unwrap().trim_end().chars() {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            (None, ' ') => words.push(String::new()),
            (_, c) => words.last_mut().unwrap().push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Runs a command in `folder`. What a reader would type at a prompt is typed.
fn typed(home: &Home, folder: &Path, words: &[String]) -> Run {
    let mut command = home.command();
    command.args(&words[1..]).current_dir(folder);
    Home::feed(command, "a value that is secret\n")
}

/// Answers as Open-Meteo and GitHub do.
fn service(request: &str) -> (String, Vec<u8>) {
    let answer = match request.split_whitespace().nth(1).unwrap() {
        path if path.starts_with("/v1/search") => "tools-wasm/weather/answers/search.json",
        path if path.starts_with("/v1/forecast") => "tools-wasm/weather/answers/current.json",
        _ => "tools-wasm/github/answers/repository.json",
    };
    ("200 OK\r\ncontent-type: application/json".into(), std::fs::read(repository().join(answer)).unwrap())
}

/// Our tools for services that the README calls, with the hosts that they ask.
const SERVICES: [(&str, &[&str]); 2] = [
    ("weather__current", &["geocoding-api.open-meteo.com", "api.open-meteo.com"]),
    ("github__get_repository", &["api.github.com"]),
];

/// Who reads along, and what they have: the repository's tools, the network, and a registry.
struct Reader {
    home: Home,
    services: Vec<Server>,
    registry: Registry,
}

impl Reader {
    fn new() -> Self {
        let home = Home::new();
        let (authority, registry) = (Authority::new(), Registry::public());
        let serve = |host: &&str| (host.to_string(), Server::tls(authority.identity(host), service));
        let (names, services): (Vec<_>, Vec<_>) = SERVICES.iter().flat_map(|(_, hosts)| *hosts).map(serve).unzip();
        std::os::unix::fs::symlink(repository().join("tools-wasm"), home.path().join("tools-wasm")).unwrap();
        let trusted = home.file("authority.pem", authority.pem()).display().to_string();
        let host = |(name, server): (&String, &Server)| format!("\"{name}\" = \"{}\"", server.address);
        let hosts: Vec<_> = names.iter().zip(&services).map(host).collect();
        let network = format!("authorities = {trusted:?}\nhosts = {{ {} }}\n", hosts.join(", "));
        home.file("home/config.toml", format!("[network]\n{network}[distribution]\naddresses = [\"127.0.0.1\"]\n"));
        Self { home, services, registry }
    }

    /// Runs the commands in the blocks of a text in the order in which they stand. Gives how many there were, and the folder
    /// in which it ended.
    fn follow(&self, text: &str) -> (usize, PathBuf) {
        let (mut ran, mut folder) = (0, self.home.path().to_owned());
        for line in blocks(text, "console") {
            let line = line.replace("HOST/REPOSITORY", &format!("{}/hello", self.registry.address));
            let words = words(&line);
            match words[0].as_str() {
                // The two commands: the demo has a test of its own, and this is a part of the other one.
                "cargo" | "tests/run" => {}
                "cd" => {
                    folder = folder.join(&words[1]);
                    // What else the reader has: a tool of another host, and what came with it.
                    std::fs::write(folder.join("slack.wasm"), guests::component("agent_030")).unwrap();
                    std::fs::write(folder.join("slack.capabilities.json"), "{}").unwrap();
                }
                "ringfence" => {
                    ran += 1;
                    if words[1] == "call" && SERVICES.iter().any(|(tool, _)| *tool == words[2]) {
                        // The services are on this machine, where a tool gets no further without being let.
                        let (source, _) = words[2].split_once("__").unwrap();
                        self.home.args(&["grant", source, "--address", "127.0.0.1/32"]).ok();
                    }
                    let run = typed(&self.home, &folder, &words);
                    assert_eq!(run.code, 0, "{line}: {}", run.err);
                }
                other => panic!("what is `{other}`?"),
            }
        }
        (ran, folder)
    }
}

#[test]
fn every_command_runs_in_the_order_it_stands() {
    let reader = Reader::new();
    let (ran, project) = reader.follow("README.md");
    assert!(ran >= 30, "{ran} commands");
    assert!(reader.services.iter().all(|service| !service.seen().is_empty()), "every service was asked");
    what_a_new_project_says(&reader.home, &project);
    let (ran, _) = reader.follow("host/OPERATING.md");
    assert!(ran >= 15, "{ran} commands");
}

/// The README of the project that `new` has made in `folder`, but for what the one above says as well.
fn what_a_new_project_says(home: &Home, folder: &Path) {
    let lines = blocks_of(&std::fs::read_to_string(folder.join("README.md")).unwrap(), "");
    let ran: BTreeSet<Vec<String>> = blocks("README.md", "console").iter().map(|line| words(line)).collect();
    let own = lines.iter().map(|line| words(line)).filter(|words| words[0] != "cargo" && !ran.contains(words));
    for words in own {
        let run = typed(home, folder, &words);
        assert_eq!(run.code, 0, "{words:?}: {}", run.err);
    }
}

/// What stands for something else in commands, and what that is in the home of the test below.
const STAND_INS: [(&str, &str); 10] = [
    ("KEY.pub", "echo.pub"),
    ("NAME.key", "echo.key"),
    ("OUT.wasm", "packed.wasm"),
    ("COMPONENT.wasm", "component.wasm"),
    ("FILE.wasm", "weather.wasm"),
    ("LOCATION", "weather.wasm"),
    ("SOURCE", "weather"),
    ("TOOL", "weather"),
    ("JSON", "{\"message\": \"x\"}"),
    ("https://…", "https://api.example.org/v1/now"),
];

/// Commands that need more of a home than this one has, and run in `capabilities/state.rs`.
const ELSEWHERE: [[&str; 2]; 1] = [["state", "give"]];

/// The first words of commands, in an order in which each finds what it needs.
const ORDER: [&str; 8] = ["pack", "sign", "trust", "install", "secret", "grant", "explain", "call"];

/// Commands in the middle of a text, and the examples of help texts: none of them stands in a block that is run above.
#[test]
fn commands_in_prose_and_in_help_texts_run() {
    let home = Home::new();
    // `NAME` is the name of a tool, of a secret and of a publisher.
    home.key("echo");
    home.trust("echo", &["*"]);
    let asks = blocks("README.md", "manifest").join("\n");
    let file = home.file("weather.wasm", guests::package_with("fetcher", "weather", &asks));
    home.sign(&file, "echo");
    home.args(&["install", file.to_str().unwrap()]).ok();
    home.fed(&["secret", "set", "weather_key"], "a value that is secret").ok();
    home.run("grant weather --all --credential token=weather_key").ok();
    home.file("component.wasm", guests::component("mirror_plain"));
    let rest = "version = \"1.0.0\"\npublisher = \"acme\"\ndescription = \"A tool.\"\nlicense = \"MIT\"\n";
    home.file("ringfence.toml", format!("name = \"packed\"\n{rest}"));
    let calc = home.file("calc.wasm", guests::own_package("calc"));
    home.args(&["install", calc.to_str().unwrap(), "--allow-unsigned"]).ok();

    let (subcommands, mut texts) = help(&home, &[]);
    for (path, text) in documents(&repository()) {
        let has_a_test = HAVE_A_TEST.iter().any(|tested| repository().join(tested) == path);
        let is_command = |line: &str| line.trim_start().starts_with("ringfence ");
        let outside = commands(&text).len();
        let all = text.lines().filter(|line| is_command(line)).count();
        assert!(has_a_test || all <= outside, "{} has blocks of commands that no test runs", path.display());
        texts.push(text);
    }
    let found: BTreeSet<String> = texts.iter().flat_map(|text| commands(text)).collect();
    let mut commands: Vec<(usize, Vec<String>)> = found.iter().map(|line| (0, words(line))).collect();
    for (place, words) in &mut commands {
        *place = ORDER.iter().position(|first| words.get(1).is_some_and(|word| word == first)).unwrap_or(ORDER.len());
    }
    commands.sort();
    assert!(commands.len() > 12, "{commands:?}");
    for (_, words) in commands {
        // Where only the command is meant, that it is there.
        if subcommands.contains(&words[1..]) || ELSEWHERE.contains(&[&words[1], &words[2]].map(String::as_str)) {
            continue;
        }
        let key = || home.run("trust list --json").json()[0]["key_id"].as_str().unwrap().to_owned();
        let filled: Vec<String> = words
            .iter()
            .map(|word| match word.as_str() {
                "NAME" => "echo".into(),
                "KEY" => key(),
                word => STAND_INS.iter().fold(word.to_owned(), |word, (name, means)| word.replace(name, means)),
            })
            .collect();
        let run = typed(&home, home.path(), &filled);
        assert_eq!(run.code, 0, "{filled:?}: {}", run.err);
    }
}

/// The texts whose blocks of commands are run: here, of the projects that `new` makes, and in `languages/examples.rs`.
const HAVE_A_TEST: [&str; 6] = [
    "README.md",
    "host/OPERATING.md",
    "host/ringfence/src/author/template/README.md",
    "examples/javascript-tool/README.md",
    "examples/python-tool/README.md",
    "examples/rust-tool/README.md",
];

/// All texts in Markdown below `folder`, with their paths.
fn documents(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            found.extend(documents(&path));
        } else if name.ends_with(".md") {
            found.push((path.clone(), std::fs::read_to_string(path).unwrap()));
        }
    }
    found
}

/// All commands below `path`, itself included, and their help texts.
fn help(home: &Home, path: &[String]) -> (BTreeSet<Vec<String>>, Vec<String>) {
    let mut command = home.command();
    command.args(path).arg("--help").env("COLUMNS", "1000");
    let text = Home::feed(command, "").ok();
    let (mut all, mut texts) = (BTreeSet::from([path.to_owned()]), Vec::new());
    let listed = text.split("Commands:\n").nth(1).unwrap_or_default();
    for line in listed.lines().take_while(|line| !line.is_empty()) {
        let name = line.split_whitespace().next().unwrap().to_owned();
        if name != "help" {
            let (below, more) = help(home, &[path, &[name]].concat());
            all.extend(below);
            texts.extend(more);
        }
    }
    texts.push(text);
    (all, texts)
}

/// The commands in a text: in its prose, and as lines of examples. Those in its blocks have a test of their own.
fn commands(text: &str) -> Vec<String> {
    let mut inside = false;
    let prose = text.lines().filter(|line| {
        let fence = line.starts_with("```");
        inside ^= fence;
        !inside && !fence
    });
    let prose: Vec<&str> = prose.collect();
    let examples =
        prose.iter().filter_map(|line| line.strip_prefix("  ").filter(|line| line.starts_with("ringfence ")));
    let joined = prose.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
    let code = joined.split('`').skip(1).step_by(2).filter(|code| code.starts_with("ringfence ")).map(str::to_owned);
    examples.map(|line| (*line).to_owned()).chain(code.collect::<Vec<_>>()).collect()
}

#[test]
fn the_configuration_in_the_readme_can_be_used() {
    let home = Home::new();
    packages::install_unsigned(&home, "mirror");
    let config = blocks("README.md", "toml").join("\n").replace("weather", "mirror");
    home.file("home/config.toml", config);
    home.run("config --check").ok();
    home.run("tools").ok();
}

#[test]
fn the_tool_in_the_readme_is_the_one_that_new_writes() {
    let home = Home::new();
    home.run("new hello").ok();
    let written = std::fs::read_to_string(home.path().join("hello/src/lib.rs")).unwrap();
    let squeeze = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown = squeeze(&blocks("README.md", "rust").join("\n"));
    assert!(squeeze(&written).contains(&shown), "{written}");
}
