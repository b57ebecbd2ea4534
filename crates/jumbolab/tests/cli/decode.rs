//! `jumbolab decode`.

use std::fs;
use std::os::unix::fs::symlink;

use wire::log::{Clock, Facts, Marks, Record, Role, Writer};

use crate::harness::Dir;

/// A log of 100 packets a millisecond apart, each with a delay of 2 ms; number
/// 9 is lost.
fn log() -> Vec<u8> {
    let mut out = Vec::new();
    let facts = Facts {
        role: Role::Receiver,
        sent: Clock::Program,
        received: Clock::Kernel,
        returned: Clock::None,
        wall: 0,
        start: 0,
    };
    let mut writer = Writer::new(&facts, &mut out);
    for sequence in (0..100).filter(|sequence| *sequence != 9) {
        let sent = sequence * 1_000_000;
        let record = Record {
            flow: 0,
            sequence,
            sent,
            received: Some(sent + 2_000_000),
            returned: None,
            size: 100,
            marks: Marks::default(),
        };
        writer.record(record, &mut out);
        if sequence == 49 {
            writer.flush(&mut out);
        }
    }
    writer.finish(&mut out);
    out
}

#[test]
fn a_log_is_decoded_for_people_and_for_programs() {
    let dir = Dir::new();
    fs::write(dir.path().join("a.jlog"), log()).unwrap();
    let page = dir.run("decode a.jlog").fine();
    assert_eq!(page.stderr, "");
    assert!(
        page.stdout
            .contains("100 sent, 99 arrived, 1 lost (1.0000 %)"),
        "{}",
        page.stdout
    );
    assert!(
        page.stdout.contains("stamped by the kernel"),
        "{}",
        page.stdout
    );
    let rows = dir.run("decode a.jlog --json --interval 50ms --parquet rows.parquet");
    let rows = rows.fine().json();
    // 99 ms from the first arrival to the last: two intervals.
    assert_eq!(rows.len(), 3);
    assert_eq!(rows[0]["delay_p50_s"], 0.002);
    let rows = dir.run("decode a.jlog --json --interval 0").fine().json();
    assert_eq!(rows.len(), 1, "no intervals");
    assert!(dir.path().join("rows.parquet").exists());
    let csv = dir.run("decode a.jlog --csv --definitions ditg").fine();
    assert_eq!(csv.stdout.lines().count(), 2);
    assert!(csv.stdout.contains("jitter_s"), "{}", csv.stdout);
}

/// The rows are the same as text, CSV and JSON, and Parquet takes the place of text.
#[test]
fn every_packet_is_printed_for_people_and_for_programs() {
    let dir = Dir::new();
    fs::write(dir.path().join("a.jlog"), log()).unwrap();
    let page = dir.run("decode a.jlog --packets").fine();
    let last = page.stdout.lines().last().unwrap();
    let cells: Vec<&str> = last.split_whitespace().collect();
    assert_eq!(
        cells,
        ["0.099000000", "0.101000000", "2.000000", "99", "100", "0"]
    );
    let rows = dir.run("decode a.jlog --packets --json").fine().json();
    assert_eq!(rows.len(), 99);
    assert_eq!(rows[9]["sequence"], 10);
    assert_eq!(rows[98]["received_ns"], 101_000_000);
    let csv = dir.run("decode a.jlog a.jlog --packets --csv --parquet rows.parquet");
    let csv = csv.fine().stdout;
    let mut lines = csv.lines();
    let names = "log,flow,name,sequence,sent_ns,received_ns,delay_s,size,lost,late,duplicate";
    assert_eq!(lines.next(), Some(names));
    let first = "a.jlog,0,,0,0,2000000,0.002,100,false,false,false";
    assert_eq!(lines.next(), Some(first));
    assert_eq!(lines.count(), 197);
    assert!(dir.path().join("rows.parquet").exists());
    let silent = dir
        .run("decode a.jlog --packets --parquet rows.parquet")
        .fine();
    assert_eq!(silent.stdout, "");
    for (option, says) in [
        ("--by-flow", "--by-flow: every packet"),
        ("--interval 1s", "--interval: --packets"),
        ("--definitions ditg", "--definitions: --packets"),
    ] {
        dir.run(&format!("decode a.jlog --packets {option}"))
            .rejected(&[says]);
    }
}

/// A log of this program has the same values as one of D-ITG that is made of it.
#[test]
fn a_log_of_d_itg_is_made_of_another_one() {
    let dir = Dir::new();
    fs::write(dir.path().join("a.jlog"), log()).unwrap();
    dir.run("decode a.jlog --ditg-log a.dat").fine();
    let values = |name: &str| {
        let rows = dir.run(&format!("decode {name} --definitions ditg --json"));
        let mut row = rows.fine().json().remove(0);
        for key in ["log", "flow", "name", "source", "destination"] {
            row[key].take();
        }
        row
    };
    assert_eq!(values("a.dat"), values("a.jlog"));
    // One of D-ITG stays as it is.
    dir.run("decode a.dat --ditg-log b.dat").fine();
    let bytes = |name: &str| fs::read(dir.path().join(name)).unwrap();
    assert_eq!(bytes("b.dat"), bytes("a.dat"));
    assert_eq!(bytes("a.dat").len(), 99 * 144);
    for (line, says) in [
        ("decode a.jlog a.jlog --ditg-log c.dat", "one LOG"),
        ("decode a.jlog --ditg-log c.dat --by-flow", "--by-flow"),
        ("decode a.jlog --ditg-log c.dat --json", "--json"),
    ] {
        dir.run(line).rejected(&[says]);
    }
}

#[test]
fn a_torn_log_is_decoded_up_to_the_tear_with_one_line_on_stderr() {
    let dir = Dir::new();
    let log = log();
    fs::write(dir.path().join("torn.jlog"), &log[..log.len() - 20]).unwrap();
    let outcome = dir.run("decode torn.jlog --json").fine();
    assert_eq!(outcome.stderr.lines().count(), 1, "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("torn or damaged after"),
        "{}",
        outcome.stderr
    );
    assert_eq!(outcome.json()[0]["received"], 49);
}

#[test]
fn what_is_no_log_and_what_is_no_interval_is_rejected_in_one_line() {
    let dir = Dir::new();
    dir.write("x.txt", "not a log at all");
    fs::write(dir.path().join("a.jlog"), log()).unwrap();
    for (line, says) in [
        ("decode x.txt", "not a packet log"),
        ("decode missing", "cannot be read"),
        ("decode a.jlog --interval 1ps", "for instance 1s"),
        ("decode a.jlog --interval soon", "for instance 1s"),
    ] {
        dir.run(line).rejected(&[says]);
    }
}

#[test]
fn no_output_replaces_an_input() {
    let dir = Dir::new();
    let path = |name: &str| dir.path().join(name);
    fs::write(path("b.jlog"), log()).unwrap();
    fs::write(path("b.svg"), [0; 3_000]).unwrap();
    fs::write(path("hosts.toml"), "").unwrap();
    fs::hard_link(path("b.jlog"), path("hard.jlog")).unwrap();
    symlink("b.jlog", path("soft.jlog")).unwrap();
    fs::write(path("a.jlog"), log()).unwrap();
    for same in ["b.jlog", "./b.jlog", "hard.jlog", "soft.jlog"] {
        dir.run(&format!("decode a.jlog b.jlog --parquet {same}"))
            .rejected(&[&format!("--parquet {same}"), "input b.jlog", "another name"]);
    }
    dir.run("decode b.jlog --ditg-log soft.jlog")
        .rejected(&["--ditg-log soft.jlog", "input b.jlog"]);
    dir.run("predict --file b.svg --plot ./b.svg")
        .rejected(&["--plot ./b.svg", "input b.svg"]);
    dir.run("probe --mesh hosts.toml --page ./hosts.toml")
        .rejected(&["--page ./hosts.toml", "input hosts.toml"]);
    fs::create_dir(path("pages")).unwrap();
    fs::write(path("pages/replay.html"), "time").unwrap();
    dir.run("run replay --recording pages/replay.html -o pages")
        .rejected(&["--output pages/replay.html", "input pages/replay.html"]);
    assert_eq!(fs::read(path("b.jlog")).unwrap(), log());
    dir.run("decode b.jlog --parquet rows.parquet").fine();
}
