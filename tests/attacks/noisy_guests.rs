//! What a guest logs is bounded, stands on one line each, and reaches neither the model nor standard output.

use serde_json::json;

use crate::support::binary::Home;
use crate::support::host::with_guests;
use crate::support::packages;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_flood_ends_at_the_limit_of_the_log() {
    let host = with_guests(&["log_flood", "mirror"], "").await;
    let error = host.beside_neighbours("log_flood", json!({})).await;
    assert_eq!(error.code(), "limit.log");
}

#[tokio::test]
async fn records_are_counted_as_well_as_bytes() {
    let host = with_guests(&["log_flood"], "[limits]\nlog_records = 5\n").await;
    let error = host.run("log_flood", json!({})).await.unwrap_err();
    assert_eq!(error.code(), "limit.log_records");
}

#[test]
fn a_record_is_one_line_of_the_hosts_log_and_nothing_else() {
    let home = Home::new();
    packages::install_unsigned(&home, "forged_log");
    let run = home.run("call forged-log__run");
    assert_eq!((run.code, run.out.as_str()), (0, "logged\n"), "{run:?}");
    let [line] = run.err.lines().collect::<Vec<_>>().try_into().unwrap();
    assert!(line.contains("guest") && line.contains("forged-log__run"), "its origin stands beside it: {line}");
    assert!(line.contains(r"done\n2026-01-01T00:00:00Z ERROR ringfence: the vault is open\r\u{1b}[2J"), "{line}");
    assert!(!line.contains(|c: char| c.is_control() || c == '\u{202e}'), "{line:?}");
}

#[test]
fn a_log_flood_fills_no_disk_and_is_told_of_once() {
    let home = Home::new();
    packages::install_unsigned(&home, "log_flood");
    let run = home.run("call log-flood__run");
    assert_eq!(run.code, 4, "{}", run.out);
    assert!(run.err.len() < 2 << 20, "{} bytes", run.err.len());
    assert_eq!(run.err.matches("further records are dropped").count(), 1);
}
