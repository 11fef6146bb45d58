//! What the record survives, and what it finds.

use std::path::{Path, PathBuf};

use ringfence_core::audit::AuditEvent;
use ringfence_core::output::Usage;
use ringfence_core::{CallId, Caller};

use super::*;

fn open(folder: &Path) -> Result<AuditFile, AuditFault> {
    AuditFile::open(Arc::new(Store::open(folder).unwrap()), Durability::Process)
}

fn append(log: &AuditFile, outcome: &str) -> u64 {
    let event = AuditEvent::Closed { call: &CallId::next(), outcome, duration_us: 5, usage: Usage::default() };
    log.append(&event).unwrap()
}

/// A folder with a record of `count` events, closed.
fn recorded(count: u64) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path()).unwrap();
    for place in 1..=count {
        assert_eq!(append(&log, "ok"), place);
    }
    dir
}

fn segment(dir: &tempfile::TempDir) -> PathBuf {
    segment::list(&dir.path().join("audit")).unwrap().pop().unwrap()
}

fn gaps(log: &AuditFile) -> Vec<(Option<u64>, u64)> {
    log.verify().unwrap().gaps.iter().map(|gap| (gap.from, gap.until)).collect()
}

#[test]
fn goes_on_where_the_last_process_ended() {
    let dir = recorded(3);
    let log = open(dir.path()).unwrap();
    assert_eq!(append(&log, "denied"), 4);
    assert_eq!(log.verify().unwrap(), Verified { events: 4, gaps: vec![] });
}

#[test]
fn digests_of_arguments_need_the_key() {
    let (dir, other) = (recorded(0), recorded(0));
    let (log, foreign) = (open(dir.path()).unwrap(), open(other.path()).unwrap());
    assert_eq!(log.digest("{}"), log.digest("{}"));
    assert_ne!(log.digest("{}"), log.digest("{ }"));
    assert_ne!(log.digest("{}"), foreign.digest("{}"));
}

#[test]
fn every_changed_byte_is_found() {
    let dir = recorded(4);
    let log = open(dir.path()).unwrap();
    let path = segment(&dir);
    let good = fs_err::read(&path).unwrap();
    for i in 0..good.len() {
        let mut altered = good.clone();
        altered[i] ^= 1;
        fs_err::write(&path, altered).unwrap();
        assert!(matches!(log.verify(), Err(AuditFault::Altered { .. } | AuditFault::Cut { .. })), "byte {i}");
    }
    fs_err::write(&path, good).unwrap();
    log.verify().unwrap();
}

#[test]
fn lines_left_out_repeated_or_moved_are_found() {
    let dir = recorded(4);
    let log = open(dir.path()).unwrap();
    let path = segment(&dir);
    let text = fs_err::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    for order in [vec![0, 1, 3], vec![1, 2, 3], vec![0, 2, 1, 3], vec![0, 1, 1, 2, 3], vec![0, 1, 2], vec![]] {
        let altered: String = order.iter().map(|i| format!("{}\n", lines[*i])).collect();
        fs_err::write(&path, altered).unwrap();
        assert!(log.verify().is_err(), "{order:?}");
    }
}

#[test]
fn an_incomplete_line_is_removed_and_nothing_is_missing() {
    let dir = recorded(3);
    let path = segment(&dir);
    let whole = fs_err::read(&path).unwrap();
    for length in [1, 10, 100] {
        fs_err::write(&path, [&whole[..], &whole[..length]].concat()).unwrap();
        let log = open(dir.path()).unwrap();
        assert_eq!(log.verify().unwrap(), Verified { events: 3, gaps: vec![] });
    }
    // A segment that was begun, but has no whole line, is begun again.
    let begun = dir.path().join("audit/00000000000000000004.jsonl");
    fs_err::write(&begun, "{\"seq\":4").unwrap();
    let log = open(dir.path()).unwrap();
    assert_eq!(append(&log, "ok"), 4);
    assert!(!begun.exists());
}

#[test]
fn a_cut_tail_is_found_and_stays_on_the_record() {
    let dir = recorded(5);
    let path = segment(&dir);
    let text = fs_err::read_to_string(&path).unwrap();
    let kept: String = text.lines().take(2).map(|line| format!("{line}\n")).collect();
    fs_err::write(&path, kept).unwrap();
    {
        let log = open(dir.path()).unwrap();
        assert_eq!(gaps(&log), [(Some(3), 6)]);
        assert_eq!(append(&log, "ok"), 7);
    }
    assert_eq!(gaps(&open(dir.path()).unwrap()), [(Some(3), 6)]);
}

#[test]
fn a_record_that_is_gone_altogether_is_missed() {
    let dir = recorded(5);
    fs_err::remove_file(segment(&dir)).unwrap();
    assert_eq!(gaps(&open(dir.path()).unwrap()), [(Some(1), 6)]);
}

#[test]
fn a_head_that_is_gone_or_forged_is_told() {
    let dir = recorded(2);
    let head = dir.path().join("audit/head");
    fs_err::remove_file(&head).unwrap();
    assert_eq!(gaps(&open(dir.path()).unwrap()), [(None, 3)]);
    let forged = fs_err::read_to_string(&head).unwrap().replacen('3', "9", 1);
    fs_err::write(&head, forged).unwrap();
    assert_eq!(gaps(&open(dir.path()).unwrap()), [(None, 3), (None, 4)]);
}

#[test]
fn a_head_that_lags_after_a_kill_is_accepted() {
    let dir = recorded(2);
    let old = fs_err::read(dir.path().join("audit/head")).unwrap();
    append(&open(dir.path()).unwrap(), "ok");
    fs_err::write(dir.path().join("audit/head"), old).unwrap();
    assert_eq!(gaps(&open(dir.path()).unwrap()), []);
}

#[test]
fn an_altered_end_or_another_key_is_refused() {
    let dir = recorded(3);
    let key = dir.path().join("host.key");
    let good = fs_err::read(&key).unwrap();
    fs_err::write(&key, [7; 32]).unwrap();
    assert!(matches!(open(dir.path()), Err(AuditFault::Altered { line: None, .. })));
    fs_err::write(&key, good).unwrap();
    let path = segment(&dir);
    let altered = fs_err::read_to_string(&path).unwrap().replace("\"seq\":3", "\"seq\":2");
    fs_err::write(&path, altered).unwrap();
    let error = open(dir.path()).err().unwrap().to_string();
    assert!(error.contains("altered at the end") && error.contains("move the folder `audit` away"), "{error}");
}

#[test]
fn full_segments_are_followed_by_others_in_one_chain() {
    let dir = recorded(0);
    let long = "x".repeat(line::MAX_LINE - 1000);
    let events = 2 * segment::FULL / long.len() as u64 + 10;
    {
        let log = open(dir.path()).unwrap();
        for _ in 0..events {
            append(&log, &long);
        }
    }
    assert_eq!(segment::list(&dir.path().join("audit")).unwrap().len(), 3);
    let log = open(dir.path()).unwrap();
    assert_eq!(log.verify().unwrap().events, events);
    // The last line of one segment alone in the next one is checked across the border.
    let first_of_last = segment(&dir);
    assert!(fs_err::metadata(first_of_last).unwrap().len() > 0);
}

#[test]
fn an_event_that_is_too_long_is_refused_and_harms_nothing() {
    let dir = recorded(1);
    let log = open(dir.path()).unwrap();
    let (call, caller, tool) = (CallId::next(), Caller::default(), "x".repeat(line::MAX_LINE));
    let event = AuditEvent::Opened { call: &call, parent: None, caller: &caller, tool: &tool, arguments: "" };
    assert!(log.append(&event).is_err());
    assert_eq!(append(&log, "ok"), 2);
    assert_eq!(log.verify().unwrap().events, 2);
}

#[test]
fn the_index_follows_and_can_be_lost() {
    let dir = recorded(3);
    let outcomes = |log: &AuditFile| -> Vec<(u64, Option<String>)> {
        log.recent(2).unwrap().into_iter().map(|event| (event.seq, event.outcome)).collect()
    };
    {
        let log = open(dir.path()).unwrap();
        append(&log, "denied");
        assert_eq!(outcomes(&log), [(4, Some("denied".into())), (3, Some("ok".into()))]);
    }
    fs_err::write(dir.path().join("audit/index.db"), "not a database, so it is made anew").unwrap();
    let log = open(dir.path()).unwrap();
    assert_eq!(outcomes(&log), [(4, Some("denied".into())), (3, Some("ok".into()))]);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_callers_share_what_makes_their_events_safe() {
    let dir = recorded(0);
    let store = Arc::new(Store::open(dir.path()).unwrap());
    let log = Arc::new(AuditFile::open(store, Durability::Power).unwrap());
    let callers = (0..64).map(|_| {
        let log = log.clone();
        tokio::spawn(async move {
            let place = append(&log, "ok");
            log.settle(place).await
        })
    });
    for caller in callers.collect::<Vec<_>>() {
        caller.await.unwrap().unwrap();
    }
    assert_eq!(log.verify().unwrap().events, 64);
}
