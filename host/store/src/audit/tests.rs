//! What the record survives, and what it finds.

use std::path::{Path, PathBuf};

use ringfence_core::audit::AuditEvent;
use ringfence_core::output::Usage;
use ringfence_core::{CallId, Caller, ToolId};

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
        assert!(matches!(log.verify(), Err(AuditFault::Altered { .. })), "byte {i}");
    }
    fs_err::write(&path, good).unwrap();
    log.verify().unwrap();
}

/// The line of `text`, counted from 1, that the byte `place` stands in.
fn line_of(text: &[u8], place: usize) -> u64 {
    text[..place].iter().filter(|byte| **byte == b'\n').count() as u64 + 1
}

/// Checks that `fault` says so much of a damage in the line `wanted`, of `count`, and advises to cut nothing off.
#[track_caller]
fn is_altered(fault: Option<AuditFault>, wanted: u64, count: u64) {
    let Some(fault) = fault else { panic!("line {wanted} is taken for genuine") };
    let told = fault.to_string();
    assert!(told.contains("cut nothing off") && !told.contains("truncate"), "{told}");
    let AuditFault::Altered { line, before, behind, .. } = fault else { panic!("{told}") };
    assert_eq!((line, before), (wanted, wanted - 1), "{told}");
    // The damage takes one line, or joins two; the one behind it is not proven where its seal is hit.
    assert!(behind <= count - wanted && behind + 2 >= count - wanted, "{told}");
}

#[test]
fn one_byte_more_less_or_changed_is_found_where_it_is_and_nothing_genuine_is_cut_off() {
    let dir = recorded(5);
    let (path, folder) = (segment(&dir), dir.path().join("audit"));
    let good = fs_err::read(&path).unwrap();
    let running = open(dir.path()).unwrap();
    let check = |altered: Vec<u8>, i: usize| {
        fs_err::write(&path, &altered).unwrap();
        is_altered(running.verify().err(), line_of(&good, i), 5);
        // A start looks only at what moved the end, or stands there.
        let start = Writer::open(&folder, running.store.key()).err();
        if altered.len() != good.len() || start.is_some() {
            is_altered(start, line_of(&good, i), 5);
        }
        assert_eq!(fs_err::read(&path).unwrap(), altered, "it is evidence");
    };
    for i in 0..good.len() {
        for byte in [b'x', b' ', b'\n'] {
            // Beside the end of a line, it would be one of the line behind.
            if (byte, good[i]) != (b'\n', b'\n') {
                check([&good[..i], &[byte], &good[i..]].concat(), i);
            }
        }
        if i + 1 < good.len() {
            check([&good[..i], &good[i + 1..]].concat(), i);
        }
        check([&good[..i], &[good[i] ^ 1], &good[i + 1..]].concat(), i);
    }
    drop(running);
    fs_err::write(&path, &good).unwrap();
    assert_eq!(open(dir.path()).unwrap().verify().unwrap(), Verified { events: 5, gaps: vec![] });
}

#[test]
fn a_byte_more_or_less_is_found_where_a_kill_left_the_head_behind() {
    let dir = recorded(3);
    let old = fs_err::read(dir.path().join("audit/head")).unwrap();
    append(&open(dir.path()).unwrap(), "ok");
    fs_err::write(dir.path().join("audit/head"), old).unwrap();
    let path = segment(&dir);
    let good = fs_err::read(&path).unwrap();
    for altered in [good[1..].to_vec(), [b"x", &good[..]].concat()] {
        fs_err::write(&path, &altered).unwrap();
        is_altered(open(dir.path()).err(), 1, 4);
        assert_eq!(fs_err::read(&path).unwrap(), altered);
    }
    fs_err::write(&path, &good).unwrap();
    assert_eq!(open(dir.path()).unwrap().verify().unwrap().events, 4);
}

#[test]
fn only_the_beginning_of_a_first_event_is_removed() {
    let dir = recorded(3);
    let path = segment(&dir);
    let good = fs_err::read(&path).unwrap();
    fs_err::remove_file(dir.path().join("audit/head")).unwrap();
    let joined: Vec<u8> = good.iter().map(|byte| if *byte == b'\n' { b' ' } else { *byte }).collect();
    for damaged in [joined.as_slice(), b"no event of ours"] {
        fs_err::write(&path, damaged).unwrap();
        assert!(open(dir.path()).is_err());
        assert_eq!(fs_err::read(&path).unwrap(), damaged, "what is found is not touched");
    }
    for begun in [&good[..0], &good[..1], &good[..40]] {
        fs_err::write(&path, begun).unwrap();
        assert_eq!(append(&open(dir.path()).unwrap(), "ok"), 1);
        fs_err::remove_file(dir.path().join("audit/head")).unwrap();
    }
}

#[test]
fn a_last_line_that_lacks_only_its_end_is_kept() {
    let dir = recorded(3);
    let path = segment(&dir);
    let good = fs_err::read(&path).unwrap();
    fs_err::write(&path, &good[..good.len() - 1]).unwrap();
    assert_eq!(open(dir.path()).unwrap().verify().unwrap(), Verified { events: 3, gaps: vec![] });
    assert_eq!(fs_err::read(&path).unwrap(), good);
}

#[test]
fn lines_that_come_back_to_their_place_are_gone_on_behind() {
    let dir = recorded(3);
    let path = segment(&dir);
    let good = fs_err::read(&path).unwrap();
    // Altered while the host runs, so that it knows another end; then restored from a backup.
    let log = open(dir.path()).unwrap();
    append(&log, "ok");
    let whole = fs_err::read(&path).unwrap();
    assert!(whole.starts_with(&good));
    let head = head::HeadFile::open(&dir.path().join("audit")).unwrap();
    let now = head.read(log.store.key()).unwrap().unwrap();
    head.write(log.store.key(), head::Head { length: now.length.map(|length| length - 1), ..now }).unwrap();
    drop(log);
    assert_eq!(append(&open(dir.path()).unwrap(), "ok"), 5);
    assert_eq!(open(dir.path()).unwrap().verify().unwrap(), Verified { events: 5, gaps: vec![] });
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
fn what_others_write_behind_the_end_is_found_stops_the_record_and_can_be_taken_away() {
    for foreign in [&b"\n"[..], b"x", b"{}\n"] {
        let dir = recorded(3);
        let log = open(dir.path()).unwrap();
        let path = segment(&dir);
        let good = fs_err::read(&path).unwrap();
        let length = good.len() as u64;
        fs_err::write(&path, [&good, foreign].concat()).unwrap();
        let found = |fault: Option<AuditFault>| {
            let fault = fault.unwrap();
            assert!(matches!(&fault, AuditFault::Foreign { from: Some(from), .. } if *from == length), "{fault}");
        };
        found(log.verify().err());
        let event = AuditEvent::Abandoned { call: &CallId::next(), duration_us: 5 };
        let refused = log.append(&event).unwrap_err().to_string();
        assert!(refused.contains("`ringfence audit --verify`"), "{refused}");
        let advice = log.verify().unwrap_err().to_string();
        assert!(advice.contains(&format!("truncate --size={length} ")), "{advice}");
        fs_err::OpenOptions::new().write(true).open(&path).unwrap().set_len(length).unwrap();
        append(&log, "ok");
        assert_eq!(log.verify().unwrap(), Verified { events: 4, gaps: vec![] });
    }
}

#[test]
fn foreign_lines_are_not_gone_on_behind_after_a_start() {
    let dir = recorded(3);
    let path = segment(&dir);
    let good = fs_err::read(&path).unwrap();
    for foreign in [&b"\n"[..], b"\n\n", b" \n", b"{}\n"] {
        fs_err::write(&path, [&good, foreign].concat()).unwrap();
        let fault = open(dir.path()).err().unwrap();
        assert!(
            matches!(&fault, AuditFault::Foreign { from: Some(from), .. } if *from == good.len() as u64),
            "{fault}"
        );
    }
    fs_err::write(&path, good).unwrap();
    assert_eq!(open(dir.path()).unwrap().verify().unwrap().events, 3);
}

#[test]
fn older_lines_that_were_copied_behind_the_end_are_found_at_a_start() {
    let dir = recorded(5);
    let path = segment(&dir);
    let good = fs_err::read_to_string(&path).unwrap();
    let lines: Vec<&str> = good.split_inclusive('\n').collect();
    for block in [&lines[..], &lines[3..], &lines[..2], &lines[1..4]] {
        fs_err::write(&path, [&good, block.concat().as_str()].concat()).unwrap();
        let fault = open(dir.path()).err().unwrap();
        let end = good.len() as u64;
        assert!(matches!(&fault, AuditFault::Foreign { from: Some(from), .. } if *from == end), "{fault}");
    }
    // Nothing was lost, and nothing was added.
    fs_err::write(&path, &good).unwrap();
    assert_eq!(open(dir.path()).unwrap().verify().unwrap(), Verified { events: 5, gaps: vec![] });
}

#[test]
fn copied_lines_are_told_from_those_that_a_kill_left_without_their_head() {
    let dir = recorded(3);
    let old = fs_err::read(dir.path().join("audit/head")).unwrap();
    append(&open(dir.path()).unwrap(), "ok");
    fs_err::write(dir.path().join("audit/head"), old).unwrap();
    let path = segment(&dir);
    let good = fs_err::read_to_string(&path).unwrap();
    let block: String = good.split_inclusive('\n').take(2).collect();
    fs_err::write(&path, [good.as_str(), &block].concat()).unwrap();
    let fault = open(dir.path()).err().unwrap();
    assert!(matches!(&fault, AuditFault::Foreign { from: Some(from), .. } if *from == good.len() as u64), "{fault}");
    fs_err::write(&path, &good).unwrap();
    assert_eq!(gaps(&open(dir.path()).unwrap()), []);
}

#[test]
fn the_head_of_an_earlier_version_is_read() {
    let dir = recorded(3);
    let store = Store::open(dir.path()).unwrap();
    let head = head::HeadFile::open(&dir.path().join("audit")).unwrap();
    let now = head.read(store.key()).unwrap().unwrap();
    assert_eq!(now.length, Some(fs_err::metadata(segment(&dir)).unwrap().len()));
    fs_err::write(dir.path().join("audit/head"), "").unwrap();
    head.write(store.key(), head::Head { length: None, ..now }).unwrap();
    drop(store);
    assert_eq!(append(&open(dir.path()).unwrap(), "ok"), 4);
    assert_eq!(gaps(&open(dir.path()).unwrap()), []);
}

#[test]
fn files_that_are_no_segments_of_the_record_are_found_and_never_written_to() {
    for name in ["0099.jsonl", "copy.jsonl", "00000000000000000099.jsonl", "00000000000000000000.jsonl"] {
        let dir = recorded(3);
        let log = open(dir.path()).unwrap();
        let (path, copy) = (segment(&dir), dir.path().join("audit").join(name));
        fs_err::copy(&path, &copy).unwrap();
        let found = |fault: Option<AuditFault>| {
            let fault = fault.unwrap();
            assert!(matches!(&fault, AuditFault::Foreign { file, from: None } if *file == copy), "{fault}");
        };
        found(log.verify().err());
        append(&log, "ok");
        drop(log);
        found(open(dir.path()).err());
        fs_err::remove_file(&copy).unwrap();
        assert_eq!(open(dir.path()).unwrap().verify().unwrap(), Verified { events: 4, gaps: vec![] });
    }
}

#[test]
fn a_record_that_begins_behind_a_gap_goes_on() {
    let dir = recorded(5);
    fs_err::remove_file(segment(&dir)).unwrap();
    drop(open(dir.path()).unwrap());
    assert_eq!(append(&open(dir.path()).unwrap(), "ok"), 7);
}

#[test]
fn an_altered_end_or_another_key_is_refused() {
    let dir = recorded(3);
    let key = dir.path().join("host.key");
    let good = fs_err::read(&key).unwrap();
    fs_err::write(&key, [7; 32]).unwrap();
    let error = open(dir.path()).err().unwrap().to_string();
    assert!(error.contains("unless `host.key` is not the key that wrote it"), "{error}");
    fs_err::write(&key, good).unwrap();
    let path = segment(&dir);
    let altered = fs_err::read_to_string(&path).unwrap().replace("\"seq\":3", "\"seq\":2");
    fs_err::write(&path, altered).unwrap();
    let error = open(dir.path()).err().unwrap().to_string();
    assert!(error.contains("line 3 of ") && error.contains("move the folder `audit` away"), "{error}");
    assert!(!error.contains("unless"), "{error}");
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

/// Records that `user` called the tool `count`, and gives the places of both events.
fn permit(log: &AuditFile, user: &str, between: impl FnOnce()) -> [u64; 2] {
    let (call, caller) = (CallId::next(), Caller { user: Some(user.into()), ..Caller::default() });
    let event = AuditEvent::Opened { call: &call, parent: None, caller: &caller, tool: "text__count", arguments: "" };
    let opened = log.append(&event).unwrap();
    between();
    let event = AuditEvent::Permitted { call: &call, source: "text", tool: "count", origin: "signed", digest: None };
    [opened, log.append(&event).unwrap()]
}

fn permitted(log: &AuditFile, place: u64) -> Vec<String> {
    let calls = log.permitted_behind(place, Duration::MAX).unwrap();
    assert!(calls.iter().all(|call| call.tool == ToolId::new("text", "count").unwrap()));
    calls.into_iter().filter_map(|call| call.caller.user).collect()
}

#[test]
fn the_calls_behind_a_place_are_those_that_were_permitted_there() {
    let dir = recorded(2);
    let log = open(dir.path()).unwrap();
    assert!(permitted(&log, 0).is_empty());
    let [_, ann] = permit(&log, "ann", || ());
    let mut bob = [0; 2];
    let [opened, _] = permit(&log, "eve", || bob = permit(&log, "bob", || ()));
    append(&log, "ok");
    assert_eq!(log.place(), 9);
    for (place, expected) in [
        (0, &["ann", "bob", "eve"][..]),
        (ann - 1, &["ann", "bob", "eve"]),
        (ann, &["bob", "eve"]),
        (opened, &["bob", "eve"]),
        (bob[1], &["eve"]),
        (8, &[]),
        (9, &[]),
    ] {
        let mut users = permitted(&log, place);
        users.sort();
        assert_eq!(users, expected, "behind {place}");
    }
    assert_eq!(permitted(&log, 10).len(), 3, "the record is another one than the place was in");
    let ages = |passed| log.permitted_behind(0, passed).unwrap().into_iter().map(|call| call.age).collect::<Vec<_>>();
    std::thread::sleep(Duration::from_millis(2));
    assert!(ages(Duration::MAX).iter().all(|age| *age > Duration::ZERO));
    assert_eq!(ages(Duration::ZERO), [Duration::ZERO; 3], "none is older than the place that all are behind");
}

#[test]
fn calls_from_while_the_clock_was_set_back_count_as_new() {
    let dir = recorded(0);
    let store = Store::open(dir.path()).unwrap();
    let (call, caller) = (CallId::next(), Caller::default());
    let opened = AuditEvent::Opened { call: &call, parent: None, caller: &caller, tool: "text__count", arguments: "" };
    let permitted =
        AuditEvent::Permitted { call: &call, source: "text", tool: "count", origin: "signed", digest: None };
    let (mut text, mut line, mut before) = (Vec::new(), Vec::new(), [0; 32]);
    for (place, event) in [(1, opened), (2, permitted)] {
        before = line::encode(&mut line, store.key(), &before, place, 1, &event).unwrap().mac;
        text.extend_from_slice(&line);
    }
    fs_err::write(dir.path().join("audit/00000000000000000001.jsonl"), text).unwrap();
    drop(store);
    let log = open(dir.path()).unwrap();
    let ages = |passed| log.permitted_behind(0, passed).unwrap().into_iter().map(|call| call.age).collect::<Vec<_>>();
    assert_eq!(ages(Duration::from_secs(5)), [Duration::ZERO], "they were made after the place, five seconds ago");
    assert_eq!(ages(Duration::MAX), [], "nobody knows better than the clock");
}

#[test]
fn the_calls_behind_a_place_are_found_however_far_back_they_are() {
    let dir = recorded(0);
    let log = open(dir.path()).unwrap();
    let users: Vec<String> = (0..3000).map(|n| n.to_string()).collect();
    for user in &users {
        permit(&log, user, || ());
    }
    let mut found = permitted(&log, 0);
    found.sort_by_key(|user| user.parse::<u32>().unwrap());
    assert_eq!(found, users);
    assert_eq!(permitted(&log, 5990).len(), 5);
    // Over the border of two segments.
    let long = "x".repeat(line::MAX_LINE - 1000);
    for _ in 0..=segment::FULL / long.len() as u64 {
        append(&log, &long);
    }
    assert_eq!(segment::list(&dir.path().join("audit")).unwrap().len(), 2);
    permit(&log, "last", || ());
    assert_eq!(permitted(&log, 5990).len(), 6);
    assert_eq!(permitted(&log, 6000), ["last"]);
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
