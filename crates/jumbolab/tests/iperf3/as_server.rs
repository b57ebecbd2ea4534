//! `jumbolab send --iperf3` with an iperf3 server.

use std::io::{BufRead, BufReader, Read};
use std::process::Command;

use serde_json::Value;

use super::{Program, free_port, number, objects, sum};

/// Runs `send` with `options` against iperf3: the results, and the server's report.
pub(super) fn test(options: &[&str]) -> (Vec<Value>, Value) {
    let port = free_port().to_string();
    let mut server = Command::new("iperf3");
    let server = server.args(["-s", "-1", "-J", "-4", "-p", &port]);
    let mut server = Program::start(server);
    // The server prints nothing before its report, so the port is tried.
    let mut text;
    loop {
        let mut client = Command::new(env!("CARGO_BIN_EXE_jumbolab"));
        let client = client.args(["send", "127.0.0.1", "--iperf3", "--json", "--port", &port]);
        let mut client = Program::start(client.args(options));
        text = client.output();
        if client.0.wait().unwrap().success() {
            break;
        }
        let mut why = String::new();
        let stderr = client.0.stderr.as_mut().unwrap();
        stderr.read_to_string(&mut why).unwrap();
        assert!(why.contains("no iperf3 server listens there"), "{why}");
        assert!(
            server.0.try_wait().unwrap().is_none(),
            "iperf3 does not run"
        );
    }
    let report = server.output();
    let report = serde_json::from_str(&report).expect(&report);
    (objects(&text), report)
}

#[test]
fn bytes_to_an_iperf3_server_over_tcp_are_counted_by_both_ends() {
    for options in [
        &["--duration", "1s"][..],
        &[
            "--duration",
            "1s",
            "--flows",
            "4",
            "--payload-rate",
            "20mbit",
        ],
        &["--bytes", "3MB", "--message", "10kB", "--mss", "1000"],
        &[
            "--packets",
            "10",
            "--congestion",
            "reno",
            "--send-buffer",
            "100kB",
        ],
    ] {
        let (ours, theirs) = test(&[&["--protocol", "tcp"], options].concat());
        let streams = theirs["end"]["streams"].as_array().unwrap();
        assert_eq!(streams.len(), ours.len());
        for (stream, flow) in streams.iter().zip(&ours) {
            let received = number(&stream["receiver"], "bytes");
            assert_eq!(received, number(flow, "received_bytes"), "{flow}");
            // iperf3 may leave unread what its system has.
            assert!(received <= number(flow, "sent_bytes"), "{flow}");
        }
        assert!(sum(&ours, "received_bytes") > 0);
    }
}

#[test]
fn all_bytes_of_an_iperf3_server_over_tcp_arrive() {
    for options in [
        &["--reverse", "--duration", "1s"][..],
        &["--reverse", "--duration", "1s", "--flows", "4"],
        &["--reverse", "--bytes", "3MB", "--congestion", "reno"],
        &["--bidir", "--duration", "1s", "--payload-rate", "20mbit"],
    ] {
        let (ours, theirs) = test(&[&["--protocol", "tcp"], options].concat());
        let streams = theirs["end"]["streams"].as_array().unwrap();
        assert_eq!(streams.len(), ours.len());
        for (stream, flow) in streams.iter().zip(&ours) {
            if flow["reverse"] == true {
                let sent = number(&stream["sender"], "bytes");
                assert_eq!(sent, number(flow, "sent_bytes"), "{flow}");
                assert_eq!(sent, number(flow, "received_bytes"), "{flow}");
                assert!(flow["retransmitted"].is_u64(), "{flow}");
            }
        }
        assert!(ours.iter().any(|flow| flow["reverse"] == true));
    }
}

#[test]
fn each_datagram_with_an_iperf3_server_is_received_or_lost() {
    for options in [
        &["--reverse", "--duration", "1s", "--payload-rate", "10mbit"][..],
        &[
            "--reverse",
            "--duration",
            "1s",
            "--flows",
            "4",
            "--message",
            "16",
        ],
        &["--bidir", "--duration", "1s"],
    ] {
        let (ours, _) = test(options);
        for flow in ours.iter().filter(|flow| flow["reverse"] == true) {
            let known = number(flow, "received") + number(flow, "lost");
            assert_eq!(known, number(flow, "sent"), "{options:?}: {flow}");
            assert!(number(flow, "sent") > 0);
        }
    }
    for options in [
        &["--duration", "1s", "--payload-rate", "10mbit"][..],
        &[
            "--packets",
            "200",
            "--payload-rate",
            "5mbit",
            "--flows",
            "4",
        ],
    ] {
        let (ours, theirs) = test(options);
        let streams = theirs["end"]["streams"].as_array().unwrap();
        for (stream, flow) in streams.iter().zip(&ours) {
            // iperf3 counts all up to the highest number that arrived.
            let known = number(flow, "received") + number(flow, "lost");
            assert_eq!(known, number(&stream["udp"], "packets"), "{flow}");
            assert!(known <= number(flow, "sent"), "{flow}");
            assert_eq!(number(flow, "lost"), number(&stream["udp"], "lost_packets"));
        }
    }
}

#[test]
fn the_omitted_seconds_are_those_of_the_server() {
    for options in [
        &["--protocol", "tcp", "--payload-rate", "8mbit"][..],
        &["--message", "1000"],
        &["--protocol", "tcp", "--payload-rate", "8mbit", "--reverse"],
    ] {
        let (ours, theirs) = test(&[options, &["--omit", "1s", "--duration", "1s"]].concat());
        let start = &theirs["start"]["test_start"];
        assert_eq!(number(start, "omit"), 1, "{start}");
        // A stream of 1 to 8 Mbit/s for one of two seconds; each end begins at its own time.
        let bytes = [
            number(&ours[0], "sent_bytes"),
            number(&ours[0], "received_bytes"),
        ];
        let rate = if options[0] == "--protocol" {
            1_000_000
        } else {
            125_000
        };
        // A sender that could not run for most of a second makes up for it in the other one.
        let fits = |bytes: &u64| (rate / 10..rate * 19 / 10).contains(bytes);
        assert!(bytes.iter().all(fits), "{options:?}: {}", ours[0]);
    }
}

#[test]
fn a_server_that_rejects_or_is_absent_is_named_in_one_line() {
    let port = free_port().to_string();
    let fails = |options: &[&str]| {
        let mut client = Command::new(env!("CARGO_BIN_EXE_jumbolab"));
        let client = client.args(["send", "127.0.0.1", "--iperf3", "--port", &port]);
        let mut client = Program::start(client.args(options));
        assert_eq!(client.output(), "");
        let code = client.0.wait().unwrap().code();
        let stderr = BufReader::new(client.0.stderr.take().unwrap());
        let lines: Vec<String> = stderr.lines().map(Result::unwrap).collect();
        assert_eq!((code, lines.len()), (Some(2), 1), "{lines:?}");
        lines[0].clone()
    };
    let why = fails(&[]);
    assert!(why.contains("no iperf3 server listens there"), "{why}");
    let mut server = Command::new("iperf3");
    let limit = ["--server-bitrate-limit", "1M"];
    let _server = Program::start(server.args(["-s", "-4", "-p", &port]).args(limit));
    loop {
        let why = fails(&["--protocol", "tcp", "--payload-rate", "5mbit", "--reverse"]);
        if !why.contains("no iperf3 server listens there") {
            // iperf3 3.12 closes the connection, and says nothing of its limit.
            assert!(
                why.contains("closed the connection") || why.contains("limit"),
                "{why}"
            );
            return;
        }
    }
}
