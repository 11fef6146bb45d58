//! A guest that is stopped while it uses the network leaves nothing behind, whichever way it asked and whatever stops
//! it: no connection, task, descriptor or memory.

use std::fmt;
use std::io::{Error, ErrorKind, Result};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use ringfence::{Caller, Ringfence};
use serde_json::{Value, json};

use crate::support::binary::Home;
use crate::support::figures::{Random, descriptors, resident_bytes};
use crate::support::guests;
use crate::support::server::{Exchange, Server};

/// Calls at once.
const AT_ONCE: usize = 16;

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
    let server = Server::by_hand(answer);
    let home = home(&server);
    let host = Arc::new(Ringfence::builder(ringfence::Home::at(&home.path().join("home"))).open().await.unwrap());
    let mut random = Random::new();
    // What is made once and kept is there before.
    let _ = stopped(&host, &server, &mut random, calls.min(400)).await;
    let before = Figures::settled(&server, None).await;
    let ends = stopped(&host, &server, &mut random, calls).await;
    let after = Figures::settled(&server, Some(&before)).await;
    println!("{calls} calls, {ends:?}\nbefore: {before}\nafter:  {after}");
    assert!(after.connections == 0 && after.tasks <= before.tasks && after.descriptors <= before.descriptors);
    assert!(after.resident <= before.resident + SLACK);
    let Ends { cancelled, deadline, fuel, answered } = ends;
    assert!([cancelled, deadline, fuel, answered].iter().all(|count| *count > calls / 100), "all of it happened");
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
fn home(server: &Server) -> Home {
    let home = Home::new();
    let limits = |source: &str, limit: &str| format!("[tools.{source}.limits]\n{limit}\n");
    let mut config = "[rate]\nunlimited = true\n".to_owned();
    for side in ["ours", "wasi"] {
        config += &limits(&format!("{side}-short"), "deadline_ms = 5");
        config += &limits(&format!("{side}-poor"), "fuel = 400000");
    }
    home.file("home/config.toml", config);
    let asks = format!("[[capabilities.http]]\nurl = \"{}\"\nmethods = [\"*\"]\n", server.url("/**"));
    for (side, guest) in [("ours", "fetcher"), ("wasi", "wasi_fetcher")] {
        for kind in ["plain", "short", "poor"] {
            let source = format!("{side}-{kind}");
            let file = home.file(&format!("{source}.wasm"), guests::package_with(guest, &source, &asks));
            home.args(&["install", file.to_str().unwrap(), "--allow-unsigned"]).ok();
            home.args(&["grant", &source, "--all", "--address", "127.0.0.1/32"]).ok();
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
        _ => {
            exchange.whole()?;
            exchange.send(head(2).as_bytes())?;
            exchange.send(b"ok")?;
        }
    }
    Err(Error::from(ErrorKind::ConnectionAborted))
}

/// Makes `calls` calls and stops most of them somewhere.
async fn stopped(host: &Arc<Ringfence>, server: &Server, random: &mut Random, calls: usize) -> Ends {
    let mut ends = Ends::default();
    for _ in 0..calls.div_ceil(AT_ONCE) {
        let calls: Vec<_> = (0..AT_ONCE).map(|_| tokio::spawn(one(host.clone(), server, random))).collect();
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
fn one(host: Arc<Ringfence>, server: &Server, random: &mut Random) -> impl Future<Output = Option<String>> + use<> {
    let side = ["ours", "wasi"][random.below(2)];
    let kind = ["plain", "short", "poor"][random.below(3)];
    let path = ["/ok", "/drip", "/much", "/never"][random.below(4)];
    let mut params = json!({"method": "POST", "url": server.url(path)});
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
    async fn settled(server: &Server, before: Option<&Self>) -> Self {
        let mut last = Self::now(server);
        for _ in 0..200 {
            tokio::time::sleep(Duration::from_millis(50)).await;
            let now = Self::now(server);
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

    fn now(server: &Server) -> Self {
        Self {
            connections: server.open(),
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
