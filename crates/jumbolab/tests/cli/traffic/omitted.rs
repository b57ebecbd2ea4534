//! The first part of a flow, which `--omit` leaves out of the results.

use serde_json::Value;

use super::super::harness::Dir;
use super::super::lookup::Object;
use super::super::undisturbed::{Disturbed, until_undisturbed};
use super::Receiver;

/// The results that both ends of a flow print: the sender's, and the receiver's.
fn both(options: &str) -> (Value, Value) {
    let dir = Dir::new();
    let receiver = Receiver::start(&dir, "--json");
    let here = receiver.send(&dir, &format!("::1 --json {options}"));
    let here = here.fine().json().remove(0);
    let there = receiver.stop().fine().json().remove(0);
    (here, there)
}

#[test]
fn messages_of_the_omitted_time_are_in_no_other_figure_of_either_end() {
    for protocol in ["udp", "tcp"] {
        for size in [1, 2, 9, 12, 100] {
            let options = format!(
                "--protocol {protocol} --message {size} --gap 1ms --omit 300ms --packets 200"
            );
            let (here, there) = both(&options);
            // A busy machine sends what was due before the end of that time after it.
            let omitted = here.count("omitted");
            assert!((1..=300).contains(&omitted), "{protocol}, {size}: {here}");
            for (key, value) in [
                ("offered", 200),
                ("sent", 200),
                ("sent_bytes", 200 * size),
                ("received_omitted", omitted),
                ("received", 200),
                ("received_bytes", 200 * size),
                ("lost", 0),
                ("duplicates", 0),
                ("reordered", 0),
            ] {
                assert_eq!(here.count(key), value, "{protocol}, {size}, {key}: {here}");
            }
            assert_eq!(here["timing_error_s"].count("count"), 200, "{here}");
            for key in ["received_omitted", "received", "received_bytes"] {
                assert_eq!(here.count(key), there.count(key), "{key}: {there}");
            }
        }
    }
}

#[test]
fn the_duration_counts_from_the_end_of_the_omitted_time() {
    until_undisturbed("a flow of 600 ms", 5, || {
        let (here, _) = both("--message 100 --gap 1ms --omit 500ms --duration 100ms");
        let [omitted, offered] = ["omitted", "offered"].map(|key| here.count(key));
        // Without it, the first 100 ms would be all.
        assert!(offered > 0 && omitted + offered <= 600, "{here}");
        let disturbed = || Disturbed(format!("it slept too long: {here}"));
        (omitted + offered > 200)
            .then_some(())
            .ok_or_else(disturbed)
    })
    .unwrap();
    let (here, _) = both("--message 100 --gap 1ms --omit 100ms --bytes 500");
    assert_eq!(
        (here.count("sent"), here.count("received")),
        (5, 5),
        "{here}"
    );
}

#[test]
fn round_trips_reverse_flows_and_merged_datagrams_leave_it_out_too() {
    for options in [
        "--meter round-trip --gap 1ms",
        "--meter round-trip --gap 0s",
        "--meter round-trip --protocol tcp --gap 1ms",
        "--meter round-trip --protocol tcp --gap 0s",
        "--reverse --gap 1ms",
        "--reverse --protocol tcp --gap 1ms",
        "--gso 8 --gro --gap 100us",
        "--protocol tcp --gap 0s --message 100",
    ] {
        let (here, _) = both(&format!("{options} --omit 100ms --packets 300"));
        let omitted = here.count("omitted");
        assert!(omitted > 0, "{options}: {here}");
        for (key, value) in [
            ("offered", 300),
            ("sent", 300),
            ("received_omitted", omitted),
            ("received", 300),
        ] {
            assert_eq!(here.count(key), value, "{options}, {key}: {here}");
        }
        if options.contains("round-trip") {
            assert_eq!(here.count("echoes"), 300, "{options}: {here}");
            assert_eq!(here["round_trip_s"].count("count"), 300, "{here}");
            assert_eq!(here.count("echoes_unexpected"), 0, "{here}");
        }
    }
}

#[test]
fn segments_of_the_omitted_time_are_not_counted() {
    until_undisturbed("a fast stream", 5, || {
        let (here, _) = both("--protocol tcp --gap 0s --message 100kB --omit 300ms --packets 20");
        let segments = here.count("segments") * here.count("segment_bytes");
        assert!(segments < 3 * here.count("sent_bytes"), "{here}");
        let disturbed = || Disturbed(format!("too few segments before: {here}"));
        (here.count("omitted") > 100)
            .then_some(())
            .ok_or_else(disturbed)
    })
    .unwrap();
}

/// Whether each interval of a table is marked.
fn marked(text: &str) -> Vec<bool> {
    let rows = text.lines().filter(|line| line.starts_with('['));
    rows.map(|line| line.ends_with(" (omitted)")).collect()
}

#[test]
fn intervals_of_the_omitted_time_are_marked() {
    let (here, there) = until_undisturbed("intervals of 200 ms", 5, || {
        let dir = Dir::new();
        let receiver = Receiver::start(&dir, "--interval 200ms");
        let options = "::1 --gap 1ms --message 100 --interval 200ms --omit 400ms --duration 1s";
        let here = receiver.send(&dir, options).fine().stdout;
        let there = receiver.stop().fine().stdout;
        let marks = [&here, &there].map(|text| marked(text));
        match marks.iter().all(|marks| marks.len() > 3) {
            true => {
                let in_order = |marks: &Vec<bool>| marks.is_sorted_by(|one, other| one >= other);
                let fine = |marks: &Vec<bool>| marks[0] && !marks[marks.len() - 1];
                assert!(
                    marks.iter().all(|one| fine(one) && in_order(one)),
                    "{here}{there}"
                );
                Ok((here, there))
            }
            false => Err(Disturbed(format!("few intervals: {here}{there}"))),
        }
    })
    .unwrap();
    assert!(here.contains("  omitted     "), "{here}");
    assert!(there.contains("  omitted     "), "{there}");
}

#[test]
fn a_packet_log_has_the_omitted_messages_too() {
    let dir = Dir::new();
    let receiver = Receiver::start(&dir, "--packet-log-dir logs");
    let options = "::1 --gap 1ms --message 100 --omit 100ms --packets 50 --packet-log sent.jlog";
    let flow = receiver.send(&dir, &format!("{options} --json"));
    let flow = flow.fine().json().remove(0);
    receiver.stop().fine();
    let all = flow.count("omitted") + 50;
    let folder = std::fs::read_dir(dir.path().join("logs")).unwrap();
    let log = folder.map(|log| log.unwrap().file_name()).next().unwrap();
    let received = format!("logs/{}", log.to_str().unwrap());
    for (log, key) in [("sent.jlog", "sent"), (&received, "received")] {
        let page = dir.run(&format!("decode {log} --json"));
        let page = page.fine().json().remove(0);
        assert_eq!(page.count(key), all, "{page}");
    }
}

#[test]
fn a_flow_that_ends_within_the_omitted_time_is_rejected() {
    let dir = Dir::new();
    let line = "send ::1 --start 1s --stop 2s --omit 1s";
    dir.run(line).rejected(&["--omit", "shorter"]);
    dir.write("flows.toml", "[flows.one]\nomit = \"soon\"\n");
    let line = "send ::1 --flow-file flows.toml";
    dir.run(line).rejected(&["flows.toml:2", "omit", "soon"]);
}
