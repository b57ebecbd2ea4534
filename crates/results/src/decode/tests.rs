use std::fs;
use std::path::PathBuf;

use meter::streaming_recorder::WINDOW;
use serde_json::Value;
use tempfile::TempDir;
use units::Span;
use wire::log::{Clock, Estimate, Facts, Flow, Marks, Record, Role, Sent, Writer};

use super::*;

mod ditg;
mod order;
mod torn;

const STANDARD: Request = Request {
    definitions: Definitions::Standard,
    by_flow: false,
    interval: None,
};

const MILLI: u64 = 1_000_000;

fn facts(role: Role) -> Facts {
    Facts {
        role,
        sent: Clock::Program,
        received: Clock::Kernel,
        returned: Clock::None,
        wall: 1_767_225_600 * 1_000_000_000,
        start: 0,
    }
}

fn flow(number: u32) -> Flow {
    Flow {
        number,
        name: format!("flow {number}"),
        protocol: 17,
        dscp: 46,
        source: "[2001:db8::1]:1025".parse().unwrap(),
        destination: "[2001:db8::2]:9".parse().unwrap(),
    }
}

/// A record sent every 10 ms and received `delay` milliseconds later.
fn record(flow: u32, sequence: u64, delay: u64) -> Record {
    let sent = (1000 + sequence * 10) * MILLI;
    Record {
        flow,
        sequence,
        sent,
        received: Some(sent + delay * MILLI),
        returned: None,
        size: 1000,
        marks: Marks::default(),
    }
}

/// A folder with a log written by `fill`.
fn log(role: Role, fill: impl FnOnce(&mut Writer, &mut Vec<u8>)) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jlog");
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&facts(role), &mut bytes);
    fill(&mut writer, &mut bytes);
    writer.finish(&mut bytes);
    fs::write(&path, bytes).unwrap();
    (folder, path)
}

fn rows(path: &Path, request: &Request) -> Vec<Value> {
    let decoded = decode(path, request, &mut |_, _| ()).unwrap();
    assert_eq!(decoded.complaint, None);
    let lines = json(&decoded.rows);
    lines
        .map(|line| serde_json::from_str(&line).unwrap())
        .collect()
}

#[track_caller]
fn check(value: &Value, wanted: f64) {
    let found = value.as_f64().unwrap();
    assert!(
        (found - wanted).abs() < 1e-9 * wanted.max(1.0),
        "{found} for {wanted}"
    );
}

/// Delays of 10, 14, 12 and 20 ms; the last two packets are lost, as the
/// sender's count shows.
#[test]
fn a_log_of_one_flow_gives_the_figures_worked_by_hand() {
    let (_folder, path) = log(Role::Receiver, |writer, out| {
        writer.flow(&flow(7), out);
        for (sequence, delay) in [(0, 10), (1, 14), (2, 12), (3, 20)] {
            writer.record(record(7, sequence, delay), out);
        }
        let sent = Sent {
            flow: 7,
            packets: 6,
            bytes: 6000,
        };
        writer.sent(&sent, out);
    });
    let rows = rows(&path, &STANDARD);
    let [row] = &rows[..] else {
        panic!("{} rows", rows.len());
    };
    assert_eq!((&row["flow"], &row["name"]), (&7.into(), &"flow 7".into()));
    assert_eq!((&row["sent"], &row["lost"]), (&6.into(), &2.into()));
    assert_eq!(
        (&row["loss_bursts"], &row["longest_loss_burst"]),
        (&1.into(), &2.into())
    );
    check(&row["delay_mean_s"], 0.014);
    check(&row["delay_max_s"], 0.020);
    check(&row["ipdv_mean_s"], 0.014 / 3.0);
    check(&row["duration_s"], 0.040);
    check(&row["goodput_bps"], 3000.0 * 8.0 / 0.040);
    assert_eq!(row["clock_bound_s"], Value::Null);
}

#[test]
fn the_same_log_by_the_definitions_of_ditg() {
    let (_folder, path) = log(Role::Receiver, |writer, out| {
        for (sequence, delay) in [(0, 10), (1, 14), (4, 12), (2, 20)] {
            writer.record(record(0, sequence, delay), out);
        }
    });
    let request = Request {
        definitions: Definitions::Ditg,
        ..STANDARD
    };
    let row = &rows(&path, &request)[0];
    check(&row["jitter_s"], 0.014 / 3.0);
    // From the first arrival at 1010 ms to the latest one at 1052 ms, as ITGDec prints.
    check(&row["duration_s"], 0.042);
    check(&row["bitrate_bps"], 32_000.0 / 0.042);
    assert_eq!((&row["packets"], &row["dropped"]), (&4.into(), &1.into()));
}

#[test]
fn flows_one_after_the_other_carry_no_more_together_than_the_link_did() {
    let (_folder, path) = log(Role::Receiver, |writer, out| {
        for sequence in 0..10 {
            writer.record(record(1, sequence, 5), out);
        }
        for sequence in 100..110 {
            writer.record(record(2, sequence, 5), out);
        }
    });
    let by_flow = Request {
        by_flow: true,
        ..STANDARD
    };
    let rows = rows(&path, &by_flow);
    check(&rows[0]["duration_s"], 1.09);
    check(&rows[0]["goodput_bps"], 19_000.0 * 8.0 / 1.09);
    for row in &rows[1..] {
        check(&row["goodput_bps"], 9_000.0 * 8.0 / 0.09);
    }
}

#[test]
fn flows_and_intervals_have_rows_of_their_own() {
    let (_folder, path) = log(Role::Receiver, |writer, out| {
        writer.flow(&flow(1), out);
        for sequence in (0..100).filter(|sequence| *sequence != 50) {
            writer.record(record(1, sequence, 5), out);
            writer.record(record(2, sequence, 7), out);
        }
    });
    let request = Request {
        by_flow: true,
        interval: Some(Span::from_millis(250)),
        ..STANDARD
    };
    let rows = rows(&path, &request);
    // One row for each scope (all, two flows), and four intervals of each.
    assert_eq!(rows.len(), 3 + 3 * 4);
    assert_eq!(
        (&rows[0]["flow"], &rows[0]["received"]),
        (&Value::Null, &198.into())
    );
    assert_eq!((&rows[2]["flow"], &rows[2]["lost"]), (&2.into(), &1.into()));
    assert_eq!(
        (&rows[2]["name"], &rows[1]["name"]),
        (&Value::Null, &"flow 1".into())
    );
    let intervals = &rows[3..];
    let of_all = |row: &&Value| row["flow"].is_null();
    let arrived = intervals
        .iter()
        .filter(of_all)
        .map(|row| row["received"].as_u64().unwrap());
    assert_eq!(arrived.sum::<u64>(), 198);
    let missing = intervals
        .iter()
        .filter(of_all)
        .map(|row| row["missing"].as_i64().unwrap());
    assert_eq!(missing.collect::<Vec<_>>(), [0, 0, 2, 0]);
    check(&intervals[3]["start_s"], 0.25);
}

#[test]
fn a_delay_is_told_after_the_offset_of_the_clocks() {
    let (_folder, path) = log(Role::Receiver, |writer, out| {
        // The receiver's clock is 3 s ahead and gains a millisecond per second.
        for sequence in 0..200 {
            let right = record(0, sequence, 5);
            let received = right.received.unwrap();
            let shown = received + 3000 * MILLI + (received - 1000 * MILLI) / 1000;
            writer.record(
                Record {
                    received: Some(shown),
                    ..right
                },
                out,
            );
        }
        for at in [1000, 3000] {
            let estimate = Estimate {
                flow: 0,
                at: (at + 3000) * MILLI,
                offset: ((3000 + (at - 1000) / 1000) * MILLI).cast_signed(),
                bound: at * 10,
            };
            writer.estimate(&estimate, out);
        }
    });
    let row = &rows(&path, &STANDARD)[0];
    for name in ["delay_min_s", "delay_max_s"] {
        let found = row[name].as_f64().unwrap();
        assert!((found - 0.005).abs() < 3e-6, "{name} is {found}");
    }
    check(&row["clock_bound_s"], 30e-6);
}

#[test]
fn an_echo_that_never_came_is_lost() {
    let (_folder, path) = log(Role::RoundTrip, |writer, out| {
        for sequence in 0..4 {
            let one = record(0, sequence, 0);
            let returned = (sequence != 3).then_some(one.sent + 8 * MILLI);
            writer.record(Record { returned, ..one }, out);
        }
    });
    let row = &rows(&path, &STANDARD)[0];
    assert_eq!((&row["sent"], &row["lost"]), (&4.into(), &1.into()));
    check(&row["delay_p99_s"], 0.008);
}

#[test]
fn a_senders_log_has_no_delays() {
    let (_folder, path) = log(Role::Sender, |writer, out| {
        for sequence in 0..3 {
            let one = record(0, sequence, 0);
            writer.record(
                Record {
                    received: None,
                    ..one
                },
                out,
            );
        }
    });
    let row = &rows(&path, &STANDARD)[0];
    assert_eq!((&row["sent"], &row["logged"]), (&3.into(), &3.into()));
    for unknown in ["received", "lost", "delay_mean_s"] {
        assert_eq!(row[unknown], Value::Null, "{unknown}");
    }
    check(&row["duration_s"], 0.020);
    let page = text(&decode(&path, &STANDARD, &mut |_, _| ()).unwrap());
    assert!(page.contains("packets    3 sent\n"), "{page}");
    assert!(
        !page.contains("arrived") && !page.contains("lost"),
        "{page}"
    );
    let ditg = Request {
        definitions: Definitions::Ditg,
        interval: Some(Span::from_millis(10)),
        ..STANDARD
    };
    for row in rows(&path, &ditg) {
        assert_eq!(row["mean_delay_s"], Value::Null, "{row}");
        assert_eq!(row["dropped"], Value::Null, "{row}");
        assert!(row["packets"].as_u64() > Some(0), "{row}");
    }
}

#[test]
fn a_log_torn_at_any_byte_is_decoded_up_to_there_or_rejected() {
    let (folder, path) = log(Role::Receiver, |writer, out| {
        writer.flow(&flow(0), out);
        for sequence in 0..40 {
            writer.record(record(0, sequence, sequence % 7), out);
            if sequence % 10 == 9 {
                writer.flush(out);
            }
        }
    });
    let bytes = fs::read(&path).unwrap();
    let torn = folder.path().join("torn.jlog");
    let mut most = 0;
    for length in 0..bytes.len() {
        fs::write(&torn, &bytes[..length]).unwrap();
        match decode(&torn, &STANDARD, &mut |_, _| ()) {
            Ok(decoded) => {
                let complaint = decoded.complaint.expect("it has no end");
                assert!(complaint.lines().count() == 1 && !complaint.contains('\n'));
                let line = json(&decoded.rows).next().unwrap();
                let row: Value = serde_json::from_str(&line).unwrap();
                let received = row["received"].as_u64().unwrap();
                assert!(
                    received >= most && received.is_multiple_of(10),
                    "{received} of {length} bytes"
                );
                most = received;
            }
            Err(error) => {
                assert!(
                    length < 8 + 8 + 20 && most == 0,
                    "{error:#} after {length} bytes"
                );
                assert!(!format!("{error:#}").contains('\n'));
            }
        }
    }
    assert_eq!(most, 40);
}

#[test]
fn what_is_no_log_is_rejected_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    let rejection =
        |path: &Path| format!("{:#}", decode(path, &STANDARD, &mut |_, _| ()).unwrap_err());
    assert!(rejection(&path).contains("cannot be read"));
    assert!(rejection(folder.path()).contains("folder"));
    fs::write(&path, "JLOG\r\n\0\x02").unwrap();
    assert!(rejection(&path).contains("another version"));
    fs::write(&path, "GIF89a, surely").unwrap();
    assert!(rejection(&path).contains("not a packet log"));
}

#[test]
fn what_would_take_too_much_is_rejected() {
    let (_folder, path) = log(Role::Receiver, |writer, out| {
        for flow in 0..=u32::try_from(MOST_FLOWS).unwrap() {
            let mut one = record(flow, 0, 1);
            // A flow's reordering state takes the most memory with distant
            // numbers.
            one.sequence = u64::from(flow) * WINDOW;
            writer.record(one, out);
        }
    });
    let error = decode(&path, &STANDARD, &mut |_, _| ()).unwrap_err();
    assert!(
        format!("{error:#}").contains("more than 1024 flows"),
        "{error:#}"
    );
}

#[test]
fn rows_as_a_table_have_every_column_once() {
    let (folder, path) = log(Role::Receiver, |writer, out| {
        for sequence in 0..30 {
            writer.record(record(0, sequence, 1), out);
        }
    });
    let request = Request {
        interval: Some(Span::from_millis(100)),
        ..STANDARD
    };
    let decoded = decode(&path, &request, &mut |_, _| ()).unwrap();
    let mut table = Vec::new();
    csv(&decoded.rows, &mut table).unwrap();
    let table = String::from_utf8(table).unwrap();
    let columns: Vec<&str> = table.lines().next().unwrap().split(',').collect();
    let mut distinct = columns.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), columns.len());
    for line in table.lines() {
        assert_eq!(line.split(',').count(), columns.len(), "{line}");
    }
    assert_eq!(table.lines().count(), 1 + 1 + 3);
    let parquet = folder.path().join("rows.parquet");
    write(&parquet, &decoded.rows).unwrap();
    let device = Path::new("/dev/null");
    let rejected = write(device, &decoded.rows).unwrap_err().to_string();
    assert_eq!(
        rejected,
        "cannot write /dev/null: not a regular file; name another one"
    );
    assert!(fs::metadata(parquet).unwrap().len() > 1000);
    assert!(text(&decoded).contains("IPDV ms"));
}

#[test]
fn a_log_that_is_cut_or_changed_while_it_is_read_is_not_taken_for_whole() {
    let fill = |writer: &mut Writer, out: &mut Vec<u8>| {
        for sequence in 0..20_000 {
            writer.record(record(7, sequence, 5), out);
        }
    };
    let whole = {
        let (_folder, path) = log(Role::Receiver, fill);
        decode(&path, &STANDARD, &mut |_, _| ()).unwrap()
    };
    assert!(!whole.has_changed && whole.complaint.is_none());
    // Between the passes, in the second one, and in the first one.
    for (from, until) in [(0.45, 0.55), (0.7, 0.75), (0.2, 0.3)] {
        for keeps in [0, 1, 66] {
            let (_folder, path) = log(Role::Receiver, fill);
            let file = fs::File::options().write(true).open(&path).unwrap();
            let keeps = fs::metadata(&path).unwrap().len() * keeps / 100;
            let mut cut = |done: u64, all: u64| {
                let share = done as f64 / all as f64;
                if share > from && share <= until {
                    file.set_len(keeps).unwrap();
                }
            };
            match decode(&path, &STANDARD, &mut cut) {
                Ok(decoded) => {
                    assert!(decoded.has_changed, "cut to {keeps} after {from}");
                    assert!(decoded.complaint.unwrap().contains("while it was read"));
                }
                Err(error) => assert!(format!("{error:#}").contains("while it was read")),
            }
        }
    }
    // Another block in the place of one.
    let (_folder, path) = log(Role::Receiver, fill);
    let mut change = |done: u64, all: u64| {
        if done == all / 2 {
            let mut bytes = fs::read(&path).unwrap();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            fs::write(&path, bytes).unwrap();
        }
    };
    assert!(decode(&path, &STANDARD, &mut change).unwrap().has_changed);
    // A log that is replaced meanwhile is read as it was.
    let (_folder, path) = log(Role::Receiver, fill);
    let decoded = decode(&path, &STANDARD, &mut |_, _| drop(fs::remove_file(&path)));
    assert!(!decoded.unwrap().has_changed);
}
