//! A guest that is stopped while it uses the network leaves nothing behind, whichever way it asked, whatever stops it,
//! and whatever it waits for: a name, a handshake, a token, a body on its way out or in. Nothing is no connection, task,
//! descriptor or memory.

use std::fmt;
use std::io::{Error, ErrorKind, Result};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ringfence::{Caller, Ringfence};
use serde_json::{Value, json};

use crate::support::binary::Home;
use crate::support::figures::{Random, descriptors, resident_bytes};
use crate::support::guests;
use crate::support::server::{Exchange, Server};

/// Calls at once.
const AT_ONCE: usize = 16;

/// How many tokens were given out.
static TOKENS: AtomicUsize = AtomicUsize::new(0);

/// What may be in memory that was not before: allocators keep some of what is given back.
const SLACK: u64 = 32 << 20;

#[test]
fn a_stopped_guest_leaves_nothing_behind() {
    stop(400);
}

/// Stops as many calls, in a process of its own: other tests open files and take memory.
pub(crate) fn stop(calls: usize) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["attacks::stopped_guests::alone", "--exact", "--ignored", "--nocapture"])
        .env("RINGFENCE_STOPPED_CALLS", calls.to_string())
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    println!("{out}");
    assert!(output.status.success() && out.contains("1 passed"), "{out}{err}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "the tests above run it, in a process of its own"]
async fn alone() {
    let calls: usize = std::env::var("RINGFENCE_STOPPED_CALLS").unwrap().parse().unwrap();
    let servers = Servers { speaking: Server::by_hand(answer), silent: Server::silent() };
    let home = home(&servers);
    let host = Arc::new(Ringfence::builder(ringfence::Home::at(&home.path().join("home"))).open().await.unwrap());
    let mut random = Random::new();
    // What is made once and kept is there before.
    for _ in 0..2 {
        let _ = stopped(&host, &servers, &mut random, calls.min(400)).await;
    }
    let before = Figures::settled(&servers, None).await;
    let ends = stopped(&host, &servers, &mut random, calls).await;
    let after = Figures::settled(&servers, Some(&before)).await;
    println!("{calls} calls, {ends:?}\nbefore: {before}\nafter:  {after}");
    assert!(after.connections == 0 && after.tasks <= before.tasks && after.descriptors <= before.descriptors);
    assert!(after.resident <= before.resident + SLACK);
    let Ends { cancelled, deadline, fuel, answered } = ends;
    assert!([cancelled, deadline, fuel, answered].iter().all(|count| *count > calls / 100), "all of it happened");
}

/// Whom the guests ask.
struct Servers {
    speaking: Server,
    /// Takes connections and never says a word, so that TLS begins and does not end.
    silent: Server,
}

impl Servers {
    /// The URLs of every kind of waiting.
    fn urls(&self) -> [String; 8] {
        let at = |path| self.speaking.url(path);
        // This name is looked up in the system's own way.
        let named = format!("http://localhost:{}/ok", self.speaking.address.port());
        let silent = format!("https://{}/", self.silent.address);
        [at("/ok"), at("/drip"), at("/much"), at("/never"), at("/key/ok"), at("/token/ok"), named, silent]
    }

    /// What a tool has to ask for to reach them all, with a secret and with a token.
    fn asks(&self) -> String {
        let rule = |url: String| format!("[[capabilities.http]]\nurl = \"{url}\"\nmethods = [\"*\"]\n");
        let credential = |name: &str, path| {
            let requests = format!("{{ url = \"{}\", methods = [\"*\"] }}", self.speaking.url(path));
            format!("[capabilities.credentials.{name}]\nplace = \"bearer\"\nrequests = [{requests}]\n")
        };
        let token_url = self.speaking.url("/give-token");
        let rules = [
            self.speaking.url("/**"),
            format!("http://localhost:{}/**", self.speaking.address.port()),
            format!("https://{}/**", self.silent.address),
        ];
        rules.map(rule).concat()
            + &credential("fixed", "/key/**")
            + &credential("login", "/token/**")
            + &format!(
                "[capabilities.credentials.login.oauth2]\ntoken_url = \"{token_url}\"\ngrant = \"client_credentials\"\n"
            )
    }

    fn open(&self) -> usize {
        self.speaking.open() + self.silent.open()
    }
}

/// How calls ended.
#[derive(Debug, Default)]
struct Ends {
    cancelled: usize,
    deadline: usize,
    fuel: usize,
    answered: usize,
}

/// The same tools of both front sides, each once as it is, once with little time, once with little fuel.
fn home(servers: &Servers) -> Home {
    let home = Home::new();
    let limits = |source: &str, limit: &str| format!("[tools.{source}.limits]\n{limit}\n");
    let mut config = "[rate]\nunlimited = true\n".to_owned();
    for side in ["ours", "wasi"] {
        config += &limits(&format!("{side}-short"), "deadline_ms = 5");
        config += &limits(&format!("{side}-poor"), "fuel = 400000");
    }
    home.file("home/config.toml", config);
    home.fed(&["secret", "set", "service_key", "--place", "file"], "rf_live_9f+Zq/7Kp~2x=Vd_").ok();
    for (side, guest) in [("ours", "fetcher"), ("wasi", "wasi_fetcher")] {
        for kind in ["plain", "short", "poor"] {
            let source = format!("{side}-{kind}");
            let file = home.file(&format!("{source}.wasm"), guests::package_with(guest, &source, &servers.asks()));
            home.args(&["install", file.to_str().unwrap(), "--allow-unsigned"]).ok();
            let all = ["grant", &source, "--all", "--address", "127.0.0.1/32", "--address", "::1/128"];
            home.args(&all).ok();
            let credentials = ["--credential", "fixed=service_key", "--credential", "login=service_key"];
            home.args(&[&["grant", &source][..], &credentials, &["--client", "login=a-client"]].concat()).ok();
        }
    }
    home
}

/// Answers at once, bit by bit, much, or never; and closes the connection, so that all that is open is in use.
fn answer(exchange: &mut Exchange<'_>) -> Result<String> {
    let path = exchange.head.split(' ').nth(1).unwrap_or_default().to_owned();
    let head = |length: usize| format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n");
    match path.as_str() {
        "/drip" => {
            exchange.send(head(1 << 20).as_bytes())?;
            for _ in 0..1024 {
                exchange.send(&[b'x'; 1024])?;
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        "/much" => {
            exchange.send(head(4 << 20).as_bytes())?;
            exchange.send(&vec![b'x'; 4 << 20])?;
        }
        "/never" => while exchange.chunk().is_ok() {},
        // After a while, and one that is over at once, so that in each second somebody waits for the next one.
        "/give-token" => {
            exchange.whole()?;
            std::thread::sleep(Duration::from_millis(100));
            let number = TOKENS.fetch_add(1, Ordering::Relaxed);
            let token = format!(r#"{{"access_token":"token-number-{number}","token_type":"bearer","expires_in":0}}"#);
            exchange.send(head(token.len()).as_bytes())?;
            exchange.send(token.as_bytes())?;
        }
        _ => {
            exchange.whole()?;
            exchange.send(head(2).as_bytes())?;
            exchange.send(b"ok")?;
        }
    }
    Err(Error::from(ErrorKind::ConnectionAborted))
}

/// Makes `calls` calls and stops most of them somewhere.
async fn stopped(host: &Arc<Ringfence>, servers: &Servers, random: &mut Random, calls: usize) -> Ends {
    let mut ends = Ends::default();
    for _ in 0..calls.div_ceil(AT_ONCE) {
        let calls: Vec<_> = (0..AT_ONCE).map(|_| tokio::spawn(one(host.clone(), servers, random))).collect();
        for call in calls {
            match call.await.unwrap().as_deref() {
                None => ends.cancelled += 1,
                Some("limit.deadline") => ends.deadline += 1,
                Some("limit.fuel") => ends.fuel += 1,
                Some(_) => ends.answered += 1,
            }
        }
    }
    ends
}

/// One call; `None` when it was cancelled, else the code of its error or nothing.
fn one(host: Arc<Ringfence>, servers: &Servers, random: &mut Random) -> impl Future<Output = Option<String>> + use<> {
    let side = ["ours", "wasi"][random.below(2)];
    let kind = ["plain", "short", "poor"][random.below(3)];
    let urls = servers.urls();
    let mut params = json!({"method": "POST", "url": urls[random.below(urls.len())]});
    match side {
        "wasi" => params["body"] = Value::from("x".repeat(random.below(200_000))),
        _ => params["body"] = json!({"x": "x".repeat(random.below(200_000))}),
    }
    let patience = Duration::from_micros(random.below(30_000) as u64);
    async move {
        let tool = format!("{side}-{kind}__fetch");
        let call = host.call(&tool, params, Caller::default());
        match tokio::time::timeout(patience, call).await {
            Err(_elapsed) => None,
            Ok(Ok(_)) => Some(String::new()),
            Ok(Err(error)) => Some(error.code().into_owned()),
        }
    }
}

/// What could be left behind.
struct Figures {
    connections: usize,
    tasks: usize,
    descriptors: usize,
    resident: u64,
}

impl Figures {
    /// The figures once they no longer change, or are no worse than `before`: what was dropped takes a moment to end.
    async fn settled(servers: &Servers, before: Option<&Self>) -> Self {
        let mut last = Self::now(servers);
        for _ in 0..200 {
            tokio::time::sleep(Duration::from_millis(50)).await;
            let now = Self::now(servers);
            let done = match before {
                Some(before) => now.tasks <= before.tasks && now.descriptors <= before.descriptors,
                None => now.tasks == last.tasks && now.descriptors == last.descriptors,
            };
            last = now;
            if done && last.connections == 0 {
                break;
            }
        }
        last
    }

    fn now(servers: &Servers) -> Self {
        Self {
            connections: servers.open(),
            tasks: tokio::runtime::Handle::current().metrics().num_alive_tasks(),
            descriptors: descriptors(),
            resident: resident_bytes(),
        }
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { connections, tasks, descriptors, resident } = self;
        write!(f, "{connections} connections, {tasks} tasks, {descriptors} descriptors, {} MiB", resident >> 20)
    }
}
