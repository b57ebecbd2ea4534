//! Messages that are shorter than Jumbolab's header.

use super::super::harness::Dir;
use super::super::lookup::Object;
use super::Receiver;

#[test]
fn messages_shorter_than_a_header_arrive_and_what_they_cannot_state_is_reported() {
    let dir = Dir::new();
    let receiver = Receiver::start(&dir, "--packet-log-dir logs");
    for protocol in ["udp", "tcp"] {
        for (size, timed) in [(1, 0), (4, 0), (9, 0), (10, 300), (27, 300)] {
            let line = format!(
                "::1 --protocol {protocol} --message {size} --gap 200us --packets 300 --json"
            );
            let flow = receiver.send(&dir, &line).fine().json().remove(0);
            for (key, value) in [
                ("sent", 300),
                ("sent_bytes", 300 * size),
                ("received", 300),
                ("received_bytes", 300 * size),
                ("lost", 0),
                ("duplicates", 0),
                ("reordered", 0),
                ("untimed", 300 - timed),
            ] {
                assert_eq!(flow.count(key), value, "{protocol}, {size}, {key}: {flow}");
            }
            assert_eq!(flow["delay_s"].is_null(), timed == 0, "{flow}");
        }
        let line = format!("::1 --protocol {protocol} --message uniform:1,60 --packets 300");
        let said = receiver.send(&dir, &line).fine().stdout;
        assert!(said.contains("received    300 messages"), "{said}");
        assert!(said.contains("too short to state"), "{said}");
    }
    receiver.stop().fine();
    let logs = std::fs::read_dir(dir.path().join("logs")).unwrap();
    let logs: Vec<_> = logs.map(|log| log.unwrap().file_name()).collect();
    assert_eq!(logs.len(), 12);
    for log in logs {
        let log = log.to_str().expect("a log has a plain name");
        let line = format!("decode logs/{log} --json");
        let page = dir.run(&line).fine().json().remove(0);
        assert_eq!(page.count("received"), 300, "{page}");
        assert_eq!(page.count("lost"), 0, "{page}");
        let rows = dir.run(&format!("decode logs/{log} --packets --csv"));
        let rows = rows.fine().stdout;
        let delays = rows.lines().skip(1).filter(|row| {
            let delay = row.split(',').nth(6).expect("a row has its delay");
            !delay.is_empty()
        });
        assert_eq!(
            delays.count() as u64,
            300 - page.count("unstamped"),
            "{rows}"
        );
    }
}

#[test]
fn a_message_of_nothing_and_a_short_one_that_must_return_are_rejected() {
    let dir = Dir::new();
    let receiver = Receiver::start(&dir, "");
    for (line, least) in [
        ("::1 --message 0", "must have 1 to 65527 bytes"),
        (
            "::1 --message 27 --meter round-trip",
            "28 of them the header",
        ),
    ] {
        let outcome = receiver.send(&dir, line);
        outcome.rejected(&["--message", least]);
    }
}
