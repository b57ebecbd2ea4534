//! Packet logs of both ends.

use std::path::PathBuf;

use wire::log::{Batch, Block, MAGIC, Next, next, open};

use super::super::harness::{Dir, holds};
use super::super::lookup::Object;
use super::Receiver;

#[test]
fn both_ends_keep_packet_logs_of_their_own_and_write_over_none() {
    let dir = Dir::new();
    let mut receiver = Receiver::start(&dir, "--once --packet-log-dir logs");
    let line = "::1 --packets 5000 --gap 10us --message 64 --packet-log sent.jlog";
    receiver.send(&dir, line).fine();
    receiver.end().fine();
    let names: Vec<_> = std::fs::read_dir(dir.path().join("logs"))
        .unwrap()
        .collect();
    assert_eq!(names.len(), 1);
    let received = names[0].as_ref().unwrap().path();
    for path in [received, dir.path().join("sent.jlog")] {
        let bytes = std::fs::read(&path).unwrap();
        assert!(bytes.starts_with(b"JLOG"), "{path:?}");
        assert!(
            bytes.len() < 5_000 * 8,
            "{path:?} has {} bytes",
            bytes.len()
        );
    }
    let again = Receiver::start(&dir, "");
    again
        .send(&dir, line)
        .rejected(&["sent.jlog", "name another one"]);
}

#[test]
fn a_receiver_that_is_killed_leaves_a_log_of_all_that_was_whole() {
    let dir = Dir::new();
    let mut receiver = Receiver::start(&dir, "--packet-log-dir logs");
    let mut sender = receiver.begin(&dir, "::1 --message 64 --gap 20us --duration 50min");
    let log = log_with(&dir, 2 * 4096);
    receiver.kill();
    sender.kill().unwrap();
    sender.wait().unwrap();
    let bytes = std::fs::read(&log).unwrap();
    let whole = whole(&bytes);
    assert!(whole.records > 4096, "{whole:?}");
    // Cut at an arbitrary position, and then at the end of a block.
    let mut torn = bytes.clone();
    torn.truncate(whole.last_block + 10);
    for (bytes, records) in [
        (&bytes, whole.records),
        (&torn, whole.records - whole.in_last_block),
    ] {
        std::fs::write(dir.path().join("torn.jlog"), bytes).unwrap();
        let outcome = dir.run("decode torn.jlog --json").fine();
        assert_eq!(outcome.json()[0]["received"], records);
        assert_eq!(outcome.stderr.lines().count(), 1, "{}", outcome.stderr);
        let words = [
            "not closed; its writer was stopped",
            "torn or damaged after",
        ];
        let says = |words: &&str| outcome.stderr.contains(words);
        assert!(words.iter().any(says), "{}", outcome.stderr);
    }
    let outcome = dir.run("decode torn.jlog").fine();
    let left = format!("after {} bytes", whole.last_block);
    assert!(outcome.stderr.contains(&left), "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("the last 10 are left out"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn a_slow_flow_is_in_its_log_while_it_lasts() {
    let dir = Dir::new();
    let mut receiver = Receiver::start(&dir, "--packet-log-dir logs");
    let mut sender = receiver.begin(&dir, "::1 --gap 100ms --duration 50min");
    log_with(&dir, 5);
    receiver.kill();
    sender.kill().unwrap();
    sender.wait().unwrap();
}

#[test]
fn what_the_receiver_had_no_room_for_is_counted_to_the_last_and_the_log_has_all_else() {
    let dir = Dir::new();
    let mut receiver = Receiver::start(&dir, "--once --json --packet-log-dir logs");
    let line = "::1 --message 1000 --receive-buffer 4096 --gap 0s --packets 20000";
    receiver.send(&dir, line).fine();
    let flow = receiver.end().fine().json().remove(0);
    let came = flow.count("received");
    assert!(came < 20_000, "nothing was lost: {flow}");
    assert_eq!(flow.count("overflowed"), 20_000 - came, "{flow}");
    let (_, log) = only_log(&dir).unwrap();
    assert_eq!(whole(&log).records, came);
}

#[test]
fn a_log_of_round_trips_has_those_that_never_came_back() {
    let dir = Dir::new();
    let receiver = Receiver::start(&dir, "");
    // Messages without room in the receiver are not answered.
    let line = "::1 --meter round-trip --message 60000 --receive-buffer 4096 --gap 2us --packets 3000 --packet-log sent.jlog --json";
    let flow = receiver.send(&dir, line).fine().json().remove(0);
    let (sent, back) = (flow.count("sent"), flow.count("echoes"));
    assert!(back < sent, "nothing was lost: {flow}");
    let row = dir.run("decode sent.jlog --json").fine().json().remove(0);
    assert_eq!(row.count("sent"), sent, "{row}");
    assert_eq!(row.count("received"), back, "{row}");
    assert_eq!(row.count("lost"), sent - back, "{row}");
    let bytes = std::fs::read(dir.path().join("sent.jlog")).unwrap();
    let whole = whole(&bytes);
    assert_eq!((whole.records, whole.unanswered), (sent, sent - back));
}

#[test]
fn a_receivers_log_has_what_arrived_of_round_trips() {
    for line in [
        "::1 --meter round-trip --message 200 --gap 1ms --packets 50 --json",
        "::1 --meter round-trip --protocol tcp --message 200 --packets 500 --json",
    ] {
        let dir = Dir::new();
        let mut receiver = Receiver::start(&dir, "--once --packet-log-dir logs");
        let flow = receiver.send(&dir, line).fine().json().remove(0);
        receiver.end().fine();
        let (path, bytes) = only_log(&dir).unwrap();
        assert_eq!(whole(&bytes).records, flow.count("received"), "{flow}");
        let name = path.file_name().unwrap().display();
        let row = dir.run(&format!("decode logs/{name} --json"));
        let row = row.fine().json().remove(0);
        assert_eq!(row.count("received"), flow.count("received"), "{row}");
        assert_eq!(row.count("lost"), 0, "{row}");
        assert!(row["delay_p50_s"].as_f64() > Some(0.0), "{row}");
    }
}

#[test]
fn a_log_of_icmp_echoes_says_how_many_were_sent() {
    let dir = Dir::new();
    let line = "--protocol icmp --message 100 --gap 1ms --packets 20 --packet-log sent.jlog";
    dir.in_namespaces(&format!("\"$0\" send ::1 {line}")).fine();
    let row = dir.run("decode sent.jlog --json").fine().json().remove(0);
    let counts = ["sent", "received", "lost"].map(|key| row.count(key));
    assert_eq!(counts, [20, 20, 0], "{row}");
}

/// Waits until the log in the folder `logs` has `records` records.
fn log_with(dir: &Dir, records: u64) -> PathBuf {
    let there = holds(|| only_log(dir).is_some_and(|(_, log)| whole(&log).records >= records));
    assert!(there, "the log has no {records} records");
    only_log(dir).unwrap().0
}

/// The log in the folder `logs`, if it exists yet.
fn only_log(dir: &Dir) -> Option<(PathBuf, Vec<u8>)> {
    let mut entries = std::fs::read_dir(dir.path().join("logs")).ok()?;
    let path = entries.next()?.unwrap().path();
    let bytes = std::fs::read(&path).unwrap();
    Some((path, bytes))
}

/// The complete content of a log, up to its end or a cut.
#[derive(Debug, Default)]
struct Whole {
    records: u64,
    unanswered: u64,
    in_last_block: u64,
    /// The position of the last block of records.
    last_block: usize,
}

fn whole(bytes: &[u8]) -> Whole {
    let mut found = Whole::default();
    if open(bytes).is_err() {
        return found;
    }
    let mut batch = Batch::default();
    let mut at = MAGIC.len();
    while let Next::Block(block, length) = next(&bytes[at..]).unwrap() {
        if let Block::Records(records) = block {
            records.read(&mut batch).unwrap();
            found.in_last_block = batch.records().count().try_into().unwrap();
            found.records += found.in_last_block;
            found.last_block = at;
            let lost = batch.records().filter(|record| record.returned.is_none());
            found.unanswered += u64::try_from(lost.count()).unwrap();
        }
        at += length;
    }
    found
}
