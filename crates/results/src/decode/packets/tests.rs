use std::collections::BTreeMap;
use std::fs;

use proptest::prelude::*;
use serde_json::Value;
use tempfile::TempDir;
use wire::log::ditg::DitgRecord;
use wire::log::{Clock, Estimate, Flow, Marks, Record, Writer};

use super::*;

const MILLI: u64 = 1_000_000;

/// The wall clock at the start of the logs of sender and receiver, and what their clocks show
/// then.
const WALL: u64 = 1_767_225_600 * 1_000_000_000;
const CLOCKS: [u64; 2] = [1 << 40, 7 << 50];

fn facts(role: Role) -> Facts {
    Facts {
        role,
        sent: Clock::Program,
        received: Clock::Kernel,
        returned: Clock::None,
        wall: WALL,
        start: CLOCKS[usize::from(role == Role::Receiver)],
    }
}

fn flow(number: u32) -> Flow {
    Flow {
        number,
        name: format!("flow {number}"),
        protocol: 17,
        dscp: 0,
        source: "[2001:db8::1]:0".parse().unwrap(),
        destination: "[2001:db8::2]:9".parse().unwrap(),
    }
}

/// A packet that was sent at `sent` and arrived at `received`, in nanoseconds of both clocks.
fn record(flow: u32, sequence: u64, sent: u64, received: Option<u64>) -> Record {
    Record {
        flow,
        sequence,
        sent: CLOCKS[0] + sent,
        received: received.map(|at| CLOCKS[1] + at),
        returned: None,
        size: 100,
        marks: Marks::default(),
    }
}

/// A log of some flows, with the totals of the sender and the offset of the clocks if it is of
/// the receiver.
fn log(role: Role, flows: u32, records: &[Record]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = Writer::new(&facts(role), &mut out);
    for number in 0..flows {
        writer.flow(&flow(number), &mut out);
        if role == Role::Receiver {
            let offset = (CLOCKS[1] - CLOCKS[0]).cast_signed();
            let (at, bound) = (CLOCKS[1], 7);
            let flow = number;
            let estimate = Estimate {
                flow,
                at,
                offset,
                bound,
            };
            writer.estimate(&estimate, &mut out);
        }
    }
    for record in records {
        writer.record(*record, &mut out);
    }
    writer.finish(&mut out);
    out
}

/// Some logs in files, which are called `0`, `1` and so on.
fn files(logs: &[Vec<u8>]) -> (TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir().unwrap();
    let paths = logs.iter().enumerate().map(|(number, bytes)| {
        let path = folder.path().join(number.to_string());
        fs::write(&path, bytes).unwrap();
        path
    });
    let paths = paths.collect();
    (folder, paths)
}

fn rows(logs: &[Vec<u8>]) -> Vec<Value> {
    let (_folder, paths) = files(logs);
    let mut packets = Packets::open(&paths, &mut |_, _| ()).unwrap();
    let mut lines = Vec::new();
    while let Some(rows) = packets.next(&mut |_, _| ()).unwrap() {
        lines.extend(rows.json());
    }
    let values = lines.iter().map(|line| serde_json::from_str(line).unwrap());
    values.collect()
}

/// The number and the outcome of each row: `+` arrived, `-` lost, `?` unknown, `l` late, `d`
/// duplicate.
fn outcomes(rows: &[Value]) -> String {
    let outcome = |row: &Value| {
        let is = |key: &str| row[key] == Value::Bool(true);
        let sign = match row["lost"].as_bool() {
            _ if is("late") => 'l',
            _ if is("duplicate") => 'd',
            Some(true) => '-',
            Some(false) => '+',
            None => '?',
        };
        format!("{}{sign}", row["sequence"])
    };
    rows.iter().map(outcome).collect::<Vec<_>>().join(" ")
}

/// Six packets, of which the second and the last are lost, the fifth is late and the first
/// arrives twice.
fn both_ends() -> [Vec<Record>; 2] {
    let sent = (0..6).map(|it| record(0, it, it * MILLI, None)).collect();
    let arrivals = [(0, 5), (2, 7), (0, 8), (4, 10), (3, 11)];
    let arrivals = arrivals.into_iter();
    let arrived = arrivals.map(|(it, at)| record(0, it, it * MILLI, Some(at * MILLI)));
    [sent, arrived.collect()]
}

#[test]
fn both_ends_give_one_table_with_what_was_lost() {
    let [sent, arrived] = both_ends();
    let sender = log(Role::Sender, 1, &sent);
    let receiver = log(Role::Receiver, 1, &arrived);
    let found = rows(&[sender.clone(), receiver.clone()]);
    assert_eq!(outcomes(&found), "0+ 1- 2+ 0d 4+ 3l 5-");
    let wall = |at: u64| Value::from(WALL + at * MILLI);
    assert_eq!(
        (&found[1]["sent_ns"], &found[1]["received_ns"]),
        (&wall(1), &Value::Null)
    );
    assert_eq!(
        (&found[2]["sent_ns"], &found[2]["received_ns"]),
        (&wall(2), &wall(7))
    );
    assert_eq!(found[2]["delay_s"], 0.005);
    assert_eq!(found[5]["name"], "flow 0");
    // One end knows less.
    let alone = |log| outcomes(&rows(&[log]));
    assert_eq!(alone(receiver.clone()), "0+ 2+ 0d 4+ 3l");
    assert_eq!(alone(sender.clone()), "0? 1? 2? 3? 4? 5?");
    // What follows the last arrival of a log that is not closed may have arrived.
    let open = receiver[..receiver.len() - 8].to_vec();
    assert_eq!(outcomes(&rows(&[open, sender])), "0+ 1- 2+ 0d 4+ 3l 5?");
}

#[test]
fn an_echo_that_never_returned_has_a_row_where_it_was_given_up() {
    let returned = [(0, Some(1)), (2, Some(30)), (1, None), (3, Some(31))];
    let records = returned
        .into_iter()
        .map(|(number, at): (u64, Option<u64>)| Record {
            returned: at.map(|at| CLOCKS[0] + at * MILLI),
            ..record(0, number, number * MILLI, None)
        });
    let records: Vec<Record> = records.collect();
    let found = rows(&[log(Role::RoundTrip, 1, &records)]);
    assert_eq!(outcomes(&found), "0+ 2+ 1- 3+");
    assert_eq!(found[1]["delay_s"], 0.028);
    assert_eq!(found[2]["sent_ns"], WALL + MILLI);
}

#[test]
fn logs_that_have_no_common_order_or_the_same_departures_are_rejected() {
    let [sent, arrived] = both_ends();
    let sender = log(Role::Sender, 1, &sent);
    let receiver = log(Role::Receiver, 1, &arrived);
    let (_folder, paths) = files(&[sender.clone(), receiver, sender]);
    let error = Packets::open(&paths, &mut |_, _| ()).err().unwrap();
    let error = error.to_string();
    assert!(
        error.contains("both have the departures of flow 0"),
        "{error}"
    );
    let ditg = ditg(1, 1025, 1, [5, 6]).emit().to_vec();
    let (_folder, paths) = files(&[log(Role::Sender, 1, &sent), ditg]);
    let error = Packets::open(&paths, &mut |_, _| ()).err().unwrap();
    assert!(error.to_string().contains("no common order"), "{error}");
}

fn ditg(flow: u32, port: u16, sequence: u32, [sent, received]: [u64; 2]) -> DitgRecord {
    DitgRecord {
        flow,
        sequence,
        source: ([192, 0, 2, 1], port).into(),
        destination: ([192, 0, 2, 2], 9).into(),
        sent: sent * MILLI,
        received: received * MILLI,
        size: 100,
    }
}

/// The clock of the receiver is an hour fast, which logs of D-ITG do not state.
#[test]
fn logs_of_d_itg_of_several_senders_and_clocks_make_one_table() {
    let hour = 3_600_000;
    let bytes =
        |records: &[DitgRecord]| -> Vec<u8> { records.iter().flat_map(DitgRecord::emit).collect() };
    let senders = [1025, 1026].map(|port| {
        let records = (0..4).map(|it| ditg(1, port, it + 1, [u64::from(it); 2]));
        bytes(&records.collect::<Vec<_>>())
    });
    let receiver = bytes(&[
        ditg(1, 1025, 1, [0, hour]),
        ditg(1, 1026, 1, [0, hour]),
        ditg(1, 1025, 2, [1, hour + 1]),
        ditg(1, 1026, 4, [3, hour + 3]),
    ]);
    let [one, other] = senders;
    let found = rows(&[receiver, one, other]);
    // The rest of both senders is in the order of sending.
    assert_eq!(outcomes(&found), "0+ 0+ 1+ 1- 2- 3+ 2- 3-");
    assert_eq!(found[3]["sent_ns"], MILLI);
}

#[test]
fn a_packet_counts_as_lost_when_the_window_has_passed() {
    let mut undecided = Undecided::default();
    let place = Place { log: 1, flow: 0 };
    let packet = |sequence| {
        let waiting = Waiting::of(0, &record(0, sequence, 0, None));
        Packet::new(Place { log: 0, flow: 0 }, &waiting)
    };
    undecided.wait(place, packet(0));
    let mut rows = Vec::new();
    while !undecided.is_full() {
        undecided.push(packet(1), &mut rows);
        undecided.release(&mut rows);
    }
    assert!(rows.is_empty());
    undecided.give_up(|_| Some(true));
    undecided.release(&mut rows);
    assert_eq!(rows.len(), CHUNK);
    assert_eq!((rows[0].sequence, rows[0].lost), (0, Some(true)));
    // It is not decided again.
    undecided.arrived(place, 0);
    while !undecided.is_empty() {
        rows.clear();
        undecided.release(&mut rows);
        assert!(rows.iter().all(|row| row.lost.is_none()));
    }
}

proptest! {
    /// Whatever is lost, late or doubled, each packet that was sent has one row, and each further
    /// arrival another one.
    #[test]
    fn every_packet_has_its_row(
        outcomes in prop::collection::vec((0..3_u32, 0..5_usize, 0..20_u64), 1..300),
        fast in 0..20_u64,
    ) {
        let mut numbers = BTreeMap::new();
        let (mut sent, mut arrived) = (Vec::new(), Vec::new());
        for (at, (flow, copies, delay)) in outcomes.iter().enumerate() {
            let at = at as u64 * MILLI + 20 * MILLI;
            let number = numbers.entry(*flow).or_insert(0);
            sent.push(record(*flow, *number, at, None));
            // Two in five are lost, one arrives twice; the receiver's clock may be slow.
            for copy in 0..copies.saturating_sub(1).min(2).saturating_sub(usize::from(*copies == 3)) {
                let received = at + delay * MILLI + copy as u64 * 3 - fast * MILLI;
                arrived.push(record(*flow, *number, at, Some(received)));
            }
            *number += 1;
        }
        arrived.sort_by_key(|record| record.received);
        let logs = [log(Role::Sender, 3, &sent), log(Role::Receiver, 3, &arrived)];
        let found = rows(&logs);
        let key = |row: &Value| (row["flow"].as_u64().unwrap(), row["sequence"].as_u64().unwrap());
        let expected_of = |records: &[Record]| {
            let mut counts = BTreeMap::new();
            for record in records {
                *counts.entry((u64::from(record.flow), record.sequence)).or_insert(0) += 1;
            }
            counts
        };
        let arrivals = expected_of(&arrived);
        let mut counts: BTreeMap<(u64, u64), (usize, usize)> = BTreeMap::new();
        for row in &found {
            let (lost, others) = counts.entry(key(row)).or_default();
            match row["lost"].as_bool() {
                Some(true) => *lost += 1,
                _ => *others += 1,
            }
        }
        prop_assert_eq!(counts.len(), sent.len());
        for (key, (lost, others)) in counts {
            let expected = arrivals.get(&key).copied().unwrap_or(0);
            prop_assert_eq!(others, expected);
            prop_assert_eq!(lost, usize::from(expected == 0));
        }
        // Arrivals are in their order.
        let times = found.iter().filter_map(|row| row["received_ns"].as_i64());
        let times: Vec<i64> = times.collect();
        prop_assert!(times.is_sorted());
        // A lost packet stands before the first one that was sent later and arrived.
        for (at, row) in found.iter().enumerate() {
            let later = |other: &&Value| {
                other["lost"] == Value::Bool(false)
                    && other["sent_ns"].as_i64() > row["sent_ns"].as_i64()
            };
            if row["lost"] == Value::Bool(true) {
                prop_assert!(!found[..at].iter().any(|other| later(&other)));
            }
        }
    }
}
