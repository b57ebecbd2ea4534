//! iperf3 as a client of `jumbolab recv --iperf3`.

use std::process::Command;

use serde_json::Value;

use super::{Program, Receiver, iperf3, line, number, sum};

/// Runs iperf3 with `options` against a receiver: its report, and the receiver's results.
pub(super) fn test(options: &[&str]) -> (Value, Vec<Value>) {
    let receiver = Receiver::start(&["--once"]);
    let port = receiver.port.to_string();
    let mut arguments = vec!["-c", "127.0.0.1", "-p", &port, "-J"];
    arguments.extend(options);
    let theirs = iperf3(&arguments);
    assert_eq!(theirs["error"], Value::Null, "{options:?}");
    let mut program = receiver.program;
    let ours = super::objects(&program.output());
    assert!(program.0.wait().unwrap().success());
    (theirs, ours)
}

/// Whether the counts of TCP that iperf3 prints for each stream are those that we print.
fn tcp_agrees(theirs: &Value, ours: &[Value]) {
    let streams = theirs["end"]["streams"].as_array().unwrap();
    assert_eq!(streams.len(), ours.len());
    for (stream, flow) in streams.iter().zip(ours) {
        assert_eq!(flow["error"], Value::Null);
        assert_eq!(
            number(&stream["sender"], "bytes"),
            number(flow, "sent_bytes")
        );
        assert_eq!(
            number(&stream["receiver"], "bytes"),
            number(flow, "received_bytes")
        );
    }
}

#[test]
fn all_bytes_of_iperf3_over_tcp_arrive_and_both_ends_count_them() {
    for options in [
        &["-t", "1"][..],
        &["-t", "1", "-P", "4"],
        &["-n", "3M", "-l", "10K"],
        &["-k", "17", "-w", "100K", "-M", "1000", "-N", "-S", "184"],
        &["-t", "1", "-b", "8M", "-C", "reno", "--get-server-output"],
    ] {
        let (theirs, ours) = test(options);
        tcp_agrees(&theirs, &ours);
        for flow in &ours {
            assert_eq!(
                number(flow, "sent_bytes"),
                number(flow, "received_bytes"),
                "{flow}"
            );
            assert_eq!(flow["reverse"], false);
        }
        assert!(sum(&ours, "received_bytes") > 0);
    }
}

#[test]
fn bytes_to_iperf3_over_tcp_are_counted_by_both_ends() {
    for options in [&["-n", "3M", "-R"][..], &["-n", "3M", "-R", "-P", "4"]] {
        // iperf3 ends the test once it has read them all.
        let (theirs, ours) = test(options);
        tcp_agrees(&theirs, &ours);
        assert_eq!(sum(&ours, "sent_bytes"), sum(&ours, "received_bytes"));
        assert!(ours.iter().all(|flow| flow["reverse"] == true));
    }
    // iperf3 stops reading when the time is over, or after 20 reads. A read of part of a block
    // counts, too.
    for options in [["-t", "1", "-R"], ["-k", "20", "-R"]] {
        let (theirs, ours) = test(&options);
        tcp_agrees(&theirs, &ours);
        assert!(number(&ours[0], "received_bytes") <= number(&ours[0], "sent_bytes"));
    }
    let (theirs, ours) = test(&["-t", "1", "--bidir", "-b", "20M"]);
    tcp_agrees(&theirs, &ours);
    assert_eq!(
        number(&ours[0], "sent_bytes"),
        number(&ours[0], "received_bytes")
    );
}

#[test]
fn each_datagram_of_iperf3_is_received_or_lost() {
    for options in [
        &["-u", "-t", "1", "-b", "10M", "-l", "1000"][..],
        &["-u", "-n", "500K", "-b", "20M", "-l", "1000", "-P", "4"],
        &["-u", "-k", "300", "-b", "0", "--udp-counters-64bit"],
        &["-u", "-t", "1", "-b", "4M/10", "-l", "16"],
    ] {
        let (theirs, ours) = test(options);
        let streams = theirs["end"]["streams"].as_array().unwrap();
        assert_eq!(streams.len(), ours.len());
        for (stream, flow) in streams.iter().zip(&ours) {
            let sent = number(flow, "sent");
            let lost = number(flow, "lost");
            assert_eq!(number(flow, "received") + lost, sent, "{options:?}: {flow}");
            assert_eq!(
                number(&stream["udp"], "packets"),
                sent,
                "{options:?}: {flow}"
            );
            assert!(sent > 0);
        }
        assert_eq!(
            number(&theirs["end"]["sum"], "lost_packets"),
            sum(&ours, "lost")
        );
    }
}

#[test]
fn datagrams_to_iperf3_are_numbered_as_it_wants() {
    for options in [
        &["-u", "-t", "1", "-R", "-b", "4M", "-l", "1000"][..],
        &[
            "-u",
            "-t",
            "1",
            "-R",
            "-P",
            "4",
            "-b",
            "1M",
            "--udp-counters-64bit",
        ],
        &["-u", "-t", "1", "--bidir", "-b", "1M", "-l", "500"],
    ] {
        let (theirs, ours) = test(options);
        assert_eq!(
            theirs["end"]["streams"].as_array().unwrap().len(),
            ours.len()
        );
        for flow in ours.iter().filter(|flow| flow["reverse"] == true) {
            // Those on their way at the end are neither.
            let known = number(flow, "received") + number(flow, "lost");
            assert!(known <= number(flow, "sent"), "{flow}");
            assert!(number(flow, "received") > 0, "{flow}");
        }
    }
}

#[test]
fn omitted_seconds_are_left_out_by_both_ends() {
    for options in [
        &["-t", "1", "-O", "1", "-b", "8M"][..],
        &["-u", "-t", "1", "-O", "1", "-b", "1M", "-l", "1000"],
    ] {
        let (theirs, ours) = test(options);
        let end = match options[0] {
            "-u" => "udp",
            _ => "sender",
        };
        let printed = number(&theirs["end"]["streams"][0][end], "bytes");
        assert_eq!(printed, number(&ours[0], "sent_bytes"));
        // Each end begins to count at its own time.
        assert!(number(&ours[0], "received_bytes") > 0);
    }
}

#[test]
fn a_second_client_hears_that_the_receiver_is_busy() {
    let mut receiver = Receiver::start(&[]);
    let port = receiver.port.to_string();
    let arguments = ["-c", "127.0.0.1", "-p", &port];
    let mut first = Command::new("iperf3");
    let first = Program::start(first.args(arguments).args(["-t", "600", "-b", "1M"]));
    while !line(&mut receiver.log).contains("test 1 of iperf3") {}
    let second = iperf3(&[&arguments[..], &["-J"]].concat());
    let why = second["error"].as_str().unwrap();
    assert!(why.contains("busy"), "{why}");
    drop(first);
    // The end of a client ends its test, and the next one is served.
    while !line(&mut receiver.log).contains("closed the connection") {}
    let third = iperf3(&[&arguments[..], &["-J", "-n", "1K"]].concat());
    assert_eq!(third["error"], Value::Null);
    assert_eq!(receiver.end().len(), 2);
}

#[test]
fn iperf3_says_what_the_receiver_does_not_do() {
    let receiver = Receiver::start(&["--max-payload-rate", "0", "--max-duration", "5s"]);
    let port = receiver.port.to_string();
    for (options, expected) in [
        (&["--sctp"][..], "no SCTP support"),
        (&["-t", "6"], "test duration too long"),
        (&["-R", "-t", "1"], "larger than server limit"),
        (
            &["-C", "reno", "-t", "1", "-L", "7", "--bidir"],
            "larger than server limit",
        ),
    ] {
        let arguments = ["-c", "127.0.0.1", "-p", &port, "-J"];
        let theirs = iperf3(&[&arguments[..], options].concat());
        let why = theirs["error"].as_str().unwrap_or_default();
        assert!(why.contains(expected), "{options:?}: {why}");
    }
    assert!(receiver.end().is_empty());
}
